"""What a commit of the organization did to Memories: each before it and after it."""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import MemoryId, OrganizationId
from models.rules.states import MemoryState, State
from models.store.memories import states_at

# Each half has an index of its own: where intervals begin, and where they end.
CHANGED_AT = text("""
    select memory_id from (
        (select memory_id from memory_versions where org_id = :org_id and from_version = :version limit :limit)
        union
        (select memory_id from memory_versions where org_id = :org_id and to_version = :version limit :limit)
    ) changed
    order by memory_id limit :limit
""")


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """The Memories that a commit created, changed, deleted or restored; `after` lacks those that it deleted."""

    before: dict[MemoryId, State]
    after: dict[MemoryId, MemoryState]


def changes_of(connection: Connection, org_id: OrganizationId, version: int, *, limit: int) -> CommitChanges | None:
    """What the commit of a version did; None where that were more than `limit` Memories."""
    names = {"org_id": org_id, "version": version, "limit": limit + 1}
    memory_ids: list[MemoryId] = list(connection.execute(CHANGED_AT, names).scalars())
    if len(memory_ids) > limit:
        return None
    before = states_at(connection, org_id, memory_ids, version - 1)
    return CommitChanges(
        before={memory_id: before.get(memory_id) for memory_id in memory_ids},
        after=states_at(connection, org_id, memory_ids, version),
    )
