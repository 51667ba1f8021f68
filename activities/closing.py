"""Ending what is open: withdrawn Reviews, discarded Drafts, and the work of people and projects that go."""

from collections.abc import Sequence

from models.errors import JsonValue
from models.identifiers import ProjectId, ReviewId, UserId
from models.store.audit import record_audit
from models.store.drafts import set_status, unfinished_drafts
from models.store.events import append_event
from models.store.locks import DraftRow, ReviewRow, lock_drafts, lock_project, lock_review
from models.store.reviews import (
    ReviewChange,
    add_to_timeline,
    change_review,
    drop_approvals,
    latest_members,
    projects_of,
    unfinished_reviews,
)
from models.store.transaction import Transaction


def withdraw_review(
    tx: Transaction,
    review: ReviewRow,
    drafts: Sequence[DraftRow],
    *,
    closed_reason: str,
    reason: str | None = None,
) -> None:
    """End a Review without publishing; its submitted Drafts reopen. Review and Drafts are locked."""
    drop_approvals(tx, review.review_id)
    submitted = [draft for draft in drafts if draft.status == "submitted" and draft.review_id == review.review_id]
    set_status(tx, [draft.draft_id for draft in submitted], "open")
    change_review(tx, review.review_id, ReviewChange(status="withdrawn", closed_reason=closed_reason))
    add_to_timeline(
        tx,
        review.review_id,
        "withdrawn",
        submission=review.submission,
        new_hash=review.result_hash,
        reason=reason or (None if closed_reason == "withdrawn" else closed_reason),
    )
    tell_drafts(tx, submitted, "reopened")
    append_event(
        tx, "review.withdrawn", "review", review.review_id, project_id=review.project_id, version=review.version + 1
    )
    record_audit(
        tx,
        "review.withdrawn",
        "review",
        review.review_id,
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


def tell_drafts(tx: Transaction, drafts: Sequence[DraftRow], event: str) -> None:
    """Tell their authors' followers what became of Drafts; each is given as it was a version before."""
    for draft in drafts:
        append_event(
            tx,
            f"draft.{event}",
            "draft",
            draft.draft_id,
            project_id=draft.project_id,
            user_id=draft.author_id,
            version=draft.version + 1,
        )


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
    """Lock projects, Reviews and Drafts in the written order, then end them."""
    draft_ids = unfinished_drafts(tx.connection, tx.org_id, author_id=author_id, project_id=project_id)
    for touched in projects_of(tx.connection, tx.org_id, review_ids):
        lock_project(tx.connection, tx.org_id, touched)
    reviews = [lock_review(tx.connection, tx.org_id, review_id) for review_id in review_ids]
    drafts = lock_drafts(tx.connection, tx.org_id, draft_ids)
    for review in reviews:
        members = [member.draft_id for member in latest_members(tx.connection, review)]
        in_review = [drafts[draft_id] for draft_id in members if draft_id in drafts]
        withdraw_review(tx, review, in_review, closed_reason=closed_reason)
    mark_discarded(tx, [draft for draft in drafts.values() if draft.status in ("open", "submitted")])
