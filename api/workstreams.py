"""Workstreams: their owner's, and service tokens' (tenancy.md)."""

from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.headers import require_match
from api.mentions import Mentions
from api.paging import Paging
from api.routing import Routes
from models.errors import NotFound
from models.identifiers import ProjectId, UserId, WorkstreamId
from models.schemas.common import ListQuery, NoParameters, Page
from models.schemas.sessions import CreateWorkstream, UpdateWorkstream, WorkstreamView
from models.store.access import require_attachable
from models.store.clearing import clear_workstream
from models.store.workstreams import (
    WorkstreamChange,
    WorkstreamRow,
    change_workstream,
    hold_user,
    lock_workstream,
    no_workstream,
    read_workstream,
)
from models.store.workstreams import create_workstream as make_workstream
from models.store.workstreams import list_workstreams as workstreams_of

routes = Routes("workstreams")


@routes.read("/workstreams", answers=Page[WorkstreamView], query=ListQuery)
def list_workstreams(call: Read) -> Answer:
    """The caller's workstreams, or with `service` everybody's, newest first."""
    who = call.principal
    paging = Paging(call.query(ListQuery), "workstreams", who.org_id, who.user_id)
    owner_id = None if serves(call) else who.user_id
    rows = workstreams_of(call.connection, who.org_id, owner_id, before=paging.after_id, limit=paging.fetch)
    page = paging.page(
        Page[WorkstreamView], rows, show=WorkstreamView.model_validate, position=lambda row: [row.workstream_id]
    )
    return answer(page)


@routes.write("POST", "/workstreams", accepts=CreateWorkstream, answers=WorkstreamView, etag=True, problems=(NotFound,))
def create_workstream(call: Write) -> Answer:
    """Make a workstream; a project that is named is attached to its sessions unless they say otherwise."""
    hold_user(call.tx, call.principal.user_id)
    _require_attachable(call, call.principal.user_id)
    body = call.body(CreateWorkstream)
    new = WorkstreamChange(body.title, _project_of(body.project_id), body.memory_enabled)
    return _answer(make_workstream(call.tx, call.principal.user_id, new), status=201)


@routes.read("/workstreams/{workstream_id}", answers=WorkstreamView, etag=True)
def get_workstream(call: Read, workstream_id: str) -> Answer:
    """A workstream."""
    workstream = read_workstream(call.connection, call.principal.org_id, WorkstreamId(workstream_id))
    require_own(call, workstream)
    call.query(NoParameters)
    return _answer(workstream)


@routes.write(
    "PATCH",
    "/workstreams/{workstream_id}",
    accepts=UpdateWorkstream,
    answers=WorkstreamView,
    if_match_optional=True,
    etag=True,
)
def update_workstream(call: Write, workstream_id: str) -> Answer:
    """Change a workstream; the memory lever holds at once for all its sessions. `If-Match` may be left out."""
    workstream = lock_workstream(call.connection, call.principal.org_id, WorkstreamId(workstream_id))
    require_own(call, workstream)
    _require_attachable(call, workstream.owner_id)
    body = call.body(UpdateWorkstream)
    require_match("workstream", call.if_match_version_if_given(), workstream.version)
    return _answer(change_workstream(call.tx, workstream, _with(workstream, body)))


@routes.write("DELETE", "/workstreams/{workstream_id}", if_match_optional=True)
def delete_workstream(call: Write, workstream_id: str) -> Answer:
    """Remove a workstream with its sessions and memories. `If-Match` may be left out."""
    workstream = lock_workstream(call.connection, call.principal.org_id, WorkstreamId(workstream_id))
    require_own(call, workstream)
    call.no_body()
    require_match("workstream", call.if_match_version_if_given(), workstream.version)
    clear_workstream(call.tx, workstream)
    return nothing()


def serves(call: Read) -> bool:
    """Whether the token permits to act for others."""
    return "service" in call.principal.permissions


def require_own(call: Read, workstream: WorkstreamRow) -> None:
    """Raise NotFound unless the workstream's owner or a service token asks."""
    if workstream.owner_id != call.principal.user_id and not serves(call):
        raise no_workstream()


def _require_attachable(call: Write, owner_id: UserId) -> None:
    """Look a project up that the body names, before the body is judged."""
    project_id = Mentions.of(call).id("project_id")
    if project_id is not None:
        require_attachable(call.connection, call.principal.org_id, owner_id, ProjectId(project_id))


def _with(workstream: WorkstreamRow, body: UpdateWorkstream) -> WorkstreamChange:
    """The workstream as it is to be; a project that is sent as null is taken away."""
    return WorkstreamChange(
        title=workstream.title if body.title is None else body.title,
        project_id=_project_of(body.project_id) if "project_id" in body.model_fields_set else workstream.project_id,
        memory_enabled=workstream.memory_enabled if body.memory_enabled is None else body.memory_enabled,
    )


def _project_of(project_id: str | None) -> ProjectId | None:
    return None if project_id is None else ProjectId(project_id)


def _answer(workstream: WorkstreamRow, *, status: int = 200) -> Answer:
    return answer(WorkstreamView.model_validate(workstream), status=status, version=workstream.version)
