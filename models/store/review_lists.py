"""The Reviews that a user may read."""

from datetime import datetime

from sqlalchemy import Connection, select, tuple_
from sqlmodel import SQLModel

from models.identifiers import OrganizationId, ProjectId, UserId
from models.store.access import readable_projects
from models.store.locks import ReviewRow, row_of
from models.tables import Review

REVIEWS = SQLModel.metadata.tables[Review.__tablename__]


def list_reviews(
    connection: Connection,
    org_id: OrganizationId,
    user_id: UserId,
    *,
    project_id: ProjectId | None,
    status: str | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[ReviewRow]:
    """Reviews of the projects that the user may read, newest first; those of deleted ones for owners and admins.

    Args:
        connection: a read connection.
        org_id: the organization.
        user_id: who asks.
        project_id: only of this project.
        status: only with this status.
        before: continue below this (created_at, review_id).
        limit: at most so many.
    """
    statement = select(REVIEWS).where(
        REVIEWS.c.org_id == org_id,
        REVIEWS.c.project_id.in_(readable_projects(org_id, user_id, include_deleted=True)),
    )
    if project_id is not None:
        statement = statement.where(REVIEWS.c.project_id == project_id)
    if status is not None:
        statement = statement.where(REVIEWS.c.status == status)
    if before is not None:
        statement = statement.where(tuple_(REVIEWS.c.created_at, REVIEWS.c.review_id) < before)
    statement = statement.order_by(REVIEWS.c.created_at.desc(), REVIEWS.c.review_id.desc()).limit(limit)
    return [row_of(ReviewRow, row) for row in connection.execute(statement).mappings()]
