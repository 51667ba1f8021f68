"""The Reviews that a user may read."""

from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, ProjectId, UserId
from models.store.access import READABLE_PROJECTS_EVER
from models.store.locks import ReviewRow, row_of
from models.store.owned_paths import TOUCHED_KEYS, owned_pattern

READABLE = f"r.project_id in ({READABLE_PROJECTS_EVER})"
TOUCHES = f"""
    exists (select from ({TOUCHED_KEYS}) as touched where touched.path_key ~ :owned)
    and exists (
        select from projects p
        where p.org_id = :org_id and p.project_id = r.project_id and p.state <> 'deleted'
    )
"""  # noqa: S608  (a constant of ours)

SELECTED = """
    select r.* from reviews r
    where r.org_id = :org_id and ({readable})
      and (cast(:project_id as text) is null or r.project_id = :project_id)
      and (cast(:status as text) is null or r.status = :status)
      and (cast(:before_at as timestamptz) is null or (r.created_at, r.review_id) < (:before_at, :before_id))
    order by r.created_at desc, r.review_id desc limit :limit
"""
LIST = text(SELECTED.replace("{readable}", READABLE))
LIST_OWNED = text(SELECTED.replace("{readable}", f"{READABLE} or {TOUCHES}"))
"""The same for a path owner, who also reads the Reviews that touch paths of the expression `:owned`."""


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

    A path owner also gets those that touch the owner's paths.

    Args:
        connection: a read connection.
        org_id: the organization.
        user_id: who asks.
        project_id: only of this project.
        status: only with this status.
        before: continue below this (created_at, review_id).
        limit: at most so many.
    """
    before_at, before_id = before or (None, None)
    names = {
        "org_id": org_id,
        "user_id": user_id,
        "project_id": project_id,
        "status": status,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    owned = owned_pattern(connection, org_id, user_id)
    statement = LIST if owned is None else LIST_OWNED
    names |= {} if owned is None else {"owned": owned}
    return [row_of(ReviewRow, row) for row in connection.execute(statement, names).mappings()]
