"""Organizations: made whole, with their coordination row, owner and owner's token (tenancy.md)."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import OrganizationId, UserId, new_organization_id, new_user_id
from models.rules.roles import Permission
from models.store.audit import record_audit
from models.store.events import append_event
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
    path_owners: list[dict[str, JsonValue]]
    review_reminder_after: int | None
    review_expires_after: int | None
    global_write: str
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewOrganization:
    """A new organization with the people and the credential that open it."""

    organization: OrganizationRow
    owner: UserRow
    token: IssuedToken


COLUMNS = """org_id, name, required_approvals, allow_self_approval, path_owners, review_reminder_after,
    review_expires_after, global_write, version, created_at, updated_at"""
READ = text(f"select {COLUMNS} from organizations where org_id = :org_id")  # noqa: S608  (a constant of ours)
RENAME = text(f"""
    update organizations set name = :name, version = version + 1, updated_at = :now
    where org_id = :org_id returning {COLUMNS}
""")  # noqa: S608  (a constant of ours)


def create_organization(
    connection: Connection,
    *,
    name: str,
    owner_name: str,
    owner_email: str | None,
    permissions: list[Permission],
    request_id: str,
    actor_id: UserId | None = None,
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
    """
    org_id, owner_id = new_organization_id(), new_user_id()
    tx = Transaction(connection, org_id, actor_id or owner_id, request_id)
    _insert(tx, name)
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


def rename_organization(tx: Transaction, before: OrganizationRow, name: str) -> OrganizationRow:
    """Give an organization another name; the same name changes nothing. Call it under the coordination row."""
    if name == before.name:
        return before
    row = tx.connection.execute(RENAME, {"org_id": tx.org_id, "name": name, "now": tx.now}).one()
    after = OrganizationRow(*row)
    record_audit(tx, "organization.update", "organization", tx.org_id, detail={"changed": ["name"]})
    append_event(tx, "organization.updated", "organization", tx.org_id, version=after.version)
    return after


def _insert(tx: Transaction, name: str) -> None:
    names = {"org_id": tx.org_id, "name": name, "now": tx.now}
    tx.connection.execute(
        text("""
            insert into organizations (org_id, name, version, created_at, updated_at)
            values (:org_id, :name, 1, :now, :now)
        """),
        names,
    )
    tx.connection.execute(
        text("insert into organization_refs (org_id, version, updated_at) values (:org_id, 0, :now)"), names
    )
    record_audit(tx, "organization.create", "organization", tx.org_id)
