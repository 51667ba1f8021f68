"""Saves, deletions and restorations of one identity at once, and access that goes meanwhile (memory.md §1, §2)."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from psycopg.rows import TupleRow
from sqlalchemy import text

from models.errors import AlreadyExists, Forbidden, NotFound, PreconditionFailed, Problem
from models.identifiers import ProjectId
from models.rules.visibility import Place
from models.store.locks import lock_access
from models.store.structured import read_memory
from models.store.structured_history import read_history
from models.store.structured_removals import delete_memory, restore_memory
from models.store.structured_saves import Saved
from tests.racing import together
from tests.rows import Somewhere, a_member, acting, execute, fetch, refused
from tests.structured import GLOBAL, a_connection, a_memory, an_actor, of_project, saved, seeing

WRITERS = 32
ROUNDS = 6


def attempted(action: Callable[[], object]) -> object:
    try:
        return action()
    except Problem as problem:
        return problem


def history_of(place: Somewhere, connection: psycopg.Connection) -> list[tuple[int, str, str | None]]:
    """Every version, the first one first; revisions are without a gap."""
    versions = read_history(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name", limit=20_000)[::-1]
    assert [version.revision for version in versions] == list(range(1, len(versions) + 1))
    return [(version.revision, version.event, version.content) for version in versions]


def check_trail(place: Somewhere, versions: int) -> None:
    """One row, and one audit row and one event a version."""
    assert len(fetch(place, "select 1 from structured_memories where org_id = :o")) == 1
    audited = fetch(place, "select 1 from audit_events where org_id = :o and resource_type = 'structured_memory'")
    told = fetch(place, "select version from events where org_id = :o and resource_type = 'structured_memory'")
    assert len(audited) == versions
    assert sorted(row.version for row in told) == list(range(1, versions + 1))


def save_by_many(place: Somewhere, *, writers: int, each: int) -> None:
    """Every save is answered, one of them as created, and all of them stand in the history."""
    gate = threading.Barrier(writers)

    def write(writer: int) -> list[Saved]:
        with a_connection(place) as own:
            gate.wait()
            return [saved(own, place, memory=a_memory(content=f"{writer} {number}")) for number in range(each)]

    with ThreadPoolExecutor(writers) as threads:
        answers = [answer for written in threads.map(write, range(writers)) for answer in written]
    with a_connection(place) as connection:
        history = history_of(place, connection)
        now = read_memory(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    assert now is not None
    assert Counter(answer.created for answer in answers) == {True: 1, False: writers * each - 1}
    assert {answer.record.memory_id for answer in answers} == {now.memory_id}
    by_revision = {answer.record.revision: answer.record.content for answer in answers}
    assert history == [
        (revision, "created" if revision == 1 else "updated", by_revision[revision])
        for revision in range(1, writers * each + 1)
    ]
    assert now.content == by_revision[writers * each]
    check_trail(place, writers * each)


def test_of_many_writers_on_one_name_one_creates_and_every_version_is_kept(place: Somewhere) -> None:
    save_by_many(place, writers=WRITERS, each=8)


@pytest.mark.long
def test_of_many_writers_on_one_name_none_is_lost_in_10_000_saves(place: Somewhere) -> None:
    save_by_many(place, writers=WRITERS, each=313)


def test_of_first_saves_that_must_be_new_one_wins(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        for number in range(ROUNDS):
            save = partial(saved, place=place, memory=a_memory(f"name_{number}"), must_be_new=True)
            made = together(*(partial(attempted, partial(save, own)) for own in (one, two)))
            assert sorted(type(answer).__name__ for answer in made) == ["PreconditionFailed", "Saved"]


def then(connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Have something happen between a connection's next statement and the one that follows."""
    execute = connection.execute

    def once(statement: str, names: Mapping[str, object]) -> psycopg.Cursor[TupleRow]:
        monkeypatch.setattr(connection, "execute", execute)
        found = execute(statement, names)
        happens()
        return found

    monkeypatch.setattr(connection, "execute", once)


