"""Approvals of Reviews, each of exactly one result: dropped, never re-pointed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, ReviewId, UserId, new_approval_id
from models.store.locks import ReviewRow
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """An approval that has not been dropped."""

    approval_id: str
    actor_id: UserId
    submission: int
    result_hash: str
    created_at: datetime


def approvals_of(
    connection: Connection, org_id: OrganizationId, review_ids: Collection[ReviewId]
) -> dict[ReviewId, list[StoredApproval]]:
    """The approvals of Reviews that stand, oldest first."""
    rows = connection.execute(
        text("""
            select review_id, approval_id, actor_id, submission, result_hash, created_at from review_approvals
            where org_id = :org_id and review_id = any(:review_ids) and dropped_at is null
            order by created_at, approval_id
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[ReviewId, list[StoredApproval]] = {}
    for review_id, *values in rows:
        found.setdefault(review_id, []).append(StoredApproval(*values))
    return found


def insert_approval(tx: Transaction, review: ReviewRow) -> None:
    """Bind the actor's approval to the latest submission's result; one of an older result is dropped for it."""
    drop_approvals(tx, review.review_id, actor_id=tx.actor_id)
    tx.connection.execute(
        text("""
            insert into review_approvals
                (org_id, approval_id, review_id, actor_id, submission, result_hash, created_at)
            values (:org_id, :approval_id, :review_id, :actor_id, :submission, :result_hash, :created_at)
        """),
        {
            "org_id": tx.org_id,
            "approval_id": new_approval_id(),
            "review_id": review.review_id,
            "actor_id": tx.actor_id,
            "submission": review.submission,
            "result_hash": review.result_hash,
            "created_at": tx.now,
        },
    )


def drop_approvals(tx: Transaction, review_id: ReviewId, *, actor_id: UserId | None = None) -> int:
    """Drop the approvals that stand, of one actor or of all; how many there were."""
    return tx.connection.execute(
        text("""
            update review_approvals set dropped_at = :now
            where org_id = :org_id and review_id = :review_id and dropped_at is null
              and (cast(:actor_id as text) is null or actor_id = :actor_id)
        """),
        {"org_id": tx.org_id, "review_id": review_id, "actor_id": actor_id, "now": tx.now},
    ).rowcount
