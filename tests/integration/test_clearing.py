"""Clean-up: what goes with a user, a workstream and a project, and what stays (memory.md §8)."""

from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy import Engine

from activities.closing import close_project_work, close_user_work
from models.errors import LastOwner, NotFound
from models.identifiers import ProjectId, UserId, WorkstreamId
from models.rules.visibility import Place, Scope
from models.store.clearing import clear_workstream
from models.store.locks import lock_coordination, lock_project
from models.store.projects import delete_project
from models.store.structured_removals import delete_memory
from models.store.users import read_user, remove_user
from models.store.workstreams import lock_workstream
from tests.organization_rows import everything
from tests.racing import together, without_deadlocks
from tests.rows import Somewhere, a_member, a_project, a_user, acting, an_organization, fetch, joins, refused
from tests.structured import GLOBAL, a_connection, a_memory, an_actor, of_project, of_user, of_workstream, saved, seeing
from tests.workstreams import a_session_of, a_workstream_of, injected


def of_coordinator(user_id: UserId) -> Place:
    return Place("coordinator", user_id)


def remove(place: Somewhere, user_id: UserId) -> None:
    """Remove a user as the API does."""
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        user = read_user(tx.connection, tx.org_id, user_id)
        close_user_work(tx, user_id)
        remove_user(tx, user)


def delete_the_project(place: Somewhere, project_id: ProjectId) -> None:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        lock_project(tx.connection, tx.org_id, project_id)
        close_project_work(tx, project_id)
        delete_project(tx, project_id)


def delete_the_workstream(place: Somewhere, workstream_id: WorkstreamId) -> None:
    with acting(place) as tx:
        clear_workstream(tx, lock_workstream(tx.connection, tx.org_id, workstream_id))


def kept(place: Somewhere) -> set[tuple[Scope, str]]:
    """The scopes that still hold anything, history included."""
    rows = fetch(
        place,
        """
        select scope, scope_id from structured_memories where org_id = :o
        union select scope, scope_id from structured_memory_revisions where org_id = :o
        """,
    )
    return {(row.scope, row.scope_id) for row in rows}


def remembered(place: Somewhere) -> list[str]:
    """The memories that some injection still names."""
    rows = fetch(place, "select memory_id from injected_memories where org_id = :o order by 1")
    return [row.memory_id for row in rows]


def sessions(place: Somewhere) -> set[str]:
    return {row.session_id for row in fetch(place, "select session_id from sessions where org_id = :o")}


