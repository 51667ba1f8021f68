"""Published Memory as it is read: lists by path, one by id with its text, archived ones as they were."""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import MemoryId, OrganizationId
from models.rules.paths import path_key
from models.schemas.commits import MemoryBody, MemoryStatus, MemoryWithContent
from models.store.selections import MEMORY_COLUMNS, memory_body


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """A Memory and the key of its path, by which lists are sorted."""

    body: MemoryBody
    path_key: str


# The heads' index on the path key serves the active ones in order.
ACTIVE = f"""
    select {MEMORY_COLUMNS}, v.path_key
    from memory_versions v
    join memories m on m.org_id = v.org_id and m.memory_id = v.memory_id
    join blobs b on b.org_id = v.org_id and b.blob_id = v.blob_id
    where v.org_id = :org_id and v.to_version is null and v.path_key > :after_key {{place}}
    order by v.path_key limit :limit
"""  # noqa: S608  (a constant list of columns)
LAST_VERSION = """
    from memories m
    cross join lateral (
        select * from memory_versions
        where org_id = m.org_id and memory_id = m.memory_id order by from_version desc limit 1
    ) v
    join blobs b on b.org_id = v.org_id and b.blob_id = v.blob_id
"""
OF_STATUS = f"""
    select {MEMORY_COLUMNS}, v.path_key {LAST_VERSION}
    where m.org_id = :org_id and m.status = :status and m.status <> 'active'
      and (v.path_key, m.memory_id) > (:after_key, :after_id) {{place}}
    order by v.path_key, m.memory_id limit :limit
"""
AT_PATH = "and v.path_key = :path_key and v.path = :path"
# What is not active ended at that path, and is found there first.
ENDED_AT_PATH = f"""
    and m.memory_id in (
        select memory_id from memory_versions
        where org_id = :org_id and path_key = :path_key and to_version is not null
    ) {AT_PATH}
"""  # noqa: S608  (a constant condition)
LISTS = {
    (active, anywhere): text(statement.format(place="" if anywhere else place))
    for active, statement, place in ((True, ACTIVE, AT_PATH), (False, OF_STATUS, ENDED_AT_PATH))
    for anywhere in (True, False)
}
ONE = text(f"""
    select {MEMORY_COLUMNS}, b.content {LAST_VERSION} where m.org_id = :org_id and m.memory_id = :memory_id
""")


def list_memories(
    connection: Connection,
    org_id: OrganizationId,
    *,
    status: MemoryStatus,
    path: str | None = None,
    after: tuple[str, str] | None,
    limit: int,
) -> list[ListedMemory]:
    """The organization's Memories of a status, by path, without their texts.

    Args:
        connection: a read connection.
        org_id: the organization.
        status: archived ones stand at the path they had last; several may share it.
        path: only what stands there; in NFC, compared as it is.
        after: continue behind this (path key, memory_id).
        limit: at most so many.
    """
    after_key, after_id = after or ("", "")
    names = {"org_id": org_id, "status": status, "after_key": after_key, "after_id": after_id, "limit": limit}
    statement = LISTS[status == "active", path is None]
    rows = connection.execute(statement, {**names, **at_path(path)}).mappings()
    return [ListedMemory(memory_body(row), row["path_key"]) for row in rows]


def at_path(path: str | None) -> dict[str, str]:
    """What a statement of one path is given; nothing for all of them."""
    return {} if path is None else {"path": path, "path_key": path_key(path)}


def read_memory(connection: Connection, org_id: OrganizationId, memory_id: MemoryId) -> MemoryWithContent:
    """A Memory with its text; an archived one as it was last.

    Raises:
        NotFound: nothing of this id was ever published here.
    """
    row = connection.execute(ONE, {"org_id": org_id, "memory_id": memory_id}).mappings().one_or_none()
    if row is None:
        raise NotFound("There is no such Memory.")
    memory = memory_body(row)
    return MemoryWithContent(memory=memory, content=row["content"], etag=f'"{memory.revision}"')
