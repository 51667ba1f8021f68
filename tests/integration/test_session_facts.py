"""What holds of a session now: read anew for every call, in one statement (memory.md §2)."""

import psycopg

from models.identifiers import SessionId
from models.rules.envelopes import SessionFacts
from models.store.sessions import read_session_facts
from tests.rows import Somewhere, a_member, a_user, an_organization, execute, leaves, with_role, with_state
from tests.workstreams import a_session_of, a_workstream_of


def facts(connection: psycopg.Connection, place: Somewhere, session_id: SessionId) -> SessionFacts:
    found = read_session_facts(connection, place.org_id, session_id)
    assert found is not None
    return found


def test_a_session_is_shown_with_what_holds_of_its_user_and_project(
    place: Somewhere, connection: psycopg.Connection
) -> None:
    member = a_member(place, "viewer")
    workstream_id = a_workstream_of(place, member)
    session_id = a_session_of(place, member, workstream_id, project_id=place.project_id)
    assert facts(connection, place, session_id) == SessionFacts(
        org_id=place.org_id,
        session_id=session_id,
        kind="interactive",
        user_id=member,
        opened_by=member,
        workstream_id=workstream_id,
        project_id=place.project_id,
        read_only=False,
        memory_enabled=True,
        org_role="member",
        project_state="active",
        project_role="viewer",
        global_write="member",
    )


def test_every_change_holds_for_the_next_call(place: Somewhere, connection: psycopg.Connection) -> None:
    member = a_member(place)
    session_id = a_session_of(place, member, project_id=place.project_id)
    with_role(place, member, "admin")
    with_state(place, place.project_id, "archived")
    execute(place, "update organizations set global_write = 'admin' where org_id = :o")
    execute(place, "update workstreams set memory_enabled = false where org_id = :o")
    leaves(place, member)
    found = facts(connection, place, session_id)
    assert (found.org_role, found.project_state, found.project_role) == ("admin", "archived", None)
    assert (found.global_write, found.memory_enabled) == ("admin", False)


def test_the_membership_is_the_acting_users(place: Somewhere, connection: psycopg.Connection) -> None:
    a_member(place, "admin")
    session_id = a_session_of(place, a_user(place), project_id=place.project_id)
    assert facts(connection, place, session_id).project_role is None


def test_without_a_workstream_the_lever_is_on(place: Somewhere, connection: psycopg.Connection) -> None:
    found = facts(connection, place, a_session_of(place, place.owner, kind="coordinator"))
    assert (found.workstream_id, found.project_id, found.memory_enabled) == (None, None, True)
    assert (found.project_state, found.project_role) == (None, None)


def test_the_lever_of_a_coordinators_workstream_applies(place: Somewhere, connection: psycopg.Connection) -> None:
    workstream_id = a_workstream_of(place, place.owner)
    session_id = a_session_of(place, place.owner, workstream_id, kind="coordinator")
    execute(place, "update workstreams set memory_enabled = false where org_id = :o")
    assert not facts(connection, place, session_id).memory_enabled


def test_a_session_of_another_organization_is_none(place: Somewhere, connection: psycopg.Connection) -> None:
    session_id = a_session_of(place, place.owner)
    stranger = an_organization(place.engine, named=place)
    assert read_session_facts(connection, stranger.org_id, session_id) is None
