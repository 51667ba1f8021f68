"""Review commands: accepted here, carried out by the Review's workflow and the publication lane (publication.md §4)."""

from collections.abc import Sequence

from pydantic import BaseModel

from activities.requests import (
    DecideRequest,
    DraftReference,
    MergeRequest,
    ResubmitRequest,
    SubmitRequest,
    WithdrawRequest,
)
from activities.trials import try_merge, try_resubmission, try_submission
from api.answers import Answer, answer
from api.calls import Write
from api.headers import require_match
from api.lookups import find_project, find_review, require_author_or_administrator
from api.mentions import Mentions
from api.resolutions import packed, require_candidates
from api.routing import Routes
from models.errors import (
    ApprovalInvalidated,
    ApprovalsMissing,
    CandidateStale,
    DraftClosed,
    DraftEmpty,
    DraftSubmitted,
    DuplicateId,
    Forbidden,
    MemoryNotSelected,
    NotFound,
    OperationInvalid,
    PathCollision,
    ProjectArchived,
    ReconciliationRequired,
    ResolutionRequired,
    ReviewClosed,
    SelfApproval,
    TargetMissing,
    VersionConflict,
)
from models.identifiers import CandidateId, CommitId, DraftId, ProjectId, ReviewId, new_review_id
from models.rules.approvals import require_approver, require_merger
from models.schemas.commits import NO_COMMIT
from models.schemas.common import DryRunQuery
from models.schemas.reviews import (
    CreateReview,
    DecideReview,
    DraftReferenceInput,
    MergeResult,
    MergeReview,
    ResubmitReview,
    ReviewBody,
    WithdrawReview,
)
from models.schemas.trials import MergeTrial, ReviewTrial
from models.store.commits import organization_ref
from models.store.locks import ReviewRow
from models.store.operations import OperationKind, StoredOperation, accept_operation
from models.store.own_drafts import own_drafts
from models.store.reviewers import counted_approvers, electorate_of
from workflows.ids import publication_workflow_id, review_workflow_id

routes = Routes("reviews")

SUBMISSION_PROBLEMS = (
    DraftClosed,
    DraftSubmitted,
    ProjectArchived,
    VersionConflict,
    DraftEmpty,
    OperationInvalid,
    TargetMissing,
    MemoryNotSelected,
    DuplicateId,
    CandidateStale,
    ResolutionRequired,
    ReconciliationRequired,
    PathCollision,
)


@routes.command(
    "POST",
    "/reviews",
    accepts=CreateReview,
    answers=ReviewBody,
    status=201,
    tried=ReviewTrial,
    problems=(NotFound, *SUBMISSION_PROBLEMS),
)
def create_review(call: Write) -> StoredOperation | Answer:
    """Submit Drafts of one project and author, in order; the Review exists once the operation has succeeded."""
    named = Mentions.of(call)
    project_id = named.id("project_id")
    access = None if project_id is None else find_project(call, project_id)
    _require_own_drafts(call, named)
    if access is not None:
        access.require_write()
    body = call.body(CreateReview, query=DryRunQuery)
    request = SubmitRequest(
        title=body.title,
        description=body.description,
        drafts=_references(body.drafts),
        publish_at=body.publish_at,
    )
    if call.dry_run:
        return answer(try_submission(call.tx, ProjectId(body.project_id), request))
    return _accept(call, OperationKind.SUBMIT, ProjectId(body.project_id), new_review_id(), request)


@routes.command(
    "POST",
    "/reviews/{review_id}/submissions",
    accepts=ResubmitReview,
    answers=ReviewBody,
    tried=ReviewTrial,
    problems=(ReviewClosed, *SUBMISSION_PROBLEMS),
)
def resubmit_review(call: Write, review_id: str) -> StoredOperation | Answer:
    """Submit again, by the author: from open, approved or rejected; Drafts left out reopen."""
    review, access = find_review(call, review_id)
    if review.author_id != call.principal.user_id:
        raise Forbidden("Only the Review's author resubmits it.")
    _require_own_drafts(call, Mentions.of(call))
    access.require_write()
    body = call.body(ResubmitReview, query=DryRunQuery)
    request = ResubmitRequest(
        expected_review_version=body.expected_review_version,
        drafts=_references(body.drafts),
        title=body.title,
        description=body.description,
    )
    if call.dry_run:
        return answer(try_resubmission(call.tx, review.review_id, request))
    return _accept_for(call, OperationKind.RESUBMIT, review, request)


