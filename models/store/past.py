"""Published Memory as it was at a version: what was read then is read now (publication.md §5)."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import CommitId, MemoryId, OrganizationId
from models.schemas.commits import MemoryStatus
from models.schemas.memories import MemoryThen
from models.store.org_memories import AT_PATH, ListedMemory, at_path
from models.store.selections import memory_body


@dataclass(frozen=True, slots=True)
class Point:
    """A version of the organization and its commit; version 0, of no commit, is before the first."""

    version: int
    commit_id: CommitId | None


BEGINNING = Point(0, None)

COMMIT_OF = text("""
    select version, commit_id from commits
    where org_id = :org_id and project_id is null and version = :version
""")
# Halves the chain until one version is left: its commits' times are in order, up to what two wait for one another.
LAST_UNTIL = text("""
    with recursive search(low, high) as (
        select 0, version from organization_refs where org_id = :org_id
        union all
        select case when c.created_at <= :at then c.version else s.low end,
               case when c.created_at <= :at then s.high else c.version - 1 end
        from search s join commits c
          on c.org_id = :org_id and c.project_id is null and c.version = (s.low + s.high + 1) / 2
        where s.low < s.high
    )
    select low from search where low = high
""")


def point_of_version(connection: Connection, org_id: OrganizationId, version: int) -> Point | None:
    """A version of the organization; None where it has not come to it."""
    row = connection.execute(COMMIT_OF, {"org_id": org_id, "version": version}).one_or_none()
    return None if row is None else Point(*row)


def point_of_time(connection: Connection, org_id: OrganizationId, at: datetime) -> Point:
    """Where the organization stood at a time; the present for one that has not come."""
    version: int = connection.execute(LAST_UNTIL, {"org_id": org_id, "at": at}).scalar_one()
    return point_of_version(connection, org_id, version) or BEGINNING


# A revision is one of the versions at which a Memory began to be so, or ceased to.
METADATA_THEN = """
    m.memory_id, v.path, v.description, b.content_hash, changes.revision, m.created_at, last.created_at as updated_at,
    case when v.to_version is null or v.to_version > :version then 'active' else 'archived' end as status
"""
THEN = """
    join memories m on m.org_id = :org_id and m.memory_id = v.memory_id
    join blobs b on b.org_id = :org_id and b.blob_id = v.blob_id
    cross join lateral (
        select count(*) as revision, max(at.version) as last_version from (
            select w.from_version as version from memory_versions w
            where w.org_id = :org_id and w.memory_id = v.memory_id and w.from_version <= :version
            union
            select w.to_version from memory_versions w
            where w.org_id = :org_id and w.memory_id = v.memory_id and w.to_version <= :version
        ) at
    ) changes
    cross join lateral (
        select c.created_at from commits c
        where c.org_id = :org_id and c.project_id is null and c.version = changes.last_version limit 1
    ) last
"""
ONE = text(f"""
    select {METADATA_THEN}, b.content
    from (
        select * from memory_versions
        where org_id = :org_id and memory_id = :memory_id and from_version <= :version
        order by from_version desc limit 1
    ) v {THEN}
""")  # noqa: S608  (constants)
# Each part has an index in the order of path keys: one of what holds still, one of what has ended.
ACTIVE = f"""
    select {METADATA_THEN}, v.path_key
    from (
        (select * from memory_versions v
         where org_id = :org_id and to_version is null and from_version <= :version and path_key > :after_key
           {{place}}
         order by path_key limit :limit)
        union all
        (select * from memory_versions v
         where org_id = :org_id and to_version > :version and from_version <= :version and path_key > :after_key
           {{place}}
         order by path_key limit :limit)
        order by path_key limit :limit
    ) v {THEN}
    order by v.path_key
"""  # noqa: S608  (constants)
ARCHIVED = f"""
    select {METADATA_THEN}, v.path_key
    from (
        select v.* from memory_versions v
        where v.org_id = :org_id and v.to_version <= :version and (v.path_key, v.memory_id) > (:after_key, :after_id)
          {{place}}
          and v.from_version = (
              select l.from_version from memory_versions l
              where l.org_id = :org_id and l.memory_id = v.memory_id and l.from_version <= :version
              order by l.from_version desc limit 1
          )
        order by v.path_key, v.memory_id limit :limit
    ) v {THEN}
    order by v.path_key, v.memory_id
"""  # noqa: S608  (constants)
LISTS = {
    (active, anywhere): text(statement.format(place="" if anywhere else AT_PATH))
    for active, statement in ((True, ACTIVE), (False, ARCHIVED))
    for anywhere in (True, False)
}


def read_memory_then(connection: Connection, org_id: OrganizationId, memory_id: MemoryId, point: Point) -> MemoryThen:
    """A Memory with its text as it was; one that was archived by then as it was last.

    Raises:
        NotFound: it was not there yet, or never.
    """
    names = {"org_id": org_id, "memory_id": memory_id, "version": point.version}
    row = connection.execute(ONE, names).mappings().one_or_none()
    if row is None:
        raise NotFound("There was no such Memory then.")
    memory = memory_body(row)
    return MemoryThen(memory=memory, content=row["content"], etag=f'"{memory.revision}"', commit_id=point.commit_id)


def list_memories_then(
    connection: Connection,
    org_id: OrganizationId,
    version: int,
    *,
    status: MemoryStatus,
    path: str | None = None,
    after: tuple[str, str],
    limit: int,
) -> list[ListedMemory]:
    """The Memories that had a status at a version, by path, without their texts.

    Args:
        connection: a read connection.
        org_id: the organization.
        version: of the organization.
        status: archived ones stand at the path they had last.
        path: only what stood there; in NFC, compared as it is.
        after: continue behind this (path key, memory_id).
        limit: at most so many.
    """
    if status == "deprecated":
        return []
    after_key, after_id = after
    names = {"org_id": org_id, "version": version, "after_key": after_key, "after_id": after_id, "limit": limit}
    statement = LISTS[status == "active", path is None]
    rows = connection.execute(statement, {**names, **at_path(path)}).mappings()
    return [ListedMemory(memory_body(row), row["path_key"]) for row in rows]
