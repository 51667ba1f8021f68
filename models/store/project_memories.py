"""Project-scoped resources of an older system: only read, and never what is published now (publication.md §5)."""

from sqlalchemy import Connection, RowMapping, text

from models.errors import NotFound
from models.identifiers import MemoryId, OrganizationId, ProjectId
from models.rules.paths import name_of
from models.schemas.memories import ProjectMemoryBody, ProjectMemoryItem

LIST = text("""
    select memory_id, path, description, content_hash, created_at, updated_at from project_memories
    where org_id = :org_id and project_id = :project_id and memory_id > :after order by memory_id limit :limit
""")
ONE = text("""
    select memory_id, path, description, content, content_hash, created_at, updated_at from project_memories
    where org_id = :org_id and project_id = :project_id and memory_id = :memory_id
""")


def list_project_memories(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, *, after: str | None, limit: int
) -> list[ProjectMemoryItem]:
    """A project's historical resources by id, behind `after`, without their texts."""
    names = {"org_id": org_id, "project_id": project_id, "after": after or "", "limit": limit}
    return [ProjectMemoryItem(**_named(row)) for row in connection.execute(LIST, names).mappings()]


def read_project_memory(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, memory_id: MemoryId
) -> ProjectMemoryBody:
    """One of them, with its text.

    Raises:
        NotFound: there is none of this id.
    """
    names = {"org_id": org_id, "project_id": project_id, "memory_id": memory_id}
    row = connection.execute(ONE, names).mappings().one_or_none()
    if row is None:
        raise NotFound("There is no such resource.")
    return ProjectMemoryBody(**_named(row))


def _named(row: RowMapping) -> dict[str, object]:
    return {**row, "name": name_of(row["path"])}
