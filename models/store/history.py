"""What became of one Memory: the publications that changed it, newest first, from the gaps between its intervals."""

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import MemoryId, OrganizationId
from models.schemas.memories import Change, MemoryChange

PAST_ANY_VERSION = 2**31 - 1

# What an interval begins with is a change, a creation where none ended before it, a return where one ended earlier;
# what ends where no other begins is a deletion.
CHANGES = text("""
    select e.version, c.commit_id, c.created_at, coalesce(r.author_id, c.created_by) as author_id, c.review_id,
           e.ends, e.path, e.description, e.blob_id, b.content_hash,
           f.to_version as former_end, f.path as former_path, f.description as former_description,
           f.blob_id as former_blob_id
    from (
        (select from_version as version, from_version, false as ends, path, description, blob_id
         from memory_versions
         where org_id = :org_id and memory_id = :memory_id and from_version < :before
         order by from_version desc limit :limit)
        union all
        (select v.to_version, v.from_version, true, v.path, v.description, v.blob_id
         from memory_versions v
         where v.org_id = :org_id and v.memory_id = :memory_id and v.to_version < :before
           and not exists (
               select from memory_versions n
               where n.org_id = :org_id and n.memory_id = :memory_id and n.from_version = v.to_version
           )
         order by v.from_version desc limit :limit)
    ) e
    left join lateral (
        select to_version, path, description, blob_id from memory_versions
        where org_id = :org_id and memory_id = :memory_id and from_version < e.from_version
        order by from_version desc limit 1
    ) f on true
    join commits c on c.org_id = :org_id and c.project_id is null and c.version = e.version
    left join reviews r on r.org_id = :org_id and r.review_id = c.review_id
    join blobs b on b.org_id = :org_id and b.blob_id = e.blob_id
    order by e.version desc limit :limit
""")


def list_changes(
    connection: Connection, org_id: OrganizationId, memory_id: MemoryId, *, before: int | None, limit: int
) -> list[MemoryChange]:
    """The publications that changed a Memory, newest first, with versions below `before`."""
    names = {
        "org_id": org_id,
        "memory_id": memory_id,
        "before": PAST_ANY_VERSION if before is None else before,
        "limit": limit,
    }
    return [MemoryChange(**row, change=_change(row)) for row in connection.execute(CHANGES, names).mappings()]


def _change(row: RowMapping) -> list[Change]:
    """What happened; of a Memory that came back, also what came back other than it was."""
    if row["ends"]:
        return ["deleted"]
    if row["former_path"] is None:
        return ["created"]
    fields: dict[Change, bool] = {
        "restored": row["former_end"] < row["version"],
        "body": row["blob_id"] != row["former_blob_id"],
        "description": row["description"] != row["former_description"],
        "path": row["path"] != row["former_path"],
    }
    return [change for change, happened in fields.items() if happened]
