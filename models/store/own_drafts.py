"""A user's own Drafts: in projects that still let the author read, and nobody else's (publication.md §2)."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, Select, select, tuple_
from sqlmodel import SQLModel

from models.identifiers import DraftId, OrganizationId, ProjectId, UserId
from models.store.access import readable_projects
from models.store.locks import DraftRow, row_of
from models.tables import Draft

DRAFTS = SQLModel.metadata.tables[Draft.__tablename__]


def list_drafts(
    connection: Connection,
    org_id: OrganizationId,
    author_id: UserId,
    *,
    project_id: ProjectId | None,
    status: str | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[DraftRow]:
    """An author's Drafts, newest first.

    Args:
        connection: a read connection.
        org_id: the organization.
        author_id: whose Drafts.
        project_id: only of this project.
        status: only with this status.
        before: continue below this (created_at, draft_id).
        limit: at most so many.
    """
    statement = _own(org_id, author_id)
    if project_id is not None:
        statement = statement.where(DRAFTS.c.project_id == project_id)
    if status is not None:
        statement = statement.where(DRAFTS.c.status == status)
    if before is not None:
        statement = statement.where(tuple_(DRAFTS.c.created_at, DRAFTS.c.draft_id) < before)
    statement = statement.order_by(DRAFTS.c.created_at.desc(), DRAFTS.c.draft_id.desc()).limit(limit)
    return [row_of(DraftRow, row) for row in connection.execute(statement).mappings()]


def own_drafts(
    connection: Connection, org_id: OrganizationId, author_id: UserId, draft_ids: Collection[DraftId]
) -> dict[DraftId, DraftRow]:
    """Those of the Drafts that the user has made and may still see, unlocked."""
    statement = _own(org_id, author_id).where(DRAFTS.c.draft_id.in_(draft_ids))
    rows = connection.execute(statement).mappings()
    return {row["draft_id"]: row_of(DraftRow, row) for row in rows}


def _own(org_id: OrganizationId, author_id: UserId) -> Select[tuple[object, ...]]:
    return select(DRAFTS).where(
        DRAFTS.c.org_id == org_id,
        DRAFTS.c.author_id == author_id,
        DRAFTS.c.project_id.in_(readable_projects(org_id, author_id, include_deleted=True)),
    )