@routes.command(
    "POST",
    "/reviews/{review_id}/withdrawals",
    accepts=WithdrawReview,
    answers=ReviewBody,
    problems=(ReviewClosed, ProjectArchived, VersionConflict),
)
def withdraw_review(call: Write, review_id: str) -> StoredOperation:
    """Take a Review back, by its author, owners and admins; its Drafts reopen."""
    review, access = find_review(call, review_id)
    require_author_or_administrator(call, review, access)
    body = call.body(WithdrawReview)
    request = WithdrawRequest(expected_review_version=body.expected_review_version, reason=body.reason)
    return _accept_for(call, OperationKind.WITHDRAW, review, request)


@routes.command(
    "POST",
    "/reviews/{review_id}/decisions",
    accepts=DecideReview,
    answers=ReviewBody,
    problems=(SelfApproval, ReviewClosed, ProjectArchived, VersionConflict),
)
def decide_review(call: Write, review_id: str) -> StoredOperation:
    """Approve or reject the latest submission; the same approval twice is one.

    Owners and admins do, and owners of paths that it touches approve. Where the policy asks for somebody else's
    approval, the author's is refused.
    """
    review, access = find_review(call, review_id)
    if Mentions.of(call).id("decision") == "approved":
        call.require_permission("write")
        require_approver(electorate_of(call.connection, review), call.principal.user_id)
    else:
        access.require_administrator()
    body = call.body(DecideReview)
    request = DecideRequest(
        decision=body.decision, expected_review_version=body.expected_review_version, body=body.body
    )
    return _accept_for(call, OperationKind.DECIDE, review, request)


@routes.command(
    "POST",
    "/reviews/{review_id}/merges",
    accepts=MergeReview,
    answers=MergeResult,
    if_match_optional=True,
    tried=MergeTrial,
    problems=(
        SelfApproval,
        ReviewClosed,
        ProjectArchived,
        VersionConflict,
        TargetMissing,
        DuplicateId,
        ReconciliationRequired,
        PathCollision,
        ApprovalInvalidated,
        ApprovalsMissing,
    ),
)
def merge_review(call: Write, review_id: str) -> StoredOperation | Answer:
    """Publish a Review, by owners and admins: one commit, or none at all. `If-Match` may name the current org Ref."""
    review, access = find_review(call, review_id)
    access.require_administrator()
    call.require_permission("write")
    electorate = electorate_of(call.connection, review)
    require_merger(electorate, call.principal.user_id, counted_approvers(call.connection, review, electorate))
    body = call.body(MergeReview, query=DryRunQuery)
    expected = call.if_match_ref_if_given()
    current, _ = organization_ref(call.connection, call.principal.org_id)
    require_match("organization", expected, current or NO_COMMIT)
    request = MergeRequest(
        expected_review_version=body.expected_review_version,
        expected_result_hash=body.expected_result_hash,
        expected_org_commit_id=None if expected is None else CommitId(expected),
    )
    if call.dry_run:
        return answer(try_merge(call.tx, review.review_id, request))
    return _accept_for(call, OperationKind.MERGE, review, request)


def _require_own_drafts(call: Write, named: Mentions) -> None:
    """Find the Drafts that a submission names, and the candidate of each that has one."""
    who = call.principal
    draft_ids = [DraftId(draft_id) for draft_id in named.ids("drafts", "draft_id")]
    known = own_drafts(call.connection, who.org_id, who.user_id, draft_ids)
    unknown = next((draft_id for draft_id in draft_ids if draft_id not in known), None)
    if unknown is not None:
        raise NotFound("There is no such Draft.", draft_id=unknown)
    references = enumerate(named.objects("drafts"))
    require_candidates(
        call,
        {f"drafts[{at}].candidate_id": (DraftId(each.id("draft_id") or ""), each) for at, each in references},
    )


def _references(drafts: Sequence[DraftReferenceInput]) -> tuple[DraftReference, ...]:
    return tuple(
        DraftReference(
            draft_id=DraftId(draft.draft_id),
            expected_draft_version=draft.expected_draft_version,
            candidate_id=None if draft.candidate_id is None else CandidateId(draft.candidate_id),
            resolved_state=packed(draft.resolved_state),
        )
        for draft in drafts
    )


def _accept_for(call: Write, kind: OperationKind, review: ReviewRow, request: BaseModel) -> StoredOperation:
    return _accept(call, kind, review.project_id, review.review_id, request)


def _accept(
    call: Write, kind: OperationKind, project_id: ProjectId, review_id: ReviewId, request: BaseModel
) -> StoredOperation:
    org_id = call.principal.org_id
    merges = kind is OperationKind.MERGE
    return accept_operation(
        call.tx,
        kind=kind,
        workflow_id=publication_workflow_id(org_id) if merges else review_workflow_id(review_id),
        project_id=project_id,
        review_id=review_id,
        request=request.model_dump(mode="json"),
        redeliver_after_s=call.incoming.services.settings.delivery_first_retry_s,
    )
