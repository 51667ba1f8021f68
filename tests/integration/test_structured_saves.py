"""What a save, a deletion and a restoration leave behind (memory.md §1, §7)."""

from functools import partial

import psycopg
import pytest

from models.errors import AlreadyExists, Forbidden, NotFound, PreconditionFailed, ProjectArchived
from models.identifiers import UserId, WorkstreamId
from models.rules.structured_fields import record_hash
from models.rules.visibility import Envelope, Place
from models.store.events import NOBODY
from models.store.structured import (
    After,
    count_memories,
    driver_connection_of,
    list_memories,
    read_memories_by_id,
    read_memory,
    scopes_holding,
)
from models.store.structured_cleanup import clear_memories
from models.store.structured_history import read_history
from models.store.structured_removals import delete_memory, restore_memory
from tests.rows import (
    Somewhere,
    a_member,
    a_user,
    acting,
    execute,
    fetch,
    leaves,
    refused,
    with_state,
)
from tests.structured import GLOBAL, a_memory, an_actor, of_project, of_user, of_workstream, saved, seeing


def deleted(connection: psycopg.Connection, place: Somewhere, where: Place = GLOBAL, name: str = "a_name") -> int:
    return delete_memory(connection, an_actor(place), seeing(place.org_id, where), where, name).revision


def a_workstream_row(place: Somewhere, owner: UserId) -> WorkstreamId:
    execute(
        place,
        """
        insert into workstreams (org_id, workstream_id, owner_id, title, version, created_at, updated_at)
        values (:o, :w, :u, '', 1, now(), now())
        """,
        w="wks_" + owner,
        u=owner,
    )
    return WorkstreamId("wks_" + owner)


