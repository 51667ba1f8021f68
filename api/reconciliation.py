"""Bringing a Draft up to date: candidates, rebases, and what rebases saved (publication.md §3)."""

from pydantic import BaseModel

from activities.requests import RebaseRequest, ReconcileRequest
from api.answers import Answer, answer
from api.calls import Read, Write
from api.lookups import find_own_draft, find_review
from api.mentions import Mentions
from api.paging import Paging
from api.positions import after_version
from api.resolutions import packed, require_candidates
from api.routing import Routes
from models.errors import (
    CandidateStale,
    DraftAlreadyCurrent,
    DraftClosed,
    NotFound,
    OperationInvalid,
    PathCollision,
    ProjectArchived,
    ResolutionRequired,
    VersionConflict,
)
from models.identifiers import CandidateId, DraftId
from models.schemas.common import ListQuery, NoParameters, Page
from models.schemas.drafts import DraftBody
from models.schemas.reconciliation import CandidateBody, CreateCandidate, RebaseDraft, RevisionBody
from models.store.candidate_views import candidate_body
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from models.store.operations import OperationKind, StoredOperation, accept_operation
from models.store.revisions import revisions
from models.store.submissions import members_of
from workflows.ids import reconciliation_workflow_id

routes = Routes("reconciliation")


@routes.command(
    "POST",
    "/drafts/{draft_id}/reconciliation-candidates",
    accepts=CreateCandidate,
    answers=CandidateBody,
    problems=(DraftClosed, ProjectArchived, VersionConflict, DraftAlreadyCurrent),
)
def create_candidate(call: Write, draft_id: str) -> StoredOperation:
    """Compare a Draft with Current, by its author; nothing of the Draft changes. Asked again, the same candidate."""
    draft, access = find_own_draft(call, draft_id)
    access.require_write()
    body = call.body(CreateCandidate)
    request = ReconcileRequest(draft_id=draft.draft_id, expected_draft_version=body.expected_draft_version)
    return _accept(call, OperationKind.RECONCILE, draft, request)


@routes.read("/drafts/{draft_id}/reconciliation-candidates/{candidate_id}", answers=CandidateBody)
def get_candidate(call: Read, draft_id: str, candidate_id: str) -> Answer:
    """A candidate: its author's; of a submitted Draft, as it was submitted, everybody's who reads the Review."""
    candidate = _find_candidate(call, DraftId(draft_id), CandidateId(candidate_id))
    call.query(NoParameters)
    return answer(candidate)


@routes.command(
    "POST",
    "/drafts/{draft_id}/rebases",
    accepts=RebaseDraft,
    answers=DraftBody,
    problems=(
        NotFound,
        DraftClosed,
        ProjectArchived,
        VersionConflict,
        OperationInvalid,
        CandidateStale,
        ResolutionRequired,
        PathCollision,
    ),
)
def rebase_draft(call: Write, draft_id: str) -> StoredOperation:
    """Bring a Draft up to date as a candidate proposes, by its author; a submitted one makes a new submission."""
    draft, access = find_own_draft(call, draft_id)
    require_candidates(call, {"candidate_id": (draft.draft_id, Mentions.of(call))})
    access.require_write()
    body = call.body(RebaseDraft)
    request = RebaseRequest(
        draft_id=draft.draft_id,
        candidate_id=CandidateId(body.candidate_id),
        expected_draft_version=body.expected_draft_version,
        resolved_state=packed(body.resolved_state),
    )
    return _accept(call, OperationKind.REBASE, draft, request)


@routes.read("/drafts/{draft_id}/revisions", answers=Page[RevisionBody], query=ListQuery)
def list_revisions(call: Read, draft_id: str) -> Answer:
    """What rebases saved of a Draft of the caller, newest first."""
    draft, _ = find_own_draft(call, draft_id)
    paging = Paging(call.query(ListQuery), "revisions", draft.org_id, draft.draft_id)
    found = revisions(call.connection, draft.org_id, draft.draft_id, before=after_version(paging), limit=paging.fetch)
    page = paging.page(
        Page[RevisionBody], found, show=lambda revision: revision, position=lambda revision: [str(revision.version)]
    )
    return answer(page)


def _find_candidate(call: Read, draft_id: DraftId, candidate_id: CandidateId) -> CandidateBody:
    draft = read_draft(call.connection, call.principal.org_id, draft_id)
    if draft is None or draft.author_id == call.principal.user_id:
        draft, _ = find_own_draft(call, draft_id)
        return candidate_body(call.connection, draft.org_id, draft_id, candidate_id)
    submitted = _submitted_versions(call, draft)
    candidate = candidate_body(call.connection, draft.org_id, draft_id, candidate_id)
    if candidate.draft_version not in submitted:
        raise NotFound("The Draft has no such candidate.", field="candidate_id")
    return candidate


def _submitted_versions(call: Read, draft: DraftRow) -> set[int]:
    """The versions of somebody's submitted Draft that its Review shows to the caller; what it was before is private."""
    if draft.status != "submitted" or draft.review_id is None:
        raise NotFound("There is no such Draft.")
    try:
        review, _ = find_review(call, draft.review_id)
    except NotFound:
        raise NotFound("There is no such Draft.") from None
    submissions = members_of(call.connection, draft.org_id, [review.review_id]).values()
    return {member.draft_version for members in submissions for member in members if member.draft_id == draft.draft_id}


def _accept(call: Write, kind: OperationKind, draft: DraftRow, request: BaseModel) -> StoredOperation:
    return accept_operation(
        call.tx,
        kind=kind,
        workflow_id=reconciliation_workflow_id(draft.draft_id),
        project_id=draft.project_id,
        review_id=None,
        request=request.model_dump(mode="json"),
        redeliver_after_s=call.incoming.services.settings.delivery_first_retry_s,
    )
