"""Connections: one engine a process, sized by settings, with the time-outs that keep every transaction short."""

import psycopg
from psycopg import Connection
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from models.settings import Settings

# By these names the database shows our processes, and `canonry doctor` tells them apart.
API, WORKER, COMMAND = "canonry-api", "canonry-worker", "canonry-command"

RECYCLE_S = 1_800  # connections are renewed every half hour, so that none outlives a fail-over for long
TRANSACTION_TIMEOUT_SINCE = 17_00_00  # PostgreSQL 17, as the server numbers itself; older ones refuse the option


def sqlalchemy_url(url: str) -> URL:
    """A PostgreSQL URL as operators write it, with the driver that Canonry uses."""
    return make_url(url).set(drivername="postgresql+psycopg")


def libpq_url(url: str) -> str:
    """The same URL for psycopg itself."""
    rendered = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    place, mark, options = rendered.partition("?")
    # SQLAlchemy writes a space as it is, or as a plus among the options; libpq takes neither for a space.
    return f"{place.replace(' ', '%20')}{mark}{options.replace('+', '%20')}"


def build_engine(url: str, settings: Settings, *, pool_size: int, application_name: str) -> Engine:
    """A pool of at most `pool_size` connections; callers beyond it wait for one.

    Every connection carries the lock, statement and transaction time-outs of the settings. The last one bounds the
    change feed's lag, however busy a transaction is, and exists from PostgreSQL 17 on; on older servers it ends idle
    transactions alone.
    """
    engine = create_engine(
        sqlalchemy_url(url),
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_pre_ping=True,
        # The connection last used again, not each in turn: it has the statements prepared, the others age out of use. A
        # lane of one thread that went round ten connections published at half the speed (measured).
        pool_use_lifo=True,
        pool_recycle=RECYCLE_S,
        # Not as an execution option: it would win over that of the engines that are made of this one for snapshots.
        isolation_level="READ COMMITTED",
        hide_parameters=True,  # an error's text may reach a log, and parameters hold contents
        connect_args={"application_name": application_name, "options": _options(settings), "connect_timeout": 5},
    )
    _bound_transactions(engine, settings.transaction_timeout_ms)
    return engine


def connect(url: str, settings: Settings, *, application_name: str) -> Connection:
    """One connection of psycopg's own, with the same time-outs, that commits each statement.

    Raises:
        psycopg.OperationalError: the database does not answer.
    """
    connection = psycopg.connect(
        libpq_url(url),
        autocommit=True,
        application_name=application_name,
        options=_options(settings),
        connect_timeout=5,
    )
    _bound(connection, settings.transaction_timeout_ms)
    return connection


def _bound_transactions(engine: Engine, timeout_ms: int) -> None:
    """Have every new connection's server end its long transactions."""

    def bound(connection: Connection, _: ConnectionPoolEntry) -> None:
        _bound(connection, timeout_ms)
        connection.commit()

    event.listen(engine, "connect", bound)


def _bound(connection: Connection, timeout_ms: int) -> None:
    """Only a server that is there says if it can end long transactions."""
    if connection.info.server_version >= TRANSACTION_TIMEOUT_SINCE:
        connection.execute(f"set transaction_timeout = {timeout_ms:d}")


def _options(settings: Settings) -> str:
    timeouts = {
        "lock_timeout": settings.lock_timeout_ms,
        "statement_timeout": settings.statement_timeout_ms,
        "idle_in_transaction_session_timeout": settings.transaction_timeout_ms,
    }
    return " ".join([*(f"-c {name}={value}" for name, value in timeouts.items()), "-c timezone=UTC"])
