"""What Drafts make that others build on: provisional ids of one author in one project (publication.md §2)."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, text

from models.identifiers import DraftId, MemoryId, is_provisional
from models.rules.folding import fold_what_holds
from models.rules.states import MemoryState
from models.store.drafts import fold_operations
from models.store.locks import DraftRow


def made_elsewhere(
    connection: Connection, draft: DraftRow, provisional_ids: Collection[MemoryId]
) -> dict[MemoryId, MemoryState]:
    """The present states of provisional ids that Drafts beside this one create."""
    creators = creators_of(connection, draft, provisional_ids)
    elsewhere = {draft_id for draft_id in creators.values() if draft_id != draft.draft_id}
    folded = {
        draft_id: fold_what_holds(operations, {})
        for draft_id, operations in fold_operations(connection, draft.org_id, elsewhere).items()
    }
    return {
        memory_id: state
        for memory_id, draft_id in creators.items()
        if draft_id in folded and (state := folded[draft_id].get(memory_id)) is not None
    }


def creators_of(connection: Connection, beside: DraftRow, memory_ids: Iterable[MemoryId]) -> dict[MemoryId, DraftId]:
    """For provisional ids, the Draft that creates each: open and of the same author and project, or of one Review."""
    rows = connection.execute(
        text("""
            select o.memory_id, o.draft_id
            from draft_operations o join drafts d on d.org_id = o.org_id and d.draft_id = o.draft_id
            where o.org_id = :org_id and o.memory_id = any(:memory_ids) and o.action = 'create'
              and d.project_id = :project_id and d.author_id = :author_id
              and (d.status = 'open' or d.review_id = :review_id)
        """),
        {
            "org_id": beside.org_id,
            "memory_ids": [memory_id for memory_id in memory_ids if is_provisional(memory_id)],
            "project_id": beside.project_id,
            "author_id": beside.author_id,
            "review_id": beside.review_id,
        },
    )
    return {row.memory_id: row.draft_id for row in rows}
