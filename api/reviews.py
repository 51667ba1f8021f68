"""Reviews: what is considered and published together (publication.md §4); every command but PATCH is a workflow's."""

from collections.abc import Sequence

from pydantic import BaseModel

from activities.amendments import amend_review
from activities.requests import (
    DecideRequest,
    DraftReference,
    MergeRequest,
    ResubmitRequest,
    SubmitRequest,
    WithdrawRequest,
)
from api.answers import Answer, answer
from api.calls import Read, Write
from api.headers import require_match
from api.lookups import find_project, find_review
from api.mentions import Mentions
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.errors import (
    ApprovalInvalidated,
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
    ReviewClosed,
    TargetMissing,
    VersionConflict,
)
from models.identifiers import CommitId, DraftId, ProjectId, ReviewId, new_review_id
from models.schemas.commits import NO_COMMIT
from models.schemas.common import NoParameters, Page
from models.schemas.reviews import (
    CreateReview,
    DecideReview,
    DiffQuery,
    DraftReferenceInput,
    Mergeability,
    MergeResult,
    MergeReview,
    ResubmitReview,
    ReviewBody,
    ReviewDiff,
    ReviewListItem,
    ReviewsQuery,
    SubmissionWithMemories,
    UpdateReview,
    WithdrawReview,
)
from models.store.access import ProjectAccess
from models.store.commits import organization_ref
from models.store.locks import ReviewRow
from models.store.operations import OperationKind, StoredOperation, accept_operation
from models.store.own_drafts import own_drafts
from models.store.review_lists import list_reviews as reviews_for
from models.store.review_views import mergeability, review_body, review_items, submission_body
from workflows.ids import publication_workflow_id, review_workflow_id

MAX_NUMBER_DIGITS = 9

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
    ReconciliationRequired,
    PathCollision,
)


@routes.command(
    "POST",
    "/reviews",
    accepts=CreateReview,
    answers=ReviewBody,
    status=201,
    problems=(NotFound, *SUBMISSION_PROBLEMS),
)
def create_review(call: Write) -> StoredOperation:
    """Submit Drafts of one project and author, in order; the Review exists once the operation has succeeded."""
    named = Mentions.of(call)
    project_id = named.id("project_id")
    access = None if project_id is None else find_project(call, project_id)
    _require_own_drafts(call, named)
    if access is not None:
        access.require_write()
    body = call.body(CreateReview)
    request = SubmitRequest(title=body.title, description=body.description, drafts=_references(body.drafts))
    return _accept(call, OperationKind.SUBMIT, ProjectId(body.project_id), new_review_id(), request)


@routes.read("/reviews", answers=Page[ReviewListItem], query=ReviewsQuery)
def list_reviews(call: Read) -> Answer:
    """The Reviews of the projects that the caller may read, newest first, without timeline and mergeability."""
    who = call.principal
    query = call.query(ReviewsQuery)
    paging = Paging(query, "reviews", who.org_id, who.user_id, query.project_id, query.status, parts=2)
    rows = reviews_for(
        call.connection,
        who.org_id,
        who.user_id,
        project_id=None if query.project_id is None else ProjectId(query.project_id),
        status=query.status,
        before=after_moment(paging),
        limit=paging.fetch,
    )
    shown = {item.review_id: item for item in review_items(call.connection, who.org_id, rows[: paging.limit])}
    page = paging.page(
        Page[ReviewListItem],
        rows,
        show=lambda row: shown[row.review_id],
        position=lambda row: moment_of(row.created_at, row.review_id),
    )
    return answer(page)


@routes.read("/reviews/{review_id}", answers=ReviewBody, etag=True)
def get_review(call: Read, review_id: str) -> Answer:
    """A Review; 404 until its submit has succeeded."""
    review, _ = find_review(call, review_id)
    call.query(NoParameters)
    return _answer(call, review)


@routes.write(
    "PATCH",
    "/reviews/{review_id}",
    accepts=UpdateReview,
    answers=ReviewBody,
    if_match=True,
    etag=True,
    problems=(ReviewClosed, ProjectArchived),
)
def update_review(call: Write, review_id: str) -> Answer:
    """Change title or description: its author, owners and admins, until it is merged or withdrawn."""
    review, access = find_review(call, review_id)
    _require_author_or_administrator(call, review, access)
    body = call.body(UpdateReview)
    changed = amend_review(
        call.tx,
        review.review_id,
        expected_version=call.if_match_version(),
        title=body.title,
        description=body.description,
    )
    call.wakes_delivery = True
    return _answer(call, changed)


@routes.read("/reviews/{review_id}/mergeability", answers=Mergeability)
def get_mergeability(call: Read, review_id: str) -> Answer:
    """Whether a merge would pass now, and every blocker if not."""
    review, _ = find_review(call, review_id)
    call.query(NoParameters)
    return answer(mergeability(call.connection, review))


