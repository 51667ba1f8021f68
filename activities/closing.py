"""Ending what is open: withdrawn Reviews, discarded Drafts, and the work of people and projects that go."""

from collections.abc import Sequence

from activities.recording import record_review, tell_drafts
from models.errors import JsonValue
from models.identifiers import ProjectId, ReviewId, UserId
from models.store.approvals import drop_approvals
from models.store.audit import record_audit
from models.store.drafts import set_status, unfinished_drafts
from models.store.locks import DraftRow, ReviewRow, lock_drafts, lock_project, lock_review
from models.store.reviews import ReviewChange, change_review, projects_of, unfinished_reviews
from models.store.transaction import Transaction


def withdraw_review(
    tx: Transaction,
    review: ReviewRow,
    drafts: Sequence[DraftRow],
    *,
    closed_reason: str,
    reason: str | None = None,
    event: str = "withdrawn",
) -> None:
    """End a Review without publishing; its submitted Drafts reopen. Review and Drafts are locked.

    Args:
        tx: the transaction.
        review: the Review.
        drafts: its Drafts; those that are submitted in it reopen.
        closed_reason: why it ends.
        reason: what the actor said of it.
        event: what the timeline calls it, `withdrawn` or `expired`.
    """
    drop_approvals(tx, review.review_id)
    submitted = [draft for draft in drafts if draft.status == "submitted" and draft.review_id == review.review_id]
    set_status(tx, [draft.draft_id for draft in submitted], "open")
    withdrawn = change_review(tx, review.review_id, ReviewChange(status="withdrawn", closed_reason=closed_reason))
    tell_drafts(tx, submitted, "reopened")
    record_review(
        tx,
        withdrawn,
        event,
        reason=reason or (None if closed_reason in ("withdrawn", event) else closed_reason),
        before_hash=review.result_hash,
        detail={"reason": closed_reason},
    )


def mark_discarded(tx: Transaction, drafts: Sequence[DraftRow]) -> None:
    """Discard Drafts that are locked; they are given as they are now."""
    set_status(tx, [draft.draft_id for draft in drafts], "discarded")
    tell_drafts(tx, drafts, "discarded")
    for draft in drafts:
        detail: dict[str, JsonValue] = {"author_id": draft.author_id, "review_id": draft.review_id}
        record_audit(tx, "draft.discard", "draft", draft.draft_id, detail=detail)


def close_user_work(tx: Transaction, user_id: UserId) -> None:
    """Withdraw a user's Reviews and discard the user's Drafts; the coordination row is locked."""
    reviews = unfinished_reviews(tx.connection, tx.org_id, author_id=user_id)
    _close(tx, reviews, closed_reason="user_deleted", author_id=user_id)


def close_project_work(tx: Transaction, project_id: ProjectId) -> None:
    """Withdraw a project's Reviews and discard its Drafts; the coordination row is locked."""
    reviews = unfinished_reviews(tx.connection, tx.org_id, project_id=project_id)
    _close(tx, reviews, closed_reason="project_deleted", project_id=project_id)


def _close(
    tx: Transaction,
    review_ids: Sequence[ReviewId],
    *,
    closed_reason: str,
    author_id: UserId | None = None,
    project_id: ProjectId | None = None,
) -> None:
    """Lock projects, Reviews and Drafts in the written order, then end them; no Draft reopens in between."""
    draft_ids = unfinished_drafts(tx.connection, tx.org_id, author_id=author_id, project_id=project_id)
    for touched in projects_of(tx.connection, tx.org_id, review_ids):
        lock_project(tx.connection, tx.org_id, touched)
    reviews = [lock_review(tx.connection, tx.org_id, review_id) for review_id in review_ids]
    drafts = lock_drafts(tx.connection, tx.org_id, draft_ids)
    for review in reviews:
        withdraw_review(tx, review, (), closed_reason=closed_reason)
    mark_discarded(tx, [draft for draft in drafts.values() if draft.status in ("open", "submitted")])
