"""What Drafts make that others build on: provisional ids of one author in one project (publication.md §2)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, text

from models.identifiers import DraftId, MemoryId, OrganizationId, is_provisional
from models.rules.candidates import Sibling
from models.rules.folding import fold_what_holds
from models.rules.states import MemoryState
from models.store.drafts import fold_operations
from models.store.locks import DraftRow


def made_elsewhere(
    connection: Connection, draft: DraftRow, provisional_ids: Collection[MemoryId]
) -> dict[MemoryId, MemoryState]:
    """The present states of provisional ids that Drafts beside this one create."""
    creators = creators_of(connection, draft, provisional_ids)
    elsewhere = {memory_id: draft_id for memory_id, draft_id in creators.items() if draft_id != draft.draft_id}
    return _created_states(connection, draft.org_id, elsewhere)


def _created_states(
    connection: Connection, org_id: OrganizationId, creators: Mapping[MemoryId, DraftId]
) -> dict[MemoryId, MemoryState]:
    """What the creators make of what they create, as far as it still exists there."""
    folded = {
        draft_id: fold_what_holds(operations, {})
        for draft_id, operations in fold_operations(connection, org_id, set(creators.values())).items()
    }
    return {
        memory_id: state
        for memory_id, draft_id in creators.items()
        if (state := folded[draft_id].get(memory_id)) is not None
    }


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What Drafts name that other ones of their author create.

    Args:
        states: what those make of it.
        creators: which of them creates it.
        built_on: by Draft that names something of the kind, the creators at the versions that they had.
    """

    states: Mapping[MemoryId, MemoryState] = field(default_factory=dict)
    creators: Mapping[MemoryId, DraftId] = field(default_factory=dict)
    built_on: Mapping[DraftId, Sequence[Sibling]] = field(default_factory=dict)


NOTHING_ELSEWHERE = Elsewhere()

BUILT_ON = text("""
    select distinct b.draft_id as builder, c.memory_id, d.draft_id, d.version
    from drafts b
    join draft_operations o on o.org_id = b.org_id and o.draft_id = b.draft_id
    join draft_operations c
      on c.org_id = o.org_id and c.memory_id = o.memory_id and c.action = 'create' and c.draft_id <> o.draft_id
    join drafts d on d.org_id = c.org_id and d.draft_id = c.draft_id
    where b.org_id = :org_id and b.draft_id = any(:draft_ids) and o.memory_id ^@ 'prv_'
      and d.project_id = b.project_id and d.author_id = b.author_id
      and (d.status = 'open' or d.review_id = b.review_id)
    order by b.draft_id, d.draft_id
""")


def made_beside(connection: Connection, drafts: Sequence[DraftRow]) -> Elsewhere:
    """What Drafts that are not submitted build on, beside what they create themselves.

    Versions are read before contents: what moves in between is noticed as a version that is past.
    """
    if not drafts:
        return NOTHING_ELSEWHERE
    org_id = drafts[0].org_id
    names = {"org_id": org_id, "draft_ids": [draft.draft_id for draft in drafts]}
    rows = connection.execute(BUILT_ON, names).all()
    built_on: dict[DraftId, list[Sibling]] = {}
    for row in rows:
        creators = built_on.setdefault(row.builder, [])
        if (creator := Sibling(row.draft_id, row.version)) not in creators:
            creators.append(creator)
    creators_by_id: dict[MemoryId, DraftId] = {row.memory_id: row.draft_id for row in rows}
    return Elsewhere(_created_states(connection, org_id, creators_by_id), creators_by_id, built_on)


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
