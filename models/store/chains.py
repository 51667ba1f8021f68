"""Chains of commits as they are read: where each stands, and its commits, newest first."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import CommitId, OrganizationId, ProjectId
from models.schemas.commits import CommitBody


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain stands; no commit before the first."""

    commit_id: CommitId | None
    updated_at: datetime


def organization_head(connection: Connection, org_id: OrganizationId) -> Head:
    """Where the organization stands."""
    row = connection.execute(
        text("select commit_id, updated_at from organization_refs where org_id = :org_id"), {"org_id": org_id}
    ).one()
    return Head(*row)


def project_head(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> Head:
    """Where a project's projection stands."""
    row = connection.execute(
        text("select commit_id, updated_at from project_refs where org_id = :org_id and project_id = :project_id"),
        {"org_id": org_id, "project_id": project_id},
    ).one()
    return Head(*row)


ORGANIZATION_COMMITS = text("""
    select * from commits
    where org_id = :org_id and project_id is null and version < :before order by version desc limit :limit
""")
PROJECT_COMMITS = text("""
    select * from commits
    where org_id = :org_id and project_id = :project_id and version < :before order by version desc limit :limit
""")
PAST_ANY_VERSION = 2**31 - 1


def list_commits(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId | None, *, before: int | None, limit: int
) -> list[CommitBody]:
    """The commits of a project's chain, or of the organization's, with versions below `before`."""
    rows = connection.execute(
        ORGANIZATION_COMMITS if project_id is None else PROJECT_COMMITS,
        {
            "org_id": org_id,
            "project_id": project_id,
            "before": PAST_ANY_VERSION if before is None else before,
            "limit": limit,
        },
    )
    return [CommitBody(**row) for row in rows.mappings()]
