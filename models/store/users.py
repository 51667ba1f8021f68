"""People and agents' accounts of an organization (tenancy.md)."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, text

from models.errors import AlreadyExists, LastOwner, NotFound
from models.identifiers import OrganizationId, UserId, new_user_id
from models.rules.roles import OrgRole
from models.store.audit import record_audit
from models.store.clearing import clear_user
from models.store.events import append_event
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class UserRow:
    """A user."""

    user_id: UserId
    name: str
    email: str | None
    role: OrgRole
    version: int
    created_at: datetime
    updated_at: datetime


INSERT = text("""
    insert into users (org_id, user_id, name, email, role, version, created_at, updated_at)
    values (:org_id, :user_id, :name, :email, :role, 1, :now, :now)
    on conflict do nothing
    returning user_id, name, email, role, version, created_at, updated_at
""")
READ = text("""
    select user_id, name, email, role, version, created_at, updated_at from users
    where org_id = :org_id and user_id = :user_id
""")
LIST = text("""
    select user_id, name, email, role, version, created_at, updated_at from users
    where org_id = :org_id and user_id < coalesce(:before, '~')
    order by user_id desc limit :limit
""")
EMAIL_TAKEN = text("""
    select 1 from users where org_id = :org_id and lower(email) = lower(:email) and user_id <> :user_id
""")
UPDATE = text("""
    update users set name = :name, email = :email, role = :role, version = version + 1, updated_at = :now
    where org_id = :org_id and user_id = :user_id
    returning user_id, name, email, role, version, created_at, updated_at
""")
OWNERS = text("select count(*) from users where org_id = :org_id and role = 'owner'")


def add_user(tx: Transaction, *, name: str, email: str | None, role: OrgRole, user_id: UserId | None = None) -> UserRow:
    """Add a user.

    Raises:
        AlreadyExists: another user of the organization has the email address.
    """
    values = {"org_id": tx.org_id, "user_id": user_id or new_user_id(), "name": name, "email": email, "role": role}
    row = tx.connection.execute(INSERT, {**values, "now": tx.now}).one_or_none()
    if row is None:
        raise AlreadyExists("Another user has this email address.", field="email")
    user = UserRow(*row)
    record_audit(tx, "user.create", "user", user.user_id, detail={"role": role})
    append_event(tx, "user.created", "user", user.user_id, version=user.version)
    return user


def read_user(connection: Connection, org_id: OrganizationId, user_id: UserId) -> UserRow:
    """A user.

    Raises:
        NotFound: the organization has no such user.
    """
    row = connection.execute(READ, {"org_id": org_id, "user_id": user_id}).one_or_none()
    if row is None:
        raise NotFound("There is no such user.")
    return UserRow(*row)


def list_users(connection: Connection, org_id: OrganizationId, *, before: str | None, limit: int) -> list[UserRow]:
    """The users of an organization, newest first, those older than `before`."""
    rows = connection.execute(LIST, {"org_id": org_id, "before": before, "limit": limit})
    return [UserRow(*row) for row in rows]


def change_user(tx: Transaction, before: UserRow, *, name: str, email: str | None, role: OrgRole) -> UserRow:
    """Change a user, under the coordination row; equal values change nothing.

    Raises:
        AlreadyExists: another user of the organization has the email address.
        LastOwner: the organization's only owner would be lowered.
    """
    changed: list[JsonValue] = [
        field
        for field, old, new in (
            ("name", before.name, name),
            ("email", before.email, email),
            ("role", before.role, role),
        )
        if old != new
    ]
    if not changed:
        return before
    names = {"org_id": tx.org_id, "user_id": before.user_id, "name": name, "email": email, "role": role}
    if email is not None and tx.connection.execute(EMAIL_TAKEN, names).one_or_none() is not None:
        raise AlreadyExists("Another user has this email address.", field="email")
    if before.role == "owner" and role != "owner":
        _require_another_owner(tx)
    user = UserRow(*tx.connection.execute(UPDATE, {**names, "now": tx.now}).one())
    record_audit(tx, "user.update", "user", user.user_id, detail={"changed": changed, "role": role})
    append_event(tx, "user.updated", "user", user.user_id, version=user.version)
    return user


def remove_user(tx: Transaction, user: UserRow) -> None:
    """Remove a user with all that belongs to the user, under the coordination row, after the user's work is closed.

    Raises:
        LastOwner: the organization's only owner would go.
    """
    if user.role == "owner":
        _require_another_owner(tx)
    clear_user(tx, user.user_id)
    names = {"org_id": tx.org_id, "user_id": user.user_id}
    tx.connection.execute(text("delete from users where org_id = :org_id and user_id = :user_id"), names)
    record_audit(tx, "user.delete", "user", user.user_id, detail={"role": user.role})
    append_event(tx, "user.deleted", "user", user.user_id)


def _require_another_owner(tx: Transaction) -> None:
    if tx.connection.execute(OWNERS, {"org_id": tx.org_id}).scalar_one() <= 1:
        raise LastOwner("An organization keeps at least one owner.")
