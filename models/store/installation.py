"""What whoever runs the installation sees across organizations: for commands at the database, never for requests."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId, TokenId, UserId


@dataclass(frozen=True, slots=True)
class Account:
    """A user, and of which organization."""

    org_id: OrganizationId
    organization_name: str
    user_id: UserId
    name: str


@dataclass(frozen=True, slots=True)
class InstalledOrganization:
    """An organization, and how far it has come."""

    org_id: OrganizationId
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class InstalledToken:
    """A token of any organization, without its secret."""

    token_id: TokenId
    account: Account
    name: str
    permissions: list[str]
    expires_at: datetime | None


# From both sides: what lost its row is still an organization, and has to be looked at.
ORGANIZATIONS = text("""
    select coalesce(o.org_id, r.org_id), coalesce(o.name, '(no row)'), coalesce(r.version, 0)
    from organizations o full join organization_refs r on r.org_id = o.org_id
    order by 1
""")
ACCOUNT_COLUMNS = "o.org_id, o.name, u.user_id, u.name"
# Ids sort by creation: the first owner is the one who began the organization, or who has been one for longest.
FIRST_OWNERS = text(f"""
    select distinct on (o.org_id) {ACCOUNT_COLUMNS}
    from organizations o join users u on u.org_id = o.org_id and u.role = 'owner'
    order by o.org_id, u.user_id
""")  # noqa: S608  (our own columns)
ONE_ACCOUNT = text(f"""
    select {ACCOUNT_COLUMNS} from organizations o join users u on u.org_id = o.org_id where u.user_id = :user_id
""")  # noqa: S608  (our own columns)
TOKENS = f"""
    select {ACCOUNT_COLUMNS}, t.token_id, t.name, t.permissions, t.expires_at
    from tokens t
    join users u on u.org_id = t.org_id and u.user_id = t.user_id
    join organizations o on o.org_id = t.org_id
"""  # noqa: S608  (our own columns)
ALL_TOKENS = text(f"{TOKENS} order by o.org_id, t.token_id")
ONE_TOKEN = text(f"{TOKENS} where t.token_id = :token_id")


def organizations(connection: Connection) -> list[InstalledOrganization]:
    """Every organization, oldest first."""
    return [InstalledOrganization(*row) for row in connection.execute(ORGANIZATIONS)]


def first_owners(connection: Connection) -> list[Account]:
    """The first owner of each organization, oldest organization first."""
    return [Account(*row) for row in connection.execute(FIRST_OWNERS)]


def find_account(connection: Connection, user_id: str) -> Account | None:
    """The user of whatever organization, None when there is none."""
    row = connection.execute(ONE_ACCOUNT, {"user_id": user_id}).one_or_none()
    return None if row is None else Account(*row)


def all_tokens(connection: Connection) -> list[InstalledToken]:
    """Every token that has not been revoked, oldest first."""
    return [_token(*row) for row in connection.execute(ALL_TOKENS)]


def find_token(connection: Connection, token_id: str) -> InstalledToken | None:
    """The token of whatever organization, None when there is none, or not any more."""
    row = connection.execute(ONE_TOKEN, {"token_id": token_id}).one_or_none()
    return None if row is None else _token(*row)


def _token(
    org_id: OrganizationId,
    organization: str,
    user_id: UserId,
    user: str,
    token_id: TokenId,
    name: str,
    permissions: list[str],
    expires_at: datetime | None,
) -> InstalledToken:
    return InstalledToken(token_id, Account(org_id, organization, user_id, user), name, permissions, expires_at)
