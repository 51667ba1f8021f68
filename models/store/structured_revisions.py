"""Which structured memories there are, by revision: what an index is held against (workflows/reindex.py)."""

from typing import NamedTuple

import psycopg

from models.identifiers import OrganizationId, StructuredMemoryId


class MemoryKey(NamedTuple):
    """A memory of the installation; sorts as the database sorts it."""

    org_id: OrganizationId
    memory_id: StructuredMemoryId


PAGE = """
    select m.org_id, m.memory_id, m.revision from structured_memories m
    where (m.org_id, m.memory_id) > (%(after_org)s::text, %(after)s::text) and m.deleted_at is null
    order by m.org_id, m.memory_id limit %(limit)s
"""


def read_revisions(connection: psycopg.Connection, after: MemoryKey, limit: int) -> dict[MemoryKey, int]:
    """The revisions of the next memories of the installation, in the order of organization and id."""
    rows = connection.execute(PAGE, {"after_org": after.org_id, "after": after.memory_id, "limit": limit})
    return {MemoryKey(row[0], row[1]): row[2] for row in rows}
