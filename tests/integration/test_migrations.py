"""Whether code and schema fit: older schemas have to be migrated first, newer ones are served."""

from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from models.migrations import FOLDER, is_current, known_revisions


def stamp(connection: Connection, revision: str) -> None:
    connection.execute(text("update alembic_version set version_num = :revision"), {"revision": revision})


def test_a_revision_of_newer_code_counts_as_current(engine: Engine) -> None:
    with engine.connect() as connection:
        stamp(connection, "of_the_future")
        assert is_current(connection)
        connection.rollback()


def test_a_schema_without_any_migration_is_not_current(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("delete from alembic_version"))
        assert not is_current(connection)
        connection.rollback()


def test_files_are_named_by_their_revisions_in_order() -> None:
    configuration = Config()
    configuration.set_main_option("script_location", str(FOLDER))
    configuration.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(configuration).walk_revisions()
    assert [script.revision for script in scripts] == known_revisions()[::-1]