def test_the_first_save_creates_and_the_next_updates_the_same_memory(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    first = saved(connection, place, memory=a_memory(type="feedback"))
    second = saved(connection, place, memory=a_memory(content="Other.", description="Else."))
    assert (first.created, second.created) == (True, False)
    assert first.record.memory_id == second.record.memory_id
    assert (first.record.revision, second.record.revision) == (1, 2)
    assert second.record.created == first.record.created < second.record.updated
    assert (second.record.type, second.record.content, second.record.description) == ("feedback", "Other.", "Else.")


def test_what_a_save_returns_is_what_is_read(place: Somewhere, connection: psycopg.Connection) -> None:
    made = saved(connection, place)
    assert read_memory(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name") == made.record


def test_a_type_that_is_left_out_is_general_and_then_stays(place: Somewhere, connection: psycopg.Connection) -> None:
    assert saved(connection, place).record.type == "general"
    assert saved(connection, place, memory=a_memory(type="user")).record.type == "user"
    assert saved(connection, place).record.type == "user"
    deleted(connection, place)
    assert saved(connection, place).record.type == "general"


def test_a_save_after_a_delete_makes_a_new_memory_whose_revision_goes_on(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    first = saved(connection, place)
    execute(place, "update structured_memories set published_memory_id = 'mem_x' where org_id = :o")
    assert deleted(connection, place) == 2
    again = saved(connection, place, actor=a_user(place))
    assert again.created
    assert again.record.memory_id != first.record.memory_id
    assert again.record.revision == 3
    assert again.record.created == again.record.updated > first.record.updated
    assert again.record.created_by == again.record.updated_by != first.record.created_by
    assert again.record.published_memory_id is None
    assert read_memory(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name") == again.record


def test_every_version_stands_in_the_history(place: Somewhere, connection: psycopg.Connection) -> None:
    saved(connection, place)
    saved(connection, place, memory=a_memory(content="Second."))
    deleted(connection, place)
    restore_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    deleted(connection, place)
    saved(connection, place, memory=a_memory(content="Third."))
    history = read_history(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name", limit=10)
    assert [(version.revision, version.event, version.content) for version in history] == [
        (6, "created", "Third."),
        (5, "deleted", None),
        (4, "restored", "Second."),
        (3, "deleted", None),
        (2, "updated", "Second."),
        (1, "created", "Some content."),
    ]
    assert len({version.memory_id for version in history}) == 2


def test_a_restoration_brings_back_the_memory_as_it_was(place: Somewhere, connection: psycopg.Connection) -> None:
    before = saved(connection, place, memory=a_memory(type="reference")).record
    deleted(connection, place)
    restored = restore_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    assert restored.document() == {
        **before.document(),
        "revision": 3,
        "updated": restored.document()["updated"],
    }
    assert read_memory(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name") == restored


def test_what_is_there_or_never_was_is_not_restored(place: Somewhere, connection: psycopg.Connection) -> None:
    restore = partial(restore_memory, connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL)
    saved(connection, place)
    assert isinstance(refused(lambda: restore("a_name")), AlreadyExists)
    assert isinstance(refused(lambda: restore("another")), NotFound)


def test_a_deleted_memory_is_found_by_no_read(place: Somewhere, connection: psycopg.Connection) -> None:
    envelope = seeing(place.org_id, GLOBAL)
    memory_id = saved(connection, place).record.memory_id
    deleted(connection, place)
    assert read_memory(connection, envelope, GLOBAL, "a_name") is None
    assert list_memories(connection, envelope, limit=5) == []
    assert count_memories(connection, envelope) == 0
    assert read_memories_by_id(connection, envelope, [memory_id]) == {}
    assert scopes_holding(connection, envelope, "a_name") == []
    whole = Envelope(place.org_id, (), whole=True)
    assert (list_memories(connection, whole, limit=5), count_memories(connection, whole)) == ([], 0)


def test_a_deletion_answers_what_it_removed(place: Somewhere, connection: psycopg.Connection) -> None:
    made = saved(connection, place).record
    removed = delete_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    assert (removed.memory_id, removed.content, removed.revision) == (made.memory_id, made.content, 2)
    missing = refused(
        lambda: delete_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    )
    assert isinstance(missing, NotFound)
    assert missing.detail == "Memory 'a_name' not found"


def test_a_deletion_by_id_leaves_another_memory_of_the_name(place: Somewhere, connection: psycopg.Connection) -> None:
    first = saved(connection, place).record
    deleted(connection, place)
    saved(connection, place)
    delete = partial(delete_memory, connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    assert isinstance(refused(lambda: delete(memory_id=first.memory_id)), NotFound)
    assert read_memory(connection, seeing(place.org_id, GLOBAL), GLOBAL, "a_name") is not None


@pytest.mark.parametrize("expected", [1, 3])
def test_a_save_replaces_only_the_revision_that_it_names(
    place: Somewhere, connection: psycopg.Connection, expected: int
) -> None:
    saved(connection, place)
    saved(connection, place)
    problem = refused(lambda: saved(connection, place, if_match=expected))
    assert isinstance(problem, PreconditionFailed)
    assert problem.context == {"expected": expected, "actual": 2}
    assert saved(connection, place, if_match=2).record.revision == 3


def test_a_save_that_names_a_revision_of_nothing_is_refused(place: Somewhere, connection: psycopg.Connection) -> None:
    for _ in range(2):  # never there, and deleted
        problem = refused(lambda: saved(connection, place, if_match=1))
        assert isinstance(problem, PreconditionFailed)
        assert problem.context == {"expected": 1, "actual": None}
        saved(connection, place)
        deleted(connection, place)


def test_what_must_be_new_overwrites_nothing(place: Somewhere, connection: psycopg.Connection) -> None:
    assert saved(connection, place, must_be_new=True).created
    assert isinstance(refused(lambda: saved(connection, place, must_be_new=True)), PreconditionFailed)
    deleted(connection, place)
    assert saved(connection, place, must_be_new=True).created


def test_a_deletion_of_another_revision_is_refused(place: Somewhere, connection: psycopg.Connection) -> None:
    saved(connection, place)
    delete = partial(delete_memory, connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    problem = refused(lambda: delete(if_match=7))
    assert isinstance(problem, PreconditionFailed)
    assert problem.context == {"expected": 7, "actual": 1}
    assert delete(if_match=1).revision == 2


def test_every_change_is_audited_once_with_the_hashes_of_the_record(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    saved(connection, place, memory=a_memory(content="Ä\nline", type="user"))
    saved(connection, place)
    deleted(connection, place)
    restore_memory(connection, an_actor(place), seeing(place.org_id, GLOBAL), GLOBAL, "a_name")
    audited = fetch(
        place,
        """
        select action, before_hash, after_hash, detail, actor, request_id from audit_events
        where org_id = :o and resource_type = 'structured_memory' order by at, event_id
        """,
    )
    first = record_hash(type="user", name="a_name", description="What it is.", content="Ä\nline")
    second = record_hash(type="user", name="a_name", description="What it is.", content="Some content.")
    assert [(row.action, row.before_hash, row.after_hash) for row in audited] == [
        ("memory.save", None, first),
        ("memory.update", first, second),
        ("memory.delete", second, None),
        ("memory.restore", None, second),
    ]
    detail = {"name": "a_name", "scope": "global", "scope_id": "", "type": "user", "surface": "rest"}
    assert {(row.actor, row.request_id) for row in audited} == {(place.owner, "test")}
    assert all(row.detail == detail for row in audited)


def test_a_refused_change_leaves_nothing_behind(place: Somewhere, connection: psycopg.Connection) -> None:
    refused(lambda: saved(connection, place, if_match=1))
    refused(lambda: deleted(connection, place))
    for table in ("structured_memories", "structured_memory_revisions"):
        assert fetch(place, f"select 1 from {table} where org_id = :o") == []  # noqa: S608  (constants)
    assert fetch(place, "select 1 from events where org_id = :o and resource_type = 'structured_memory'") == []


def test_the_feed_tells_each_scope_to_those_who_see_it(place: Somewhere, connection: psycopg.Connection) -> None:
    user = a_user(place)
    workstream = a_workstream_row(place, user)
    everywhere = [
        GLOBAL,
        of_user(user),
        of_workstream(workstream),
        of_project(place.project_id),
        Place("coordinator", user),
    ]
    member = a_member(place)
    for where in everywhere:
        saved(connection, place, where, actor=member)
    told = fetch(
        place,
        "select kind, project_id, user_id, version from events where org_id = :o and kind like 'memory.%' order by id",
    )
    assert [(row.kind, row.project_id, row.user_id, row.version) for row in told] == [
        ("memory.saved", None, None, 1),
        ("memory.saved", None, user, 1),
        ("memory.saved", None, user, 1),
        ("memory.saved", place.project_id, None, 1),
        ("memory.saved", None, NOBODY, 1),
    ]


def test_what_the_envelope_does_not_hold_is_neither_read_nor_written(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    envelope, other = seeing(place.org_id, GLOBAL), of_user(place.owner)
    assert isinstance(refused(lambda: read_memory(connection, envelope, other, "a_name")), Forbidden)
    assert isinstance(refused(lambda: delete_memory(connection, an_actor(place), envelope, other, "a")), Forbidden)
    reading = Envelope(place.org_id, (GLOBAL,))
    assert isinstance(refused(lambda: delete_memory(connection, an_actor(place), reading, GLOBAL, "a")), Forbidden)


def test_who_lost_access_to_a_project_saves_nothing_by_an_envelope_from_before(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    where, member, viewer = of_project(place.project_id), a_member(place), a_member(place, "viewer")
    saved(connection, place, where, actor=member)
    assert isinstance(refused(lambda: saved(connection, place, where, actor=viewer)), Forbidden)
    with_state(place, place.project_id, "archived")
    assert isinstance(refused(lambda: saved(connection, place, where, actor=member)), ProjectArchived)
    with_state(place, place.project_id, "active")
    leaves(place, member)
    assert isinstance(refused(lambda: saved(connection, place, where, actor=member)), NotFound)


def test_a_scope_whose_owner_is_gone_takes_no_save(place: Somewhere, connection: psycopg.Connection) -> None:
    gone = of_user(UserId("usr_gone")), of_workstream(WorkstreamId("wks_gone")), Place("coordinator", "usr_gone")
    for where in gone:
        assert isinstance(refused(lambda where=where: saved(connection, place, where)), NotFound)  # type: ignore[misc]


def test_global_memories_are_written_by_whom_the_policy_names(place: Somewhere, connection: psycopg.Connection) -> None:
    member = a_user(place)
    saved(connection, place, actor=member)
    execute(place, "update organizations set global_write = 'admin' where org_id = :o")
    assert isinstance(refused(lambda: saved(connection, place, actor=member)), Forbidden)
    assert saved(connection, place).record.revision == 2


def test_a_list_begins_with_the_latest_and_goes_on_where_a_page_ended(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    mine = of_user(place.owner)
    envelope = seeing(place.org_id, GLOBAL, mine)
    for number in range(5):
        saved(connection, place, (GLOBAL, mine)[number % 2], a_memory(f"name_{number}", type="general"))
    saved(connection, place, memory=a_memory("name_0", type="user"))
    first = list_memories(connection, envelope, limit=3)
    rest = list_memories(connection, envelope, limit=9, after=After(first[-1].updated, first[-1].memory_id))
    assert [record.name for record in first + rest] == ["name_0", "name_4", "name_3", "name_2", "name_1"]
    assert count_memories(connection, envelope) == 5
    assert [record.name for record in list_memories(connection, envelope, limit=9, type="user")] == ["name_0"]
    assert count_memories(connection, envelope, type="user") == 1
    assert len(list_memories(connection, envelope, limit=9, places=(mine,))) == count_memories(
        connection, envelope, places=(mine,)
    )
    whole = Envelope(place.org_id, (), whole=True)
    assert list_memories(connection, whole, limit=9) == first + rest
    assert count_memories(connection, whole) == 5


def test_an_administrators_envelope_of_one_scope_shows_every_place_of_it_and_no_other(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    member = a_member(place)
    places = (GLOBAL, of_project(place.project_id), of_user(member))
    made = {where.scope: saved(connection, place, where, actor=member).record for where in places}
    ids = [record.memory_id for record in made.values()]
    for scope, record in made.items():
        envelope = Envelope(place.org_id, (), whole=True, only=scope)
        assert list_memories(connection, envelope, limit=9) == [record]
        assert count_memories(connection, envelope) == 1
        assert read_memories_by_id(connection, envelope, ids) == {record.memory_id: record}
        assert read_memory(connection, envelope, record.place, record.name) == record
    scope_alone = Envelope(place.org_id, (), whole=True, only="user")
    assert list_memories(connection, scope_alone, limit=9, places=(GLOBAL,)) == []
    assert isinstance(refused(partial(read_memory, connection, scope_alone, GLOBAL, "a_name")), Forbidden)


def test_equal_times_are_listed_by_id(place: Somewhere, connection: psycopg.Connection) -> None:
    for number in range(3):
        saved(connection, place, memory=a_memory(f"name_{number}"))
    execute(place, "update structured_memories set updated = '2026-01-01T00:00:00Z' where org_id = :o")
    envelope = seeing(place.org_id, GLOBAL)
    first = list_memories(connection, envelope, limit=1)[0]
    rest = list_memories(connection, envelope, limit=9, after=After(first.updated, first.memory_id))
    ids = [record.memory_id for record in (first, *rest)]
    assert ids == sorted(ids)
    assert len(ids) == 3


def test_the_scopes_that_hold_a_name_come_in_the_order_of_the_contract(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    mine, project = of_user(place.owner), of_project(place.project_id)
    member = a_member(place)
    for where in (project, mine, GLOBAL):
        saved(connection, place, where, actor=member)
    assert scopes_holding(connection, seeing(place.org_id, project, mine, GLOBAL), "a_name") == [GLOBAL, mine, project]
    assert scopes_holding(connection, seeing(place.org_id, mine), "a_name") == [mine]


def test_clearing_a_scope_takes_its_history_along_and_tells_of_each_memory(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    mine = of_user(place.owner)
    for name in ("one", "two", "gone"):
        saved(connection, place, mine, a_memory(name))
    deleted(connection, place, mine, "gone")
    kept = saved(connection, place).record
    with acting(place) as tx:
        driver = driver_connection_of(tx.connection)
        assert clear_memories(driver, an_actor(place), scope="user", scope_id=place.owner) == 2
    with acting(place) as tx:
        driver = driver_connection_of(tx.connection)
        assert clear_memories(driver, an_actor(place), scope="user", scope_id=place.owner) == 0
    assert {row.memory_id for row in fetch(place, "select memory_id from structured_memories where org_id = :o")} == {
        kept.memory_id
    }
    assert len(fetch(place, "select 1 from structured_memory_revisions where org_id = :o")) == 1
    cleared = fetch(
        place,
        """
        select e.resource_id, e.version, a.detail ->> 'name' as name from events e
        join audit_events a on a.org_id = e.org_id and a.resource_id = e.resource_id and a.action = 'memory.delete'
        where e.org_id = :o and e.kind = 'memory.deleted' and a.detail ->> 'name' <> 'gone'
        """,
    )
    assert sorted((row.name, row.version) for row in cleared) == [("one", 2), ("two", 2)]
