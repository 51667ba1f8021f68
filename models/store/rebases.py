"""What a rebase writes of a Draft: other operations, another base, and what it stands on beside it."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import text

from models.identifiers import DraftId, MemoryId
from models.rules.states import State
from models.store.drafts import NewDraftOperation, append_operations
from models.store.locks import OrganizationRefRow
from models.store.transaction import Transaction


def replace_operations(tx: Transaction, draft_id: DraftId, operations: Sequence[NewDraftOperation]) -> None:
    """Give a locked Draft other operations than it had."""
    tx.connection.execute(
        text("delete from draft_operations where org_id = :org_id and draft_id = :draft_id"),
        {"org_id": tx.org_id, "draft_id": draft_id},
    )
    append_operations(tx, draft_id, 0, operations)


def replace_overlays(tx: Transaction, overlays: Mapping[DraftId, Mapping[MemoryId, State]]) -> None:
    """Keep what earlier Drafts of a Review had made of Memories when each was rebased; their bodies are blobs."""
    tx.connection.execute(
        text("delete from draft_base_states where org_id = :org_id and draft_id = any(:draft_ids)"),
        {"org_id": tx.org_id, "draft_ids": list(overlays)},
    )
    rows = [(draft_id, *item) for draft_id, states in overlays.items() for item in states.items()]
    if not rows:
        return
    tx.connection.execute(
        text("""
            insert into draft_base_states (org_id, draft_id, memory_id, path, description, blob_id)
            select :org_id, s.*
            from unnest(cast(:draft_ids as text[]), cast(:memory_ids as text[]), cast(:paths as text[]),
                        cast(:descriptions as text[]), cast(:blob_ids as text[])) as s
        """),
        {
            "org_id": tx.org_id,
            "draft_ids": [draft_id for draft_id, _, _ in rows],
            "memory_ids": [memory_id for _, memory_id, _ in rows],
            "paths": [None if state is None else state.path for _, _, state in rows],
            "descriptions": [None if state is None else state.description for _, _, state in rows],
            "blob_ids": [None if state is None else state.body.blob_id for _, _, state in rows],
        },
    )


def rebase_onto(tx: Transaction, draft_ids: Collection[DraftId], ref: OrganizationRefRow) -> None:
    """Move the bases of locked Drafts to the Ref, each a version further."""
    tx.connection.execute(
        text("""
            update drafts
            set base_commit_id = :commit_id, base_version = :base_version, version = version + 1, updated_at = :now
            where org_id = :org_id and draft_id = any(:draft_ids)
        """),
        {
            "org_id": tx.org_id,
            "draft_ids": list(draft_ids),
            "commit_id": ref.commit_id,
            "base_version": ref.version,
            "now": tx.now,
        },
    )
