"""Drafts as they are shown, with their operations, and what they come to (publication.md §2)."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, text

from models.identifiers import BlobId, DraftId, MemoryId, OrganizationId
from models.rules.differences import unified_diff
from models.rules.folding import fold_what_holds
from models.rules.occupancy import collisions_with, collisions_within, probe_keys
from models.rules.states import MemoryState, State
from models.schemas.drafts import (
    CollisionBody,
    DraftBody,
    DraftListItem,
    DraftOperationBody,
    DraftResult,
    MemoryDifference,
    OperationContent,
    StateBody,
)
from models.store.coordination import coordinate
from models.store.draft_bases import starting_states
from models.store.drafts import StoredDraftOperation, fold_operations, read_operations
from models.store.locks import DraftRow
from models.store.provisional import creators_of
from models.store.standing import occupants


def draft_items(connection: Connection, org_id: OrganizationId, drafts: Sequence[DraftRow]) -> list[DraftListItem]:
    """Drafts without their operations."""
    coordination = coordinate(connection, org_id, drafts)
    return [DraftListItem(**_members(draft), coordination=coordination[draft.draft_id]) for draft in drafts]


def draft_body(connection: Connection, draft: DraftRow) -> DraftBody:
    """A Draft with its operations."""
    coordination = coordinate(connection, draft.org_id, [draft])[draft.draft_id]
    operations = operation_bodies(connection, draft.org_id, draft.draft_id)
    return DraftBody(**_members(draft), coordination=coordination, operations=operations)


def operation_bodies(connection: Connection, org_id: OrganizationId, draft_id: DraftId) -> list[DraftOperationBody]:
    """The operations of a Draft with their texts, in order."""
    return [_operation(item) for item in read_operations(connection, org_id, draft_id)]


def _members(draft: DraftRow) -> dict[str, object]:
    names = set(DraftListItem.model_fields) - {"coordination"}
    return {name: getattr(draft, name) for name in names}


def _operation(stored: StoredDraftOperation) -> DraftOperationBody:
    carries = stored.content is not None or stored.description is not None
    return DraftOperationBody(
        operation_id=stored.operation_id,
        index=stored.index,
        action=stored.action.value,
        memory_id=stored.memory_id,
        path=stored.path,
        new_path=stored.new_path,
        content=OperationContent(content=stored.content, description=stored.description) if carries else None,
    )


def draft_result(connection: Connection, draft: DraftRow) -> DraftResult:
    """What a Draft comes to over its base, with the paths that would collide now."""
    operations = fold_operations(connection, draft.org_id, [draft.draft_id])[draft.draft_id]
    base = starting_states(connection, draft, {operation.memory_id for operation in operations})
    states = fold_what_holds(operations, base, converging=True)
    sources = {draft.draft_id, *creators_of(connection, draft, base).values()}
    contents = read_contents(connection, draft.org_id, _blob_ids(base, states), sources)
    memories = [
        difference(memory_id, base.get(memory_id), state, contents) for memory_id, state in sorted(states.items())
    ]
    return DraftResult(memories=memories, collisions=_collisions(connection, draft.org_id, states))


def difference(memory_id: MemoryId, base: State, result: State, contents: Mapping[BlobId, str]) -> MemoryDifference:
    """A Memory before and after, with the diff of its bodies."""
    before, after = _shown(base, contents), _shown(result, contents)
    return MemoryDifference(
        memory_id=memory_id,
        base=before,
        result=after,
        diff=unified_diff(
            before.content if before else None,
            after.content if after else None,
            old_path=before.path if before else None,
            new_path=after.path if after else None,
        ),
    )


def _shown(state: State, contents: Mapping[BlobId, str]) -> StateBody | None:
    if state is None:
        return None
    return StateBody(
        path=state.path,
        description=state.description,
        content=contents[state.body.blob_id],
        content_hash=state.body.content_hash,
    )


def read_contents(
    connection: Connection,
    org_id: OrganizationId,
    blob_ids: Collection[BlobId],
    draft_ids: Collection[DraftId] = (),
) -> dict[BlobId, str]:
    """The texts of blobs, and of bodies that Drafts carry."""
    rows = connection.execute(
        text("""
            select blob_id, content from blobs where org_id = :org_id and blob_id = any(:blob_ids)
            union all
            select blob_id, content from draft_operations
            where org_id = :org_id and draft_id = any(:draft_ids) and blob_id = any(:blob_ids)
        """),
        {"org_id": org_id, "blob_ids": list(blob_ids), "draft_ids": list(draft_ids)},
    )
    return {row.blob_id: row.content for row in rows}


def _blob_ids(*sides: Mapping[MemoryId, State] | Mapping[MemoryId, MemoryState]) -> set[BlobId]:
    return {state.body.blob_id for side in sides for state in side.values() if state is not None}


def _collisions(
    connection: Connection, org_id: OrganizationId, states: Mapping[MemoryId, State]
) -> list[CollisionBody]:
    standing = occupants(connection, org_id, probe_keys(states))
    return [
        CollisionBody(path=collision.path, memory_ids=list(collision.occupants))
        for collision in [*collisions_within(states), *collisions_with(states, standing)]
    ]
