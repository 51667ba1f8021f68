"""Organizations: made whole, with their coordination row, owner and owner's token (tenancy.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import orjson
from pydantic import JsonValue
from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import OrganizationId, UserId, new_organization_id, new_user_id
from models.rules.roles import GlobalWrite, Permission
from models.store.audit import record_audit
from models.store.events import append_event
from models.store.owned_paths import PathOwnersEntry
from models.store.review_timers import settle_timers
from models.store.tokens import IssuedToken, issue_token
from models.store.transaction import Transaction
from models.store.users import UserRow, add_user

OWNER_TOKEN_NAME = "owner"  # noqa: S105  (a name people see)


@dataclass(frozen=True, slots=True)
class OrganizationRow:
    """An organization and its policies."""

    org_id: OrganizationId
    name: str
    required_approvals: int
    allow_self_approval: bool
    path_owners: list[PathOwnersEntry]
    review_reminder_after: int | None
    review_expires_after: int | None
    global_write: GlobalWrite
    version: int
    created_at: datetime
    updated_at: datetime


CHANGEABLE = (
    "name",
    "required_approvals",
    "allow_self_approval",
    "path_owners",
    "review_reminder_after",
    "review_expires_after",
    "global_write",
)


@dataclass(frozen=True, slots=True)
class NewOrganization:
    """A new organization with the people and the credential that open it."""

    organization: OrganizationRow
    owner: UserRow
    token: IssuedToken


COLUMNS = """org_id, name, required_approvals, allow_self_approval, path_owners, review_reminder_after,
    review_expires_after, global_write, version, created_at, updated_at"""
READ = text(f"select {COLUMNS} from organizations where org_id = :org_id")  # noqa: S608  (a constant of ours)
CHANGE = text(f"""
    update organizations
    set name = :name, required_approvals = :required_approvals, allow_self_approval = :allow_self_approval,
        path_owners = cast(:path_owners as jsonb), review_reminder_after = :review_reminder_after,
        review_expires_after = :review_expires_after, global_write = :global_write, version = version + 1,
        updated_at = :now
    where org_id = :org_id returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)
UNKNOWN_USERS = text("""
    select n.user_id from unnest(cast(:user_ids as text[])) as n(user_id)
    where not exists (select from users u where u.org_id = :org_id and u.user_id = n.user_id)
    order by 1 limit 1
""")


def create_organization(
    connection: Connection,
    *,
    name: str,
    owner_name: str,
    owner_email: str | None,
    permissions: list[Permission],
    request_id: str,
    actor_id: UserId | None = None,
    global_write: GlobalWrite = "member",
) -> NewOrganization:
    """Make an organization that its owner can use at once.

    Args:
        connection: in a transaction of the caller.
        name: a tidy name; organizations may share one.
        owner_name: of its first user.
        owner_email: of its first user.
        permissions: of the owner's token.
        request_id: for the audit trail.
        actor_id: who asked for it; None for the owner, at the first start.
        global_write: who may write its global memories, as `memory.global_write` says of new organizations.
    """
    org_id, owner_id = new_organization_id(), new_user_id()
    tx = Transaction(connection, org_id, actor_id or owner_id, request_id)
    _insert(tx, name, global_write)
    owner = add_user(tx, name=owner_name, email=owner_email, role="owner", user_id=owner_id)
    token = issue_token(tx, user_id=owner_id, name=OWNER_TOKEN_NAME, permissions=permissions, expires_at=None)
    return NewOrganization(read_organization(connection, org_id), owner, token)


def read_organization(connection: Connection, org_id: OrganizationId) -> OrganizationRow:
    """An organization.

    Raises:
        NotFound: there is none with this id.
    """
    row = connection.execute(READ, {"org_id": org_id}).one_or_none()
    if row is None:
        raise NotFound("There is no such organization.")
    return OrganizationRow(*row)


def change_organization(tx: Transaction, before: OrganizationRow, after: OrganizationRow) -> OrganizationRow:
    """Give an organization another name or policy; equal values change nothing. Call it under the coordination row.

    Reminders and expiries of its Reviews move with the policy.

    Raises:
        NotFound: a path owner is no user of the organization.
    """
    changed: list[JsonValue] = [name for name in CHANGEABLE if getattr(before, name) != getattr(after, name)]
    if not changed:
        return before
    _require_users(tx, after.path_owners)
    values = {name: getattr(after, name) for name in CHANGEABLE}
    values |= {"org_id": tx.org_id, "now": tx.now, "path_owners": orjson.dumps(after.path_owners).decode()}
    row = OrganizationRow(*tx.connection.execute(CHANGE, values).one())
    if {"review_reminder_after", "review_expires_after"}.intersection(map(str, changed)):
        settle_timers(tx)
    record_audit(tx, "organization.update", "organization", tx.org_id, detail={"changed": changed})
    append_event(tx, "organization.updated", "organization", tx.org_id, version=row.version)
    return row


def forget_path_owner(tx: Transaction, user_id: UserId) -> None:
    """Take a user who goes out of the policy, under the coordination row.

    A glob that is left without users stays, and lets nothing be published until the policy names somebody.
    """
    before = read_organization(tx.connection, tx.org_id)
    left = [
        PathOwnersEntry(glob=entry["glob"], users=[user for user in entry["users"] if user != user_id])
        for entry in before.path_owners
    ]
    change_organization(tx, before, replace(before, path_owners=left))


def _require_users(tx: Transaction, path_owners: Sequence[PathOwnersEntry]) -> None:
    names = {"org_id": tx.org_id, "user_ids": sorted({user for entry in path_owners for user in entry["users"]})}
    unknown = tx.connection.execute(UNKNOWN_USERS, names).scalar_one_or_none()
    if unknown is not None:
        raise NotFound("There is no such user.", user_id=unknown)


def _insert(tx: Transaction, name: str, global_write: GlobalWrite) -> None:
    names = {"org_id": tx.org_id, "name": name, "global_write": global_write, "now": tx.now}
    tx.connection.execute(
        text("""
            insert into organizations (org_id, name, global_write, version, created_at, updated_at)
            values (:org_id, :name, :global_write, 1, :now, :now)
        """),
        names,
    )
    tx.connection.execute(
        text("insert into organization_refs (org_id, version, updated_at) values (:org_id, 0, :now)"), names
    )
    record_audit(tx, "organization.create", "organization", tx.org_id)
