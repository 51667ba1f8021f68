"""The schema's history: Alembic owns it, and an installed wheel can migrate.

Serving needs neither Alembic nor, to compare revisions, SQLAlchemy: every process would load them at every start.
"""

# ruff: noqa: PLC0415

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Any two numbers will do, as long as every Canonry process uses the same: one migration at a time.
MIGRATION_LOCK = 0x63616E6F

FOLDER = Path(__file__).parent


def upgrade(database_url: str) -> None:
    """Bring the schema up to date; processes that start together wait for each other."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, text
    from sqlalchemy.pool import NullPool

    from models.database import sqlalchemy_url

    configuration = Config()
    configuration.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    engine = create_engine(sqlalchemy_url(database_url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "head")
    engine.dispose()


def is_current(connection: "Connection") -> bool:
    """Whether the database has every migration of this code."""
    return includes_all(applied_revisions(connection))


def applied_revisions(connection: "Connection") -> list[str]:
    """The revisions that the database is at; none where nothing has been migrated."""
    if connection.exec_driver_sql("select to_regclass('alembic_version')").scalar() is None:
        return []
    return list(connection.exec_driver_sql("select version_num from alembic_version").scalars())


def includes_all(applied: Collection[str]) -> bool:
    """Whether a schema with the `applied` revisions has every migration of this code.

    A revision that this code does not know comes from newer code and counts: while an installation is renewed, old
    processes go on with the new schema.
    """
    known = known_revisions()
    return not set(applied) <= set(known) or set(applied) == {known[-1]}


def known_revisions() -> list[str]:
    """The revisions of this code, in order: the numbers that their files' names begin with."""
    return sorted(path.name.partition("_")[0] for path in (FOLDER / "versions").glob("[0-9]*.py"))
