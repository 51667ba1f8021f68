"""What happened to Reviews and Drafts, told once: timeline, change feed and audit in the transaction that did it."""

from collections.abc import Sequence

from models.errors import JsonValue
from models.store.audit import AUDIT_ACTIONS, record_audit
from models.store.events import append_draft_events, append_event
from models.store.locks import DraftRow, ReviewRow
from models.store.reviews import add_to_timeline
from models.store.transaction import Transaction


def record_review(
    tx: Transaction,
    review: ReviewRow,
    event: str,
    *,
    reason: str | None = None,
    before_hash: str | None = None,
    after_hash: str | None = None,
    detail: dict[str, JsonValue] | None = None,
) -> None:
    """Record a command's effect on a Review.

    Args:
        tx: the transaction, its Review locked.
        review: the row as it is now.
        event: one of the timeline's events that `AUDIT_ACTIONS` knows.
        reason: what the actor said of it.
        before_hash: of what it replaced, for the audit.
        after_hash: of what stands now, for the audit; the Review's result unless something else is named.
        detail: further facts for the audit, never contents.
    """
    add_to_timeline(
        tx, review.review_id, event, submission=review.submission, new_hash=review.result_hash, reason=reason
    )
    append_event(
        tx, f"review.{event}", "review", review.review_id, project_id=review.project_id, version=review.version
    )
    record_audit(
        tx,
        AUDIT_ACTIONS[event],
        "review",
        review.review_id,
        before_hash=before_hash,
        after_hash=after_hash or review.result_hash,
        detail=detail,
    )


def tell_drafts(tx: Transaction, drafts: Sequence[DraftRow], event: str, *, grown_by: int = 1) -> None:
    """Tell their authors' followers what became of Drafts, in one statement.

    Args:
        tx: the transaction.
        drafts: as they were before.
        event: what happened, as `submitted`.
        grown_by: by how much their versions have grown.
    """
    append_draft_events(tx, f"draft.{event}", [(draft, draft.version + grown_by) for draft in drafts])
