"""What the operations of Drafts start from: their base, with what earlier Drafts of a Review made laid over it."""

from collections.abc import Collection

from sqlalchemy import Connection, text

from models.identifiers import DraftId, MemoryId, OrganizationId, is_provisional
from models.rules.states import Body, MemoryState, State
from models.store.locks import DraftRow
from models.store.memories import states_at
from models.store.provisional import made_elsewhere
from models.store.standing import memories_at_paths

OVERLAYS = text("""
    select s.draft_id, s.memory_id, s.path, s.description, s.blob_id, b.content_hash
    from draft_base_states s left join blobs b on b.org_id = s.org_id and b.blob_id = s.blob_id
    where s.org_id = :org_id and s.draft_id = any(:draft_ids)
""")


def read_overlays(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> dict[DraftId, dict[MemoryId, State]]:
    """The states that go before the base's, by Draft; of a Draft that was never rebased onto a sibling, none."""
    found: dict[DraftId, dict[MemoryId, State]] = {draft_id: {} for draft_id in draft_ids}
    for row in connection.execute(OVERLAYS, {"org_id": org_id, "draft_ids": list(draft_ids)}):
        present = row.path is not None
        state = MemoryState(row.path, row.description, Body(row.blob_id, row.content_hash)) if present else None
        found[row.draft_id][row.memory_id] = state
    return found


def starting_states(
    connection: Connection, draft: DraftRow, memory_ids: Collection[MemoryId]
) -> dict[MemoryId, MemoryState]:
    """Those of the Memories that exist where a Draft starts, with what the author's other Drafts create of them."""
    provisional = {memory_id for memory_id in memory_ids if is_provisional(memory_id)}
    states: dict[MemoryId, State] = {
        **states_at(connection, draft.org_id, set(memory_ids) - provisional, draft.base_version),
        **made_elsewhere(connection, draft, provisional),
    }
    overlay = read_overlays(connection, draft.org_id, [draft.draft_id])[draft.draft_id]
    states |= {memory_id: state for memory_id, state in overlay.items() if memory_id in memory_ids}
    return {memory_id: state for memory_id, state in states.items() if state is not None}


def standing_at(connection: Connection, draft: DraftRow, paths: Collection[str]) -> dict[str, MemoryId]:
    """Which Memory stands at each path where a Draft starts; paths in NFC, compared as they are."""
    if not paths:
        return {}
    overlay = read_overlays(connection, draft.org_id, [draft.draft_id])[draft.draft_id]
    published = memories_at_paths(connection, draft.org_id, paths, draft.base_version)
    laid_over = {state.path: memory_id for memory_id, state in overlay.items() if state is not None}
    return {
        **{path: memory_id for path, memory_id in published.items() if memory_id not in overlay},
        **{path: memory_id for path, memory_id in laid_over.items() if path in paths},
    }
