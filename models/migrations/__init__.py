"""The schema's history: Alembic owns it, and an installed wheel can migrate."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from models.database import sqlalchemy_url

# Any two numbers will do, as long as every Canonry process uses the same: one migration at a time.
MIGRATION_LOCK = 0x63616E6F


def upgrade(database_url: str) -> None:
    """Bring the schema up to date; processes that start together wait for each other."""
    engine = create_engine(sqlalchemy_url(database_url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        configuration = _configuration()
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "head")
    engine.dispose()


def is_current(connection: Connection) -> bool:
    """Whether the database has every migration of this code.

    A revision that this code does not know comes from newer code and counts: while an installation is renewed, old
    processes go on with the new schema.
    """
    scripts = ScriptDirectory.from_config(_configuration())
    applied = set(MigrationContext.configure(connection).get_current_heads())
    known = {script.revision for script in scripts.walk_revisions()}
    return not applied <= known or applied == set(scripts.get_heads())


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    return configuration
