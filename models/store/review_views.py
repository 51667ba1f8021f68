"""Reviews as they are shown: members with their freshness, submissions, approvals, timeline, mergeability."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import BlobId, DraftId, OrganizationId, ReviewId
from models.rules.evaluation import Evaluation
from models.schemas.drafts import Coordination, MemoryDifference
from models.schemas.reviews import (
    ApprovalBody,
    ReviewBody,
    ReviewDraft,
    ReviewListItem,
    SubmissionBody,
    SubmissionDraft,
    SubmissionWithMemories,
    TimelineEvent,
)
from models.store.approvals import approvals_of
from models.store.coordination import coordinate
from models.store.draft_views import difference, read_contents
from models.store.drafts import drafts_by_id
from models.store.locks import DraftRow, ReviewRow
from models.store.mergeability import mergeability
from models.store.reviews import read_review
from models.store.submissions import Member, members_of
from models.store.submitted_states import submitted_states


def review_body(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, evaluation: Evaluation | None = None
) -> ReviewBody:
    """A Review, whole.

    Args:
        connection: any; the answer is a snapshot unless the coordination row is locked.
        org_id: the organization.
        review_id: the Review.
        evaluation: that of its Drafts, where the caller has just made it under the coordination row.

    Raises:
        NotFound: no such Review.
    """
    review = read_review(connection, org_id, review_id)
    if review is None:
        raise NotFound("There is no such Review.")
    item = review_items(connection, org_id, [review])[0]
    return ReviewBody(
        **{name: getattr(item, name) for name in ReviewListItem.model_fields},
        timeline=_timeline(connection, review),
        mergeability=mergeability(connection, review, evaluation),
    )


def review_items(connection: Connection, org_id: OrganizationId, reviews: Sequence[ReviewRow]) -> list[ReviewListItem]:
    """Reviews without timeline and mergeability; as many statements for a page as for one."""
    review_ids = [review.review_id for review in reviews]
    members = members_of(connection, org_id, review_ids)
    submissions = _submissions(connection, org_id, review_ids, members)
    approvals = approvals_of(connection, org_id, review_ids)
    shown = {review.review_id: members.get((review.review_id, review.submission), ()) for review in reviews}
    drafts = drafts_by_id(connection, org_id, {member.draft_id for latest in shown.values() for member in latest})
    coordination = coordinate(connection, org_id, [draft for draft in drafts.values() if draft.review_id in shown])
    names = set(ReviewListItem.model_fields) - {"drafts", "submissions", "approvals"}
    return [
        ReviewListItem(
            **{name: getattr(review, name) for name in names},
            drafts=[
                _member(review, drafts[member.draft_id], member, coordination) for member in shown[review.review_id]
            ],
            submissions=submissions.get(review.review_id, []),
            approvals=[
                ApprovalBody.model_validate(approval, from_attributes=True)
                for approval in approvals.get(review.review_id, ())
            ],
        )
        for review in reviews
    ]


def _member(
    review: ReviewRow, draft: DraftRow, member: Member, coordination: Mapping[DraftId, Coordination | None]
) -> ReviewDraft:
    """A Draft as it was submitted; how it stands is its author's alone once the Review holds it no more."""
    held = draft.status == "submitted" and draft.review_id == review.review_id
    standing = coordination[draft.draft_id] if held else None
    return ReviewDraft(
        draft_id=draft.draft_id,
        draft_version=member.draft_version,
        title=member.title,
        status=draft.status,
        freshness=standing.freshness if standing else None,
        reconciliation=standing.reconciliation if standing else None,
    )


def _submissions(
    connection: Connection,
    org_id: OrganizationId,
    review_ids: Sequence[ReviewId],
    members: Mapping[tuple[ReviewId, int], Sequence[Member]],
) -> dict[ReviewId, list[SubmissionBody]]:
    rows = connection.execute(
        text("""
            select review_id, number, result_hash, created_at from review_submissions
            where org_id = :org_id and review_id = any(:review_ids) order by review_id, number
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[ReviewId, list[SubmissionBody]] = {}
    for row in rows:
        drafts = [
            SubmissionDraft(draft_id=member.draft_id, draft_version=member.draft_version)
            for member in members.get((row.review_id, row.number), ())
        ]
        found.setdefault(row.review_id, []).append(
            SubmissionBody(number=row.number, result_hash=row.result_hash, created_at=row.created_at, drafts=drafts)
        )
    return found


def _timeline(connection: Connection, review: ReviewRow) -> list[TimelineEvent]:
    rows = connection.execute(
        text("""
            select at, actor_id, event, submission, old_hash, new_hash, reason from review_timeline
            where org_id = :org_id and review_id = :review_id order by position
        """),
        {"org_id": review.org_id, "review_id": review.review_id},
    )
    return [TimelineEvent(**row) for row in rows.mappings()]


def submission_body(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> SubmissionWithMemories:
    """One submission, with what it proposed.

    Raises:
        NotFound: the Review has no submission of this number.
    """
    members = members_of(connection, org_id, [review_id])
    for submission in _submissions(connection, org_id, [review_id], members).get(review_id, []):
        if submission.number == number:
            memories = submission_memories(connection, org_id, review_id, number)
            return SubmissionWithMemories(**dict(submission), memories=memories)
    raise NotFound("The Review has no such submission.")


def submission_memories(
    connection: Connection, org_id: OrganizationId, review_id: ReviewId, number: int
) -> list[MemoryDifference]:
    """What a submission proposed: every touched Memory with its base, result and diff."""
    states = submitted_states(connection, org_id, review_id, number)
    blob_ids: set[BlobId] = {state.body.blob_id for pair in states.values() for state in pair if state is not None}
    contents = read_contents(connection, org_id, blob_ids)
    return [difference(memory_id, base, result, contents) for memory_id, (base, result) in states.items()]