@routes.read("/reviews/{review_id}/diff", answers=ReviewDiff, query=DiffQuery, problems=(NotFound,))
def get_review_diff(call: Read, review_id: str) -> Answer:
    """What a submission proposes, the latest unless one is named: base, result and diff of every touched Memory."""
    review, _ = find_review(call, review_id)
    number = call.query(DiffQuery).submission or review.submission
    return answer(ReviewDiff(memories=_submission(call, review, number).memories))


@routes.read("/reviews/{review_id}/submissions/{number}", answers=SubmissionWithMemories)
def get_submission(call: Read, review_id: str, number: str) -> Answer:
    """A submission as it was reviewed, for ever."""
    review, _ = find_review(call, review_id)
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS):
        raise NotFound("The Review has no such submission.")
    submission = _submission(call, review, int(number))
    call.query(NoParameters)
    return answer(submission)


@routes.command(
    "POST",
    "/reviews/{review_id}/submissions",
    accepts=ResubmitReview,
    answers=ReviewBody,
    problems=(ReviewClosed, *SUBMISSION_PROBLEMS),
)
def resubmit_review(call: Write, review_id: str) -> StoredOperation:
    """Submit again, by the author: from open, approved or rejected; Drafts left out reopen."""
    review, access = find_review(call, review_id)
    if review.author_id != call.principal.user_id:
        raise Forbidden("Only the Review's author resubmits it.")
    _require_own_drafts(call, Mentions.of(call))
    access.require_write()
    body = call.body(ResubmitReview)
    request = ResubmitRequest(
        expected_review_version=body.expected_review_version,
        drafts=_references(body.drafts),
        title=body.title,
        description=body.description,
    )
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
    _require_author_or_administrator(call, review, access)
    body = call.body(WithdrawReview)
    request = WithdrawRequest(expected_review_version=body.expected_review_version, reason=body.reason)
    return _accept_for(call, OperationKind.WITHDRAW, review, request)


@routes.command(
    "POST",
    "/reviews/{review_id}/decisions",
    accepts=DecideReview,
    answers=ReviewBody,
    problems=(ReviewClosed, ProjectArchived, VersionConflict),
)
def decide_review(call: Write, review_id: str) -> StoredOperation:
    """Approve or reject the latest submission, by owners and admins; the same approval twice is one."""
    review, access = find_review(call, review_id)
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
    problems=(
        ReviewClosed,
        ProjectArchived,
        VersionConflict,
        TargetMissing,
        ReconciliationRequired,
        PathCollision,
        ApprovalInvalidated,
    ),
)
def merge_review(call: Write, review_id: str) -> StoredOperation:
    """Publish a Review, by owners and admins: one commit, or none at all. `If-Match` may name the current org Ref."""
    review, access = find_review(call, review_id)
    access.require_administrator()
    body = call.body(MergeReview)
    expected = call.if_match_ref_if_given()
    current, _ = organization_ref(call.connection, call.principal.org_id)
    require_match(expected, current or NO_COMMIT)
    request = MergeRequest(
        expected_review_version=body.expected_review_version,
        expected_result_hash=body.expected_result_hash,
        expected_org_commit_id=None if expected is None else CommitId(expected),
    )
    return _accept_for(call, OperationKind.MERGE, review, request)


def _require_own_drafts(call: Write, named: Mentions) -> None:
    """Find the Drafts that a submission names."""
    who = call.principal
    draft_ids = [DraftId(draft_id) for draft_id in named.ids("drafts", "draft_id")]
    known = own_drafts(call.connection, who.org_id, who.user_id, draft_ids)
    unknown = next((draft_id for draft_id in draft_ids if draft_id not in known), None)
    if unknown is not None:
        raise NotFound("There is no such Draft.", draft_id=unknown)


def _require_author_or_administrator(call: Write, review: ReviewRow, access: ProjectAccess) -> None:
    if review.author_id != call.principal.user_id and not access.administers:
        raise Forbidden("Only the Review's author, owners and admins may do this.")


def _references(drafts: Sequence[DraftReferenceInput]) -> tuple[DraftReference, ...]:
    return tuple(
        DraftReference(draft_id=DraftId(draft.draft_id), expected_draft_version=draft.expected_draft_version)
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


def _submission(call: Read, review: ReviewRow, number: int) -> SubmissionWithMemories:
    return submission_body(call.connection, call.principal.org_id, review.review_id, number)


def _answer(call: Read, review: ReviewRow) -> Answer:
    return answer(review_body(call.connection, call.principal.org_id, review.review_id), version=review.version)
