"""Receipts of operations that a client named itself: what they became, for whenever it sends them again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import DraftId, DraftOperationId, OrganizationId, UserId
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an operation of the client's became, and its Draft's version then."""

    local_operation_id: str
    operation_id: DraftOperationId
    draft_id: DraftId
    version: int


QUEUE = text("select pg_advisory_xact_lock(hashtextextended(:org_id || :user_id, 3))")
KNOWN = text("""
    select local_operation_id, operation_id, draft_id, draft_version from draft_operation_receipts
    where org_id = :org_id and user_id = :user_id and local_operation_id = any(:local_operation_ids)
""")
KEEP = text("""
    insert into draft_operation_receipts
        (org_id, user_id, local_operation_id, operation_id, draft_id, draft_version, created_at)
    select :org_id, :user_id, r.local_operation_id, r.operation_id, r.draft_id, r.version, :now
    from unnest(
        cast(:local_operation_ids as text[]), cast(:operation_ids as text[]), cast(:draft_ids as text[]),
        cast(:versions as integer[])
    ) as r(local_operation_id, operation_id, draft_id, version)
""")


def queue_for_receipts(tx: Transaction) -> None:
    """Wait until no other batch of the actor's is being accepted, before any row is locked."""
    tx.connection.execute(QUEUE, {"org_id": tx.org_id, "user_id": tx.actor_id})


def known_receipts(
    connection: Connection, org_id: OrganizationId, user_id: UserId, local_operation_ids: Collection[str]
) -> dict[str, Receipt]:
    """What a user's operations of those names became, for those that were accepted."""
    names = {"org_id": org_id, "user_id": user_id, "local_operation_ids": list(local_operation_ids)}
    return {row.local_operation_id: Receipt(*row) for row in connection.execute(KNOWN, names)}


def keep_receipts(tx: Transaction, receipts: Sequence[Receipt]) -> None:
    """Keep what the actor's operations became, for as long as there is the user."""
    tx.connection.execute(
        KEEP,
        {
            "org_id": tx.org_id,
            "user_id": tx.actor_id,
            "local_operation_ids": [receipt.local_operation_id for receipt in receipts],
            "operation_ids": [receipt.operation_id for receipt in receipts],
            "draft_ids": [receipt.draft_id for receipt in receipts],
            "versions": [receipt.version for receipt in receipts],
            "now": tx.now,
        },
    )
