"""What is asked of the embedded PostgreSQL: whether it answers, and that the application's database is there."""

# ruff: noqa: PLC0415  (the client library loads while the servers start)

import os
import re
from pathlib import Path
from urllib.parse import quote

from canonry.embedded.cluster import ROLE, SUPERUSER
from canonry.failures import StartFailed

CONNECT_LIMIT_S = 5
PASSING = re.compile("the database system is |too many clients|connection slots|terminating connection")
"""What a server says while it starts, stops or has no room."""


def forget_client_settings() -> None:
    """Take the user's `PG…` variables from this process, and so from its children: they are meant for another server.

    Call it where the server is the embedded one: a service, a port or options of theirs would change where we connect.
    """
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]


def url_of(sockets: Path, role: str, database: str) -> str:
    """Where a database is, for a role."""
    return f"postgresql://{role}@/{database}?host={quote(str(sockets), safe='')}"


def complaint_of(sockets: Path, role: str, database: str) -> str | None:
    """Why a real query is not answered now, None when it is."""
    import psycopg

    try:
        with psycopg.connect(url_of(sockets, role, database), connect_timeout=CONNECT_LIMIT_S) as connection:
            connection.execute("select 1")
    except psycopg.OperationalError as error:
        return str(error)
    return None


def is_final(complaint: str) -> bool:
    """Whether a server that is up refuses for a reason that waiting does not mend, such as a database that is gone."""
    return "FATAL:" in complaint and PASSING.search(complaint) is None


def ensure_database(sockets: Path) -> None:
    """Make the role and the database `canonry` where they are missing: again after a start that was cut short.

    Raises:
        StartFailed: the server refuses.
    """
    import psycopg

    try:
        with psycopg.connect(url_of(sockets, SUPERUSER, SUPERUSER), autocommit=True) as connection:
            if connection.execute("select from pg_roles where rolname = %s", [ROLE]).fetchone() is None:
                connection.execute(f"create role {ROLE} login createdb")
            if connection.execute("select from pg_database where datname = %s", [ROLE]).fetchone() is None:
                connection.execute(f"create database {ROLE} owner {ROLE}")
    except psycopg.Error as error:
        raise StartFailed(f"PostgreSQL cannot make its database: {error}") from error


def has_schema_and_organization(database_url: str) -> bool:
    """Whether the database has this code's schema and an organization; False for one that does not answer."""
    import psycopg

    from models.migrations import includes_all

    try:
        with psycopg.connect(database_url, connect_timeout=CONNECT_LIMIT_S) as connection:
            applied = connection.execute("select version_num from alembic_version").fetchall()
            somebody = connection.execute("select 1 from organizations limit 1").fetchone()
    except psycopg.Error:
        return False
    return somebody is not None and includes_all([revision for (revision,) in applied])
