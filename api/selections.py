"""Org Selections: which published Memories a project uses (publication.md §5)."""

from activities.requests import SelectRequest
from api.answers import Answer, answer
from api.calls import Read, Write
from api.headers import require_match
from api.lookups import find_project
from api.mentions import Mentions
from api.routing import Routes
from models.errors import DuplicateId, NotFound, ProjectArchived, SelectionInUse, VersionConflict
from models.identifiers import MemoryId, ProjectId
from models.schemas.commits import ReplaceSelection, SelectionBody
from models.schemas.common import NoParameters
from models.store.operations import OperationKind, StoredOperation, accept_operation
from models.store.projections import project_refs
from models.store.selections import selection_body, unknown_memories
from workflows.ids import projection_workflow_id

routes = Routes("selections")


@routes.read("/projects/{project_id}/org-selections", answers=SelectionBody, etag=True)
def get_selection(call: Read, project_id: str) -> Answer:
    """What a project uses, by path, and the selection's revision."""
    access = find_project(call, project_id)
    call.query(NoParameters)
    selection = selection_body(call.connection, call.principal.org_id, access.project_id)
    return answer(selection, version=selection.revision)


@routes.command(
    "PUT",
    "/projects/{project_id}/org-selections",
    accepts=ReplaceSelection,
    answers=SelectionBody,
    if_match=True,
    problems=(ProjectArchived, VersionConflict, DuplicateId, SelectionInUse),
)
def replace_selection(call: Write, project_id: str) -> StoredOperation:
    """Replace what a project uses, by its admins, owners and admins; the same set changes nothing."""
    access = find_project(call, project_id)
    _require_known(call, Mentions.of(call).ids("resource_ids"))
    access.require_manage()
    body = call.body(ReplaceSelection)
    expected = call.if_match_version()
    require_match("selection", expected, _revision(call, access.project_id))
    request = SelectRequest(
        expected_revision=expected, resource_ids=tuple(MemoryId(memory_id) for memory_id in body.resource_ids)
    )
    return accept_operation(
        call.tx,
        kind=OperationKind.SELECT,
        workflow_id=projection_workflow_id(access.project_id),
        project_id=access.project_id,
        review_id=None,
        request=request.model_dump(mode="json"),
        redeliver_after_s=call.incoming.services.settings.delivery_first_retry_s,
    )


def _require_known(call: Write, memory_ids: list[str]) -> None:
    unknown = unknown_memories(
        call.connection, call.principal.org_id, [MemoryId(memory_id) for memory_id in memory_ids]
    )
    if unknown:
        raise NotFound(f"{unknown[0]} is not an active Memory of the organization.", memory_id=unknown[0])


def _revision(call: Read, project_id: ProjectId) -> int:
    return project_refs(call.connection, call.principal.org_id, [project_id])[project_id].selection_revision
