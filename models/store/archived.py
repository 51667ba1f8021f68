"""Memories as they were last: what a restore brings back where it does not say otherwise (publication.md §2)."""

from collections.abc import Collection

from sqlalchemy import Connection, text

from models.identifiers import MemoryId, OrganizationId
from models.rules.states import Body, MemoryState

# Each Memory is looked up by its key: one after the other, not as a join that is planned by statistics.
LAST = text("""
    select w.memory_id, v.path, v.description, v.blob_id, b.content_hash
    from unnest(cast(:memory_ids as text[])) as w(memory_id)
    cross join lateral (
        select path, description, blob_id from memory_versions
        where org_id = :org_id and memory_id = w.memory_id and from_version <= :version
        order by from_version desc limit 1
    ) v
    cross join lateral (select content_hash from blobs where org_id = :org_id and blob_id = v.blob_id limit 1) b
""")


def last_states(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId], version: int
) -> dict[MemoryId, MemoryState]:
    """Those of the Memories that were published by a version: as they were at it or, archived by then, as last."""
    if not memory_ids or version == 0:
        return {}
    rows = connection.execute(LAST, {"org_id": org_id, "memory_ids": sorted(memory_ids), "version": version})
    return {row.memory_id: MemoryState(row.path, row.description, Body(row.blob_id, row.content_hash)) for row in rows}
