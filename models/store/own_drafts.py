"""A user's own Drafts: in projects that still let the author read, and nobody else's (publication.md §2)."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import DraftId, OrganizationId, ProjectId, UserId
from models.store.access import READABLE_PROJECTS_EVER
from models.store.locks import DraftRow, row_of

OWN = f"""
    select d.* from drafts d
    where d.org_id = :org_id and d.author_id = :user_id and d.project_id in ({READABLE_PROJECTS_EVER})
"""  # noqa: S608  (a constant of ours)
LIST = text(f"""
    {OWN}
      and (cast(:project_id as text) is null or d.project_id = :project_id)
      and (cast(:status as text) is null or d.status = :status)
      and (cast(:before_at as timestamptz) is null or (d.created_at, d.draft_id) < (:before_at, :before_id))
    order by d.created_at desc, d.draft_id desc limit :limit
""")
AMONG = text(f"{OWN} and d.draft_id = any(:draft_ids)")


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
    before_at, before_id = before or (None, None)
    names = {
        "org_id": org_id,
        "user_id": author_id,
        "project_id": project_id,
        "status": status,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    return [row_of(DraftRow, row) for row in connection.execute(LIST, names).mappings()]


def own_drafts(
    connection: Connection, org_id: OrganizationId, author_id: UserId, draft_ids: Collection[DraftId]
) -> dict[DraftId, DraftRow]:
    """Those of the Drafts that the user has made and may still see, unlocked."""
    names = {"org_id": org_id, "user_id": author_id, "draft_ids": list(draft_ids)}
    rows = connection.execute(AMONG, names).mappings()
    return {row["draft_id"]: row_of(DraftRow, row) for row in rows}
