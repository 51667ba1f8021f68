"""Sessions: opened by the acting user, or for somebody by a service token (tenancy.md)."""

from dataclasses import dataclass

from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.mentions import Mentions
from api.routing import Routes
from api.workstreams import require_own, serves
from models.errors import Forbidden, NotFound
from models.identifiers import ProjectId, SessionId, UserId, WorkstreamId
from models.schemas.common import NoParameters
from models.schemas.sessions import CreateSession, SessionView
from models.store.access import require_attachable
from models.store.sessions import NewSession, SessionRow, read_session
from models.store.sessions import create_session as open_session
from models.store.sessions import delete_session as end_session
from models.store.workstreams import (
    WorkstreamChange,
    WorkstreamRow,
    create_workstream,
    hold_user,
    lock_workstream,
    note_session,
)

routes = Routes("sessions")

UNTITLED = WorkstreamChange(title="", project_id=None, memory_enabled=True)


@dataclass(frozen=True, slots=True)
class Named:
    """Who is to act, where and in which project, each looked up and held."""

    user_id: UserId
    workstream: WorkstreamRow | None
    project_id: ProjectId | None


@routes.write("POST", "/sessions", accepts=CreateSession, answers=SessionView, problems=(NotFound,))
def create_session(call: Write) -> Answer:
    """Open a session, for oneself or with `service` for somebody; it needs only `read`."""
    named = _named(call)
    body = call.body(CreateSession, permission="read")
    workstream = named.workstream
    if workstream is None and body.kind == "interactive":
        workstream = create_workstream(call.tx, named.user_id, UNTITLED)
    if workstream is not None:
        note_session(call.tx, workstream)
    session = NewSession(
        kind=body.kind,
        user_id=named.user_id,
        workstream_id=None if workstream is None else workstream.workstream_id,
        project_id=named.project_id,
        read_only=body.read_only,
        resumes=workstream is not None and workstream.had_session,
    )
    return _answer(open_session(call.tx, session), status=201)


@routes.read("/sessions/{session_id}", answers=SessionView)
def get_session(call: Read, session_id: str) -> Answer:
    """A session, for its acting user and whoever opened it."""
    session = read_session(call.connection, call.principal.org_id, call.principal.user_id, SessionId(session_id))
    call.query(NoParameters)
    return _answer(session)


@routes.write("DELETE", "/sessions/{session_id}")
def delete_session(call: Write, session_id: str) -> Answer:
    """End a session; its injection records go, what was saved through it stays."""
    session = read_session(call.connection, call.principal.org_id, call.principal.user_id, SessionId(session_id))
    call.no_body()
    end_session(call.tx, session)
    return nothing()


def _named(call: Write) -> Named:
    """What the body names, looked up and held before the body is judged: 404, then 403."""
    mentions = Mentions.of(call)
    acting = mentions.id("acting_user_id")
    user_id = UserId(acting or call.principal.user_id)
    hold_user(call.tx, user_id)
    workstream = _workstream(call, mentions)
    project_id = _project(call, mentions, user_id, workstream)
    if acting is not None and not serves(call):
        raise Forbidden("The token does not permit to act for somebody.", permission="service")
    return Named(user_id, workstream, project_id)


def _workstream(call: Write, mentions: Mentions) -> WorkstreamRow | None:
    workstream_id = mentions.id("workstream_id")
    if workstream_id is None:
        return None
    workstream = lock_workstream(call.connection, call.principal.org_id, WorkstreamId(workstream_id))
    require_own(call, workstream)
    return workstream


def _project(call: Write, mentions: Mentions, user_id: UserId, workstream: WorkstreamRow | None) -> ProjectId | None:
    """The project of the request, where it says anything of one, else the workstream's; the acting user's in any case.

    Raises:
        NotFound: the acting user is no member of it.
    """
    inherited = None if workstream is None else workstream.project_id
    project_id = mentions.id("project_id") if "project_id" in mentions.members else inherited
    if project_id is None:
        return None
    require_attachable(call.connection, call.principal.org_id, user_id, ProjectId(project_id))
    return ProjectId(project_id)


def _answer(session: SessionRow, *, status: int = 200) -> Answer:
    return answer(SessionView.model_validate(session), status=status)
