"""Members of projects and their roles (tenancy.md). Changes are made under the coordination row."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.errors import AlreadyExists, NotFound
from models.identifiers import OrganizationId, ProjectId, UserId
from models.rules.roles import ProjectRole
from models.store.audit import record_audit
from models.store.events import append_event
from models.store.locks import lock_access
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member of a project."""

    project_id: ProjectId
    user_id: UserId
    name: str
    role: ProjectRole
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class MembershipRow:
    """A project a user is a member of."""

    project_id: ProjectId
    name: str
    role: ProjectRole


READ = text("""
    select m.project_id, m.user_id, u.name, m.role, m.created_at, m.updated_at
    from project_members m join users u on u.org_id = m.org_id and u.user_id = m.user_id
    where m.org_id = :org_id and m.project_id = :project_id and m.user_id = :user_id
""")
LIST = text("""
    select m.project_id, m.user_id, u.name, m.role, m.created_at, m.updated_at
    from project_members m join users u on u.org_id = m.org_id and u.user_id = m.user_id
    where m.org_id = :org_id and m.project_id = :project_id
      and (cast(:name as text) is null or (u.name collate "C", m.user_id) > (:name, :user_id))
    order by u.name collate "C", m.user_id limit :limit
""")
MEMBERSHIPS = text("""
    select m.project_id, p.name, m.role
    from project_members m join projects p on p.org_id = m.org_id and p.project_id = m.project_id
    where m.org_id = :org_id and m.user_id = :user_id and p.state <> 'deleted'
    order by p.name collate "C", m.project_id
""")


def read_member(connection: Connection, org_id: OrganizationId, project_id: ProjectId, user_id: UserId) -> MemberRow:
    """A member.

    Raises:
        NotFound: the user is not a member of the project.
    """
    row = connection.execute(READ, {"org_id": org_id, "project_id": project_id, "user_id": user_id}).one_or_none()
    if row is None:
        raise NotFound("There is no such member.")
    return MemberRow(*row)


def list_members(
    connection: Connection,
    org_id: OrganizationId,
    project_id: ProjectId,
    *,
    after: tuple[str, str] | None,
    limit: int,
) -> list[MemberRow]:
    """The members of a project by name, those after the given name and id."""
    name, user_id = after or (None, None)
    names = {"org_id": org_id, "project_id": project_id, "name": name, "user_id": user_id, "limit": limit}
    return [MemberRow(*row) for row in connection.execute(LIST, names)]


def memberships(connection: Connection, org_id: OrganizationId, user_id: UserId) -> list[MembershipRow]:
    """The projects a user is a member of, by name."""
    rows = connection.execute(MEMBERSHIPS, {"org_id": org_id, "user_id": user_id})
    return [MembershipRow(*row) for row in rows]


def add_member(tx: Transaction, project_id: ProjectId, user_id: UserId, role: ProjectRole) -> MemberRow:
    """Make a user of the organization a member.

    Raises:
        NotFound: the organization has no such user.
        AlreadyExists: the user is a member already.
    """
    lock_access(tx.connection, tx.org_id, project_id)
    names = {"org_id": tx.org_id, "project_id": project_id, "user_id": user_id, "role": role, "now": tx.now}
    there = text("select 1 from users where org_id = :org_id and user_id = :user_id")
    if tx.connection.execute(there, names).one_or_none() is None:
        raise NotFound("There is no such user.")
    added = tx.connection.execute(
        text("""
            insert into project_members (org_id, project_id, user_id, role, created_at, updated_at)
            values (:org_id, :project_id, :user_id, :role, :now, :now)
            on conflict do nothing returning user_id
        """),
        names,
    ).one_or_none()
    if added is None:
        raise AlreadyExists("The user is a member already.", user_id=user_id)
    _record(tx, "member.add", "project.member_added", project_id, user_id, role)
    return read_member(tx.connection, tx.org_id, project_id, user_id)


def change_member(tx: Transaction, member: MemberRow, role: ProjectRole) -> MemberRow:
    """Give a member another role; the same role changes nothing."""
    if member.role == role:
        return member
    lock_access(tx.connection, tx.org_id, member.project_id)
    tx.connection.execute(
        text("""
            update project_members set role = :role, updated_at = :now
            where org_id = :org_id and project_id = :project_id and user_id = :user_id
        """),
        {
            "org_id": tx.org_id,
            "project_id": member.project_id,
            "user_id": member.user_id,
            "role": role,
            "now": tx.now,
        },
    )
    _record(tx, "member.update", "project.member_changed", member.project_id, member.user_id, role)
    return read_member(tx.connection, tx.org_id, member.project_id, member.user_id)


def remove_member(tx: Transaction, member: MemberRow) -> None:
    """End a membership; open Drafts of the user there are hidden until return."""
    lock_access(tx.connection, tx.org_id, member.project_id)
    tx.connection.execute(
        text("""
            delete from project_members
            where org_id = :org_id and project_id = :project_id and user_id = :user_id
        """),
        {"org_id": tx.org_id, "project_id": member.project_id, "user_id": member.user_id},
    )
    _record(tx, "member.remove", "project.member_removed", member.project_id, member.user_id, member.role)


def _record(
    tx: Transaction, action: str, event: str, project_id: ProjectId, user_id: UserId, role: ProjectRole
) -> None:
    record_audit(tx, action, "project", project_id, detail={"user_id": user_id, "role": role})
    append_event(tx, event, "project", project_id, project_id=project_id)
