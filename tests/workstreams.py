"""Workstreams, sessions and what was injected into them, as rows made by the product's own transactions."""

from models.identifiers import ProjectId, SessionId, UserId, WorkstreamId, new_injection_id
from models.rules.visibility import SessionKind
from models.store.injections import Given, NewInjection, record_injection
from models.store.sessions import NewSession, create_session
from models.store.structured import driver_connection_of
from models.store.workstreams import WorkstreamChange, create_workstream, hold_user, lock_workstream, note_session
from tests.rows import Somewhere, acting


def a_workstream_of(place: Somewhere, owner: UserId, *, project_id: ProjectId | None = None) -> WorkstreamId:
    with acting(place, owner) as tx:
        hold_user(tx, owner)
        return create_workstream(tx, owner, WorkstreamChange("", project_id, memory_enabled=True)).workstream_id


def a_session_of(
    place: Somewhere,
    user_id: UserId,
    workstream_id: WorkstreamId | None = None,
    *,
    kind: SessionKind = "interactive",
    project_id: ProjectId | None = None,
) -> SessionId:
    """A session of a user, on a workstream of the user's own unless another one is named."""
    if workstream_id is None and kind == "interactive":
        workstream_id = a_workstream_of(place, user_id)
    with acting(place, user_id) as tx:
        hold_user(tx, user_id)
        workstream = None if workstream_id is None else lock_workstream(tx.connection, tx.org_id, workstream_id)
        if workstream is not None:
            note_session(tx, workstream)
        resumes = workstream is not None and workstream.had_session
        session = NewSession(kind, user_id, workstream_id, project_id, read_only=False, resumes=resumes)
        return create_session(tx, session).session_id


def injected(place: Somewhere, session_id: SessionId, *memory_ids: str) -> None:
    """Record that a turn of a session was given memories."""
    given = [Given(memory_id, 1, 1.0, "structured") for memory_id in memory_ids]
    with place.engine.begin() as connection:
        injection = NewInjection(new_injection_id(), session_id, None, 5, len(given), 1, given)
        record_injection(driver_connection_of(connection), place.org_id, injection, project_id=None)
