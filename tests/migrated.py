"""Rows as a migration from an older system leaves them; nothing in the product makes any."""

from datetime import UTC, datetime

from sqlalchemy import Engine, text

from tests.client import Organization

AT = datetime(2024, 1, 1, tzinfo=UTC)
INSERT = text("""
    insert into project_memories (org_id, project_id, memory_id, path, description, content, content_hash,
                                  created_at, updated_at)
    values (:org_id, :project_id, :memory_id, :path, 'About', 'text\n', 'sha256:0', :at, :at)
""")


def migrated(engine: Engine, organization: Organization, project_id: str, *memory_ids: str) -> None:
    """Give a project historical resources of these ids."""
    rows = [
        {
            "org_id": organization.organization_id,
            "project_id": project_id,
            "memory_id": memory_id,
            "path": f"docs/{memory_id}.md",
            "at": AT,
        }
        for memory_id in memory_ids
    ]
    with engine.begin() as connection:
        connection.execute(INSERT, rows)
