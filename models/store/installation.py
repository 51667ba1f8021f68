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
class Backlog:
    """What was accepted and has no outcome yet, of all organizations; ages in seconds, 0 where nothing waits."""

    pending: int
    oldest_s: float
    due: int
    overdue_s: float
    refreshes: int
    lanes: int
    longest_lane: int
    gone_wrong: int


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """The server, its clock, and how much of it is in use; `size` is this database's, in bytes."""

    version: str
    now: datetime
    size: int
    max_connections: int
    connections: int


@dataclass(frozen=True, slots=True)
class Session:
    """A connection to the database; `open_s` is how long its transaction has been open, None without one."""

    pid: int
    application: str
    open_s: float | None
    holds_feed: bool


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
# The last number is of operations that ended within a day for a reason that is ours.
BACKLOG = text("""
    with unfinished as (
        select org_id, kind, created_at, next_delivery_at from operations where status in ('pending', 'running')
    ),
    lanes as (
        select org_id, count(*) as merges from unfinished where kind = 'review.merge' group by org_id
    )
    select (select count(*) from unfinished),
           (select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from unfinished),
           (select count(*) from unfinished where next_delivery_at <= clock_timestamp()),
           (select greatest(coalesce(extract(epoch from clock_timestamp() - min(next_delivery_at)), 0), 0)
            from unfinished),
           (select count(*) from reviews where refresh_pending or next_timer_at <= clock_timestamp()),
           (select count(*) from lanes), (select coalesce(max(merges), 0) from lanes),
           (select count(*) from operations
            where status = 'failed' and problem ->> 'code' = 'internal_error'
              and updated_at > clock_timestamp() - interval '1 day')
""")
SESSIONS = text("""
    select pid, application_name, extract(epoch from clock_timestamp() - xact_start), backend_xid is not null
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    order by xact_start nulls last
""")
SERVER = text("""
    select current_setting('server_version'), clock_timestamp(), pg_database_size(current_database()),
           cast(current_setting('max_connections') as integer), (select count(*) from pg_stat_activity
           where backend_type = 'client backend')
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


def backlog(connection: Connection) -> Backlog:
    """What waits to be done."""
    row = connection.execute(BACKLOG).one()
    return Backlog(row[0], float(row[1]), row[2], float(row[3]), *row[4:])


def sessions(connection: Connection) -> list[Session]:
    """Who else is connected to this database, the longest transaction first."""
    return [
        Session(pid, application, None if open_s is None else float(open_s), holds_feed)
        for pid, application, open_s, holds_feed in connection.execute(SESSIONS)
    ]


def database_server(connection: Connection) -> DatabaseServer:
    """The server that answers."""
    return DatabaseServer(*connection.execute(SERVER).one())


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
