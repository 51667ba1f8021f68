"""The Reviews that a user may read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, TextClause, text

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

# What a path owner may read is found by matching every path of a Review, so that a page looks through so many at most.
LOOKED_THROUGH = 500

LISTED = """
    r.org_id = :org_id
    and (cast(:project_id as text) is null or r.project_id = :project_id)
    and (cast(:status as text) is null or r.status = :status)
    and (cast(:before_at as timestamptz) is null or (r.created_at, r.review_id) < (:before_at, :before_id))
"""
NEWEST_FIRST = "order by r.created_at desc, r.review_id desc"
LIST = text(f"select r.* from reviews r where {LISTED} and {READABLE} {NEWEST_FIRST} limit :limit")  # noqa: S608  (constants of ours)
LAST = text(f"""
    select r.created_at, r.review_id from reviews r where {LISTED} {NEWEST_FIRST} offset :looked_through - 1 limit 1
""")  # noqa: S608  (constants of ours)
# From the order to the paths: what a page has room for is matched, and no Review more.
LIST_OWNED = text(f"""
    select r.* from (
        select r.* from reviews r
        where {LISTED} and (cast(:last_at as timestamptz) is null
                            or (r.created_at, r.review_id) >= (:last_at, :last_id))
        {NEWEST_FIRST} limit :looked_through
    ) r
    where {READABLE} or {TOUCHES}
    {NEWEST_FIRST} limit :limit
""")  # noqa: S608  (constants of ours)
"""The same for a path owner, who also reads the Reviews that touch paths of the expression `:owned`."""


@dataclass(frozen=True, slots=True)
class ListedReviews:
    """Reviews, and the last that was looked at where more may follow although these are fewer than were asked for."""

    rows: Sequence[ReviewRow]
    looked_up_to: tuple[datetime, str] | None = None


def list_reviews(
    connection: Connection,
    org_id: OrganizationId,
    user_id: UserId,
    *,
    project_id: ProjectId | None,
    status: str | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> ListedReviews:
    """Reviews of the projects that the user may read, newest first; those of deleted ones for owners and admins.

    A path owner also gets those that touch the owner's paths, of a bounded number that are looked through.

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
    if owned is None:
        return ListedReviews(_rows(connection, LIST, names))
    names |= {"owned": owned, "looked_through": LOOKED_THROUGH}
    last = connection.execute(LAST, names).one_or_none()
    last_at, last_id = last or (None, None)
    rows = _rows(connection, LIST_OWNED, names | {"last_at": last_at, "last_id": last_id})
    return ListedReviews(rows, None if last is None or len(rows) == limit else (last.created_at, last.review_id))


def _rows(connection: Connection, statement: TextClause, names: Mapping[str, object]) -> list[ReviewRow]:
    return [row_of(ReviewRow, row) for row in connection.execute(statement, names).mappings()]
