"""Drafts: proposed by their author, seen by nobody else while they are open (publication.md §2)."""

from collections.abc import Sequence

from activities import drafting
from activities.accepting import ProposedOperation
from api.answers import Answer, answer
from api.calls import Read, Write
from api.lookups import find_own_draft, find_project
from api.mentions import Mentions
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.errors import (
    DraftClosed,
    DraftSubmitted,
    MemoryNotSelected,
    NotFound,
    OperationInvalid,
    PreconditionRequired,
    ProjectArchived,
    TargetMissing,
)
from models.identifiers import CommitId, DraftId, MemoryId, ProjectId
from models.rules.folding import Action
from models.schemas.common import NoParameters, Page
from models.schemas.drafts import (
    AppendOperations,
    CreateDraft,
    CreateOperation,
    DiscardAnswer,
    DiscardedDraft,
    DraftBody,
    DraftListItem,
    DraftResult,
    DraftsQuery,
    OperationInput,
    RenameOperation,
    RestoreOperation,
    UpdateDraft,
    UpdateOperation,
)
from models.store.access import ADMINISTRATORS
from models.store.commits import organization_version_of
from models.store.draft_views import draft_body, draft_items, draft_result
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from models.store.own_drafts import list_drafts as drafts_of

routes = Routes("drafts")


@routes.write(
    "POST",
    "/drafts",
    accepts=CreateDraft,
    answers=DraftBody,
    etag=True,
    problems=(NotFound, ProjectArchived, OperationInvalid, TargetMissing, MemoryNotSelected),
)
def create_draft(call: Write) -> Answer:
    """Open a Draft, on the current Ref unless a base is named; its operations are all accepted, or nothing is."""
    _require_named(call)
    body = call.body(CreateDraft)
    draft = drafting.create_draft(
        call.tx,
        project_id=ProjectId(body.project_id),
        title=body.title,
        base_commit_id=None if body.base_commit_id is None else CommitId(body.base_commit_id),
        operations=_proposed(body.operations),
    )
    return _answer(call, draft, status=201)


@routes.read("/drafts", answers=Page[DraftListItem], query=DraftsQuery)
def list_drafts(call: Read) -> Answer:
    """The caller's own Drafts without their operations, newest first."""
    who = call.principal
    query = call.query(DraftsQuery)
    paging = Paging(query, "drafts", who.org_id, who.user_id, query.project_id, query.status, parts=2)
    rows = drafts_of(
        call.connection,
        who.org_id,
        who.user_id,
        project_id=None if query.project_id is None else ProjectId(query.project_id),
        status=query.status,
        before=after_moment(paging),
        limit=paging.fetch,
    )
    shown = {item.draft_id: item for item in draft_items(call.connection, who.org_id, rows[: paging.limit])}
    page = paging.page(
        Page[DraftListItem],
        rows,
        show=lambda row: shown[row.draft_id],
        position=lambda row: moment_of(row.created_at, row.draft_id),
    )
    return answer(page)


@routes.read("/drafts/{draft_id}", answers=DraftBody, etag=True)
def get_draft(call: Read, draft_id: str) -> Answer:
    """A Draft of the caller."""
    draft, _ = find_own_draft(call, draft_id)
    call.query(NoParameters)
    return _answer(call, draft)


@routes.write(
    "PATCH",
    "/drafts/{draft_id}",
    accepts=UpdateDraft,
    answers=DraftBody,
    if_match=True,
    etag=True,
    problems=(DraftClosed, DraftSubmitted, ProjectArchived),
)
def update_draft(call: Write, draft_id: str) -> Answer:
    """Give an open Draft another title."""
    _require_writable(call, draft_id)
    body = call.body(UpdateDraft)
    expected = call.if_match_version()
    draft = drafting.retitle(call.tx, DraftId(draft_id), expected_version=expected, title=body.title)
    return _answer(call, draft)


@routes.write(
    "DELETE",
    "/drafts/{draft_id}",
    answers=DiscardAnswer,
    if_match_optional=True,
    etag=True,
    problems=(PreconditionRequired, DraftClosed, ProjectArchived),
)
def discard_draft(call: Write, draft_id: str) -> Answer:
    """Discard a Draft; a submitted one leaves its Review.

    Owners and admins discard anybody's, unseen, and may leave `If-Match` out; other authors have to send it.
    """
    known = read_draft(call.connection, call.principal.org_id, DraftId(draft_id))
    is_foreign = known is not None and known.author_id != call.principal.user_id
    administers = call.principal.role in ADMINISTRATORS
    if not (is_foreign and administers):
        _require_writable(call, draft_id)
    call.no_body()
    expected = call.if_match_version_if_given() if administers else call.if_match_version()
    draft = drafting.discard(call.tx, DraftId(draft_id), expected_version=expected)
    call.wakes_delivery = True
    if not is_foreign:
        return _answer(call, draft)
    return answer(
        DiscardedDraft(draft_id=draft.draft_id, status="discarded", version=draft.version), version=draft.version
    )


@routes.write(
    "POST",
    "/drafts/{draft_id}/operations",
    accepts=AppendOperations,
    answers=DraftBody,
    status=200,
    if_match=True,
    etag=True,
    problems=(DraftClosed, DraftSubmitted, ProjectArchived, OperationInvalid, TargetMissing, MemoryNotSelected),
)
def append_operations(call: Write, draft_id: str) -> Answer:
    """Append operations to an open Draft: all of them, or none."""
    _require_writable(call, draft_id)
    body = call.body(AppendOperations)
    expected = call.if_match_version()
    draft = drafting.append(
        call.tx, DraftId(draft_id), expected_version=expected, operations=_proposed(body.operations)
    )
    return _answer(call, draft)


@routes.read("/drafts/{draft_id}/result", answers=DraftResult)
def get_draft_result(call: Read, draft_id: str) -> Answer:
    """What a Draft comes to over its base, with diffs, and the paths that would collide now."""
    draft, _ = find_own_draft(call, draft_id)
    call.query(NoParameters)
    return answer(draft_result(call.connection, draft))


def _require_named(call: Write) -> None:
    """Find project and base and ask for the role, before the rest of the body is judged."""
    named = Mentions.of(call)
    project_id = named.id("project_id")
    if project_id is None:
        return
    access = find_project(call, project_id)
    base = named.id("base_commit_id")
    if base and not organization_version_of(call.connection, call.principal.org_id, access.project_id, base):
        raise NotFound("There is no such commit.", field="base_commit_id")
    access.require_write()


def _require_writable(call: Write, draft_id: str) -> None:
    _, access = find_own_draft(call, draft_id)
    access.require_write()


def _proposed(operations: Sequence[OperationInput]) -> list[ProposedOperation]:
    return [proposed_operation(operation) for operation in operations]


def proposed_operation(operation: OperationInput) -> ProposedOperation:
    """An operation as it was sent."""
    action = Action(operation.action)
    if isinstance(operation, CreateOperation):
        content = operation.content
        return ProposedOperation(action, path=operation.path, content=content.content, description=content.description)
    texts = operation.content if isinstance(operation, UpdateOperation | RestoreOperation) else None
    return ProposedOperation(
        action,
        memory_id=None if operation.memory_id is None else MemoryId(operation.memory_id),
        path=operation.path,
        new_path=operation.new_path if isinstance(operation, RenameOperation) else None,
        content=None if texts is None else texts.content,
        description=None if texts is None else texts.description,
    )


def _answer(call: Read, draft: DraftRow, *, status: int = 200) -> Answer:
    return answer(draft_body(call.connection, draft), status=status, version=draft.version)
