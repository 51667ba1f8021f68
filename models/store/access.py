"""Who may see and do what: roles are read live, every time (publication.md §7).

`READABLE_PROJECTS` is the one visibility rule; lists select through it, and `require_project` answers for one project.
A Review that touches paths of a user is readable besides (`require_review`). Called under the coordination row, the
answer cannot change before COMMIT.
"""

from dataclasses import dataclass, replace
from typing import cast

from sqlalchemy import Connection, text

from models.errors import Forbidden, NotFound, ProjectArchived
from models.identifiers import OrganizationId, ProjectId, UserId
from models.rules.roles import ADMINISTRATORS as ADMINISTRATORS  # noqa: PLC0414  (asked for beside `org_role`)
from models.rules.roles import OrgRole, ProjectRole, ProjectState
from models.store.locks import ReviewRow
from models.store.owned_paths import owns_touched_path


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """What one user may do in one project now; `owns_paths` of somebody who got there as a path owner of a Review."""

    project_id: ProjectId
    state: ProjectState
    org_role: OrgRole
    project_role: ProjectRole | None
    owns_paths: bool = False

    @property
    def administers(self) -> bool:
        """Owner or admin of the organization: approves, rejects, merges."""
        return self.org_role in ADMINISTRATORS

    @property
    def may_read(self) -> bool:
        """Any member, viewers included, and owners and admins; a deleted project owners and admins only."""
        return self.administers or ((self.project_role is not None or self.owns_paths) and self.state != "deleted")

    @property
    def may_write(self) -> bool:
        """Proposes, comments, submits."""
        return self.administers or self.project_role in ("admin", "member")

    @property
    def may_manage(self) -> bool:
        """Changes members, selection and the project itself."""
        return self.administers or self.project_role == "admin"

    def require_write(self) -> None:
        """Raise Forbidden unless the user may propose here."""
        if not self.may_write:
            raise Forbidden("Viewers do not write to this project.")

    def require_manage(self) -> None:
        """Raise Forbidden unless the user manages the project."""
        if not self.may_manage:
            raise Forbidden("Only the project's admins, owners and admins may do this.")

    def require_administrator(self) -> None:
        """Raise Forbidden unless the user is owner or admin of the organization."""
        if not self.administers:
            raise Forbidden("Only owners and admins may do this.")

    def require_active(self) -> None:
        """Raise ProjectArchived when the project takes no writes, archived or deleted."""
        if self.state != "active":
            raise ProjectArchived(f"The project is {self.state}.", project_id=self.project_id)


ORG_ROLE = text("select role from users where org_id = :org_id and user_id = :user_id")
PROJECT_ACCESS = text("""
    select p.project_id, p.state, u.role, m.role
    from projects p
    join users u on u.org_id = p.org_id and u.user_id = :user_id
    left join project_members m on m.org_id = p.org_id and m.project_id = p.project_id and m.user_id = u.user_id
    where p.org_id = :org_id and p.project_id = :project_id
""")

ADMINISTERS = """
    exists (select from users u where u.org_id = :org_id and u.user_id = :user_id and u.role in ('owner', 'admin'))
"""
BELONGS = """
    exists (
        select from project_members m
        where m.org_id = :org_id and m.project_id = p.project_id and m.user_id = :user_id
    )
"""

READABLE_PROJECTS = f"""
    select p.project_id from projects p
    where p.org_id = :org_id and p.state <> 'deleted' and ({ADMINISTERS} or {BELONGS})
"""  # noqa: S608  (constants of ours)
"""The ids of the projects that the user `:user_id` may read now, for `project_id in (…)`."""

READABLE_PROJECTS_EVER = f"""
    select p.project_id from projects p
    where p.org_id = :org_id and ({ADMINISTERS} or (p.state <> 'deleted' and {BELONGS}))
"""  # noqa: S608  (constants of ours)
"""The same with deleted projects for owners and admins, who go on reading what belonged to them."""


def org_role(connection: Connection, org_id: OrganizationId, user_id: UserId) -> OrgRole | None:
    """The user's role in the organization now; None for somebody who is not, or no longer, in it."""
    role = connection.execute(ORG_ROLE, {"org_id": org_id, "user_id": user_id}).scalar_one_or_none()
    return cast("OrgRole | None", role)


def require_project(
    connection: Connection,
    org_id: OrganizationId,
    user_id: UserId,
    project_id: ProjectId,
    *,
    include_deleted: bool = False,
    asked_for: str = "project",
) -> ProjectAccess:
    """What the user may do in the project.

    Args:
        connection: any connection; roles and state are read on it.
        org_id: the user's organization.
        user_id: who asks.
        project_id: about which project.
        include_deleted: whether owners and admins get at a deleted one too (its Reviews stay readable by them).
        asked_for: what the request named, if only that led to the project: a refusal speaks of nothing else.

    Raises:
        NotFound: no such project here, or the user may not know of it.
    """
    access = _access(connection, org_id, user_id, project_id)
    if access is None or not access.may_read or (access.state == "deleted" and not include_deleted):
        raise NotFound(f"There is no such {asked_for}.")
    return access


def require_attachable(connection: Connection, org_id: OrganizationId, user_id: UserId, project_id: ProjectId) -> None:
    """Refuse a project that sessions of the user would read nothing of; an archived one may come back.

    Raises:
        NotFound: there is no such project, or the user is no member of it; owners and admins are asked the same.
    """
    access = _access(connection, org_id, user_id, project_id)
    if access is None or access.project_role is None or access.state == "deleted":
        raise NotFound("There is no such project.", project_id=project_id)


def require_review(connection: Connection, user_id: UserId, review: ReviewRow) -> ProjectAccess:
    """What the user may do in a Review's project; path owners read the Review whatever their project role.

    Owners and admins get at one of a deleted project too.

    Raises:
        NotFound: the user may not know of the Review.
    """
    access = _access(connection, review.org_id, user_id, review.project_id)
    if access is not None and not access.may_read:
        access = replace(access, owns_paths=owns_touched_path(connection, review.org_id, user_id, review.review_id))
    if access is None or not access.may_read:
        raise NotFound("There is no such Review.")
    return access


def _access(
    connection: Connection, org_id: OrganizationId, user_id: UserId, project_id: ProjectId
) -> ProjectAccess | None:
    names = {"org_id": org_id, "user_id": user_id, "project_id": project_id}
    row = connection.execute(PROJECT_ACCESS, names).one_or_none()
    return None if row is None else ProjectAccess(*row)
