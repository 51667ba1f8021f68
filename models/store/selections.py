"""What projects use: checks and answers around a selection; `models.store.projections` moves the projection."""

from collections.abc import Collection

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import MemoryId, OrganizationId, ProjectId
from models.rules.paths import name_of
from models.schemas.commits import MemoryBody, SelectionBody
from models.store.projections import project_refs, selected_ids


def unknown_memories(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId]
) -> list[MemoryId]:
    """Those of the ids that are not active Memories of the organization, sorted."""
    rows = connection.execute(
        text("""
            select memory_id from memories
            where org_id = :org_id and status = 'active' and memory_id = any(:memory_ids)
        """),
        {"org_id": org_id, "memory_ids": list(memory_ids)},
    )
    return sorted(set(memory_ids).difference(rows.scalars()))


def drafts_targeting(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, memory_ids: Collection[MemoryId]
) -> RowMapping | None:
    """A Draft that needs one of the Memories selected: submitted, or open of an author who still sees the project."""
    return (
        connection.execute(
            text("""
                select o.memory_id, d.draft_id, d.author_id
                from draft_operations o
                join drafts d on d.org_id = o.org_id and d.draft_id = o.draft_id
                where o.org_id = :org_id and o.memory_id = any(:memory_ids) and d.project_id = :project_id
                  and (d.status = 'submitted' or d.status = 'open' and exists (
                      select from users u left join project_members m
                        on m.org_id = u.org_id and m.user_id = u.user_id and m.project_id = d.project_id
                      where u.org_id = d.org_id and u.user_id = d.author_id
                        and (u.role in ('owner', 'admin') or m.user_id is not null)))
                order by o.memory_id, d.draft_id limit 1
            """),
            {"org_id": org_id, "project_id": project_id, "memory_ids": list(memory_ids)},
        )
        .mappings()
        .one_or_none()
    )


MEMORY_COLUMNS = """
    m.memory_id, v.path, v.description, b.content_hash, m.revision, m.status, m.created_at, m.updated_at
"""
"""What `memory_body` reads: `memories m`, one of its `memory_versions v`, and the version's `blobs b`."""


def memory_body(row: RowMapping) -> MemoryBody:
    """A Memory's metadata, from the columns of `MEMORY_COLUMNS`."""
    return MemoryBody(**row, name=name_of(row["path"]))


def selection_body(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> SelectionBody:
    """A project's selection; Memories by path."""
    rows = connection.execute(
        text(f"""
            select {MEMORY_COLUMNS}
            from org_selections s
            cross join lateral (
                select * from memories where org_id = s.org_id and memory_id = s.memory_id limit 1
            ) m
            cross join lateral (
                select * from memory_versions
                where org_id = s.org_id and memory_id = s.memory_id order by from_version desc limit 1
            ) v
            cross join lateral (
                select content_hash from blobs where org_id = v.org_id and blob_id = v.blob_id limit 1
            ) b
            where s.org_id = :org_id and s.project_id = :project_id
            order by v.path_key
        """),  # noqa: S608  (a constant list of columns)
        {"org_id": org_id, "project_id": project_id},
    )
    return SelectionBody(
        resource_ids=list(selected_ids(connection, org_id, [project_id]).get(project_id, ())),
        memories=[memory_body(row) for row in rows.mappings()],
        revision=project_refs(connection, org_id, [project_id])[project_id].selection_revision,
    )