def test_a_save_that_must_be_new_is_refused_though_what_it_met_is_deleted_at_once(
    place: Somewhere, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(connection, place)
    with a_connection(place) as other:
        then(connection, monkeypatch, partial(deletion, place, other))
        problem = refused(partial(saved, connection, place, must_be_new=True))
    assert (problem.code, problem.context) == ("precondition_failed", {"expected": None, "actual": None})


def test_a_save_that_might_not_write_is_refused_though_it_may_at_once(
    place: Somewhere, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = a_member(place)
    policy = "update organizations set global_write = :who where org_id = :o"
    execute(place, policy, who="admin")
    then(connection, monkeypatch, partial(execute, place, policy, who="member"))
    assert isinstance(refused(partial(saved, connection, place, actor=member)), Forbidden)
    assert isinstance(saved(connection, place, actor=member), Saved)


def test_of_saves_that_name_one_revision_one_wins(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        revision = saved(one, place).record.revision
        for _ in range(ROUNDS):
            save = partial(saved, place=place, if_match=revision)
            made = together(*(partial(attempted, partial(save, own)) for own in (one, two)))
            assert Counter(type(answer) for answer in made) == {Saved: 1, PreconditionFailed: 1}
            revision += 1


def test_a_save_and_a_deletion_happen_one_after_the_other(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        for _ in range(ROUNDS):
            saved(one, place)
            before = len(history_of(place, one))
            save, delete = partial(saved, one, place), partial(deletion, place, two)
            made, gone = together(save, partial(attempted, delete))
            assert isinstance(made, Saved)
            now = read_memory(one, seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
            events = [event for _, event, _ in history_of(place, one)[before:]]
            assert events == (["deleted", "created"] if made.created else ["updated", "deleted"])
            assert not isinstance(gone, Problem)
            assert (now is not None) == made.created
        check_trail(place, len(history_of(place, one)))


def test_of_two_deletions_one_finds_nothing(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        for _ in range(ROUNDS):
            saved(one, place)
            gone = together(*(partial(attempted, partial(deletion, place, own)) for own in (one, two)))
            assert len([answer for answer in gone if isinstance(answer, NotFound)]) == 1
        check_trail(place, 2 * ROUNDS)


def test_a_deletion_and_a_restoration_happen_one_after_the_other(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        for _ in range(ROUNDS):
            saved(one, place)
            restore = partial(restoration, place, two)
            gone, back = together(partial(attempted, partial(deletion, place, one)), partial(attempted, restore))
            assert not isinstance(gone, Problem)
            assert not isinstance(back, Problem) or isinstance(back, AlreadyExists)
            now = read_memory(one, seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
            assert (now is None) == isinstance(back, AlreadyExists)
        check_trail(place, len(history_of(place, one)))


def test_a_save_and_a_restoration_leave_what_came_last(place: Somewhere) -> None:
    with a_connection(place) as one, a_connection(place) as two:
        for _ in range(ROUNDS):
            first = saved(one, place).record
            deletion(place, one)
            made, back = together(partial(saved, one, place), partial(attempted, partial(restoration, place, two)))
            assert isinstance(made, Saved)
            assert made.created == isinstance(back, AlreadyExists)
            assert (made.record.memory_id == first.memory_id) != made.created
        check_trail(place, len(history_of(place, one)))


def deletion(place: Somewhere, connection: psycopg.Connection) -> object:
    return delete_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")


def restoration(place: Somewhere, connection: psycopg.Connection) -> object:
    return restore_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def waiting(threads: ThreadPoolExecutor, action: Callable[[], object]) -> Future[object]:
    """An action that is begun, and waits for a lock."""
    future = threads.submit(attempted, action)
    time.sleep(0.2)
    assert not future.done()
    return future


def test_a_save_that_waited_for_a_change_of_members_honours_it(
    place: Somewhere, connection: psycopg.Connection, threads: ThreadPoolExecutor
) -> None:
    member, where = a_member(place), of_project(place.project_id)
    with acting(place) as tx:
        lock_access(tx.connection, place.org_id, place.project_id)
        out = text("delete from project_members where org_id = :o and user_id = :u")
        tx.connection.execute(out, {"o": place.org_id, "u": member})
        future = waiting(threads, partial(saved, connection, place, where, actor=member))
    assert isinstance(future.result(), NotFound)
    assert fetch(place, "select 1 from structured_memories where org_id = :o") == []


def test_a_change_of_members_waits_for_a_save_that_waits_for_the_row(
    place: Somewhere, connection: psycopg.Connection, threads: ThreadPoolExecutor
) -> None:
    member, where = a_member(place), of_project(place.project_id)
    saved(connection, place, where, actor=member)
    with a_connection(place) as holder, a_connection(place) as other:
        with holder.transaction():
            holder.execute("select 1 from structured_memories where org_id = %s for update", [place.org_id])
            save = waiting(threads, partial(saved, connection, place, where, actor=member))
            revoked = waiting(threads, partial(revoke, place, other, place.project_id))
        assert isinstance(save.result(), Saved)
        assert revoked.result() is None


def revoke(place: Somewhere, connection: psycopg.Connection, project_id: ProjectId) -> None:
    """What a change of members does first."""
    with connection.transaction():
        connection.execute(
            "select pg_advisory_xact_lock(hashtextextended(%s::text || %s, 5))", [place.org_id, project_id]
        )


def test_a_save_of_a_user_who_goes_is_refused(
    place: Somewhere, connection: psycopg.Connection, threads: ThreadPoolExecutor
) -> None:
    user = a_member(place)
    where = Place("user", user)
    with a_connection(place) as other:
        with other.transaction():
            other.execute("select 1 from users where org_id = %s and user_id = %s for update", [place.org_id, user])
            other.execute("delete from project_members where org_id = %s and user_id = %s", [place.org_id, user])
            other.execute("delete from users where org_id = %s and user_id = %s", [place.org_id, user])
            future = waiting(threads, partial(saved, connection, place, where, actor=user))
        assert isinstance(future.result(), NotFound)


def test_a_save_that_waited_for_another_is_of_a_later_time(
    place: Somewhere, connection: psycopg.Connection, threads: ThreadPoolExecutor
) -> None:
    saved(connection, place)
    with a_connection(place) as other:
        with other.transaction():
            other.execute("select 1 from structured_memories where org_id = %s for update", [place.org_id])
            future = waiting(threads, partial(saved, connection, place))
            first = saved(other, place).record
        last = future.result()
    assert isinstance(last, Saved)
    assert (first.revision, last.record.revision) == (2, 3)
    assert first.updated < last.record.updated


@pytest.mark.parametrize("ends", ["a save", "a deletion", "a new memory", "a restoration"])
def test_a_version_is_later_than_the_one_before_though_the_clock_is_not(
    place: Somewhere, connection: psycopg.Connection, ends: str
) -> None:
    saved(connection, place)
    steps: Mapping[str, list[Callable[[Somewhere, psycopg.Connection], object]]] = {
        "a save": [saving],
        "a deletion": [deletion],
        "a new memory": [deletion, saving],
        "a restoration": [deletion, restoration],
    }
    *before, last = steps[ends]
    for step in before:
        step(place, connection)
    execute(place, "update structured_memories set updated = updated + interval '1 day' where org_id = :o")
    (earlier,) = fetch(place, "select updated from structured_memories where org_id = :o")
    last(place, connection)
    (now,) = fetch(place, "select updated, created from structured_memories where org_id = :o")
    assert now.updated > earlier.updated
    assert ends != "a new memory" or now.created == now.updated


def saving(place: Somewhere, connection: psycopg.Connection) -> object:
    return saved(connection, place)