def test_with_a_user_go_the_own_scopes_sessions_and_workstreams_with_what_others_wrote_there(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    leaver, other = a_member(place), a_member(place)
    own, others = a_workstream_of(place, leaver), a_workstream_of(place, other)
    for scope in (GLOBAL, of_user(leaver), of_coordinator(leaver), of_project(place.project_id), of_workstream(others)):
        saved(connection, place, scope, actor=leaver)
    saved(connection, place, of_workstream(own), actor=other)
    saved(connection, place, of_user(other), actor=other)
    staying = a_session_of(place, other, others)
    a_session_of(place, leaver, others)
    a_session_of(place, other, own)
    a_session_of(place, leaver, kind="coordinator")
    remove(place, leaver)
    assert kept(place) == {
        ("global", ""),
        ("project", place.project_id),
        ("workstream", others),
        ("user", other),
    }
    assert sessions(place) == {staying}
    assert fetch(place, "select owner_id from workstreams where org_id = :o") == [(other,)]
    authors = fetch(place, "select created_by from structured_memories where org_id = :o and scope = 'global'")
    assert authors == [(leaver,)]


def test_a_workstream_takes_its_memories_and_sessions_along(place: Somewhere, connection: psycopg.Connection) -> None:
    going, staying = a_workstream_of(place, place.owner), a_workstream_of(place, place.owner)
    for workstream_id in (going, staying):
        saved(connection, place, of_workstream(workstream_id))
        saved(connection, place, of_workstream(workstream_id), a_memory("another"))
    session = a_session_of(place, place.owner, staying)
    a_session_of(place, place.owner, going)
    delete_the_workstream(place, going)
    assert kept(place) == {("workstream", staying)}
    assert sessions(place) == {session}
    assert fetch(place, "select workstream_id from workstreams where org_id = :o") == [(staying,)]


def test_a_project_takes_its_memories_along_and_leaves_the_sessions_that_were_attached(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    member = a_member(place)
    other = a_project(place)
    saved(connection, place, of_project(place.project_id), actor=member)
    saved(connection, place, of_user(member), actor=member)
    session = a_session_of(place, member, project_id=place.project_id)
    delete_the_project(place, other)
    assert ("project", place.project_id) in kept(place)
    delete_the_project(place, place.project_id)
    assert kept(place) == {("user", member)}
    assert sessions(place) == {session}


def ends_of(place: Somewhere) -> list[tuple[Place, UserId, Callable[[], None]]]:
    """Each scope that ends, who saves in it, and its end."""
    user, member = a_user(place), a_member(place)
    workstream_id = a_workstream_of(place, user)
    return [
        (of_user(user), user, lambda: remove(place, user)),
        (of_coordinator(user), user, lambda: remove(place, user)),
        (of_workstream(workstream_id), member, lambda: delete_the_workstream(place, workstream_id)),
        (of_project(place.project_id), member, lambda: delete_the_project(place, place.project_id)),
    ]


@pytest.mark.parametrize("which", range(4))
def test_each_memory_that_goes_is_audited_once_and_told_to_nobody(
    place: Somewhere, connection: psycopg.Connection, which: int
) -> None:
    where, author, end = ends_of(place)[which]
    records = [saved(connection, place, where, a_memory(name), actor=author).record for name in ("one", "two", "gone")]
    gone = delete_memory(connection, an_actor(place, author), seeing(place.org_id, where), where, "gone")
    end()
    audited = fetch(
        place,
        """
        select resource_id, actor, before_hash is not null as hashed, after_hash, detail ->> 'scope' as scope
        from audit_events where org_id = :o and action = 'memory.delete' and resource_id <> :gone order by 1
        """,
        gone=gone.memory_id,
    )
    assert audited == [(record.memory_id, place.owner, True, None, where.scope) for record in records[:2]]
    told = fetch(
        place,
        """
        select resource_id, user_id, version from events
        where org_id = :o and kind = 'memory.deleted' and resource_id <> :gone order by 1
        """,
        gone=gone.memory_id,
    )
    assert told == [(record.memory_id, "-", 2) for record in records[:2]]


@pytest.mark.parametrize("which", range(4))
def test_the_injection_records_of_what_goes_go_wherever_they_are(
    place: Somewhere, connection: psycopg.Connection, which: int
) -> None:
    where, author, end = ends_of(place)[which]
    going = saved(connection, place, where, actor=author).record
    staying = saved(connection, place).record
    bystander = a_user(place)
    session = a_session_of(place, bystander)
    injected(place, session, going.memory_id, staying.memory_id)
    injected(place, a_session_of(place, author), staying.memory_id)
    before = remembered(place)
    end()
    assert before == sorted([going.memory_id, staying.memory_id, staying.memory_id])
    assert set(remembered(place)) == {staying.memory_id}
    assert session in sessions(place)


@pytest.mark.parametrize("which", range(4))
def test_nothing_is_saved_in_a_scope_that_has_gone(
    place: Somewhere, connection: psycopg.Connection, which: int
) -> None:
    where, author, end = ends_of(place)[which]
    end()
    assert isinstance(refused(lambda: saved(connection, place, where, actor=author)), NotFound)


@pytest.mark.parametrize("which", range(4))
def test_of_saves_at_the_moment_of_the_end_none_stays(engine: Engine, which: int) -> None:
    with without_deadlocks(engine, connections=8) as pool:
        place = an_organization(pool)
        where, author, end = ends_of(place)[which]

        def save(number: int) -> None:
            with a_connection(place) as connection:
                for turn in range(5):
                    try:
                        saved(connection, place, where, a_memory(f"{number}_{turn}"), actor=author)
                    except NotFound:
                        return

        together(end, *(lambda number=number: save(number) for number in range(3)))
        assert kept(place) == set()


def test_the_last_owner_keeps_what_belongs_to_the_owner(place: Somewhere, connection: psycopg.Connection) -> None:
    saved(connection, place, of_user(place.owner))
    session = a_session_of(place, place.owner)
    assert isinstance(refused(lambda: remove(place, place.owner)), LastOwner)
    assert kept(place) == {("user", place.owner)}
    assert sessions(place) == {session}


def test_a_session_is_not_opened_for_a_user_who_goes_at_that_moment(engine: Engine) -> None:
    with without_deadlocks(engine, connections=8) as pool:
        place = an_organization(pool)
        user, host = a_user(place), a_workstream_of(place, place.owner)

        def open_one() -> None:
            try:
                a_session_of(place, user, host)
            except NotFound:
                return

        together(lambda: remove(place, user), *(open_one for _ in range(4)))
        assert sessions(place) == set()


def test_the_same_ids_of_another_organization_lose_nothing(engine: Engine) -> None:
    here = an_organization(engine)
    there = an_organization(engine, named=here)
    user = a_user(here)
    a_user(there, user_id=user)
    workstream_id = a_workstream_of(here, user)
    with a_connection(here) as connection:
        for place in (here, there):
            joins(place, user)
            for where in (of_user(user), of_coordinator(user), of_project(place.project_id)):
                saved(connection, place, where, actor=user)
    a_session_of(here, user, workstream_id)
    a_session_of(there, user)
    before = everything(there)
    delete_the_workstream(here, workstream_id)
    delete_the_project(here, here.project_id)
    remove(here, user)
    assert kept(here) == set()
    assert everything(there) == before
