"""The first start on an empty database (tenancy.md)."""

from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, UserId
from models.rules.roles import PERMISSIONS, GlobalWrite
from models.store.organizations import create_organization

ORGANIZATION_NAME, OWNER_NAME = "Canonry", "Owner"
REQUEST_ID = "first-start"

# Any number will do, as long as every Canonry process uses the same: one first start at a time.
FIRST_START_LOCK = 0x66697273


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What the first start made; `secret` is the only copy of the owner token's."""

    org_id: OrganizationId
    owner_id: UserId
    secret: str


def first_start(connection: Connection, *, global_write: GlobalWrite = "member") -> FirstStart | None:
    """Make the first organization, its owner and a token with all permissions; None when there is an organization.

    Runs in the caller's transaction; of several that start together one makes it, the others wait and get None.
    """
    connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": FIRST_START_LOCK})
    if connection.execute(text("select 1 from organizations limit 1")).one_or_none() is not None:
        return None
    made = create_organization(
        connection,
        name=ORGANIZATION_NAME,
        owner_name=OWNER_NAME,
        owner_email=None,
        permissions=[*PERMISSIONS],
        request_id=REQUEST_ID,
        global_write=global_write,
    )
    return FirstStart(made.organization.org_id, made.owner.user_id, made.token.secret)
