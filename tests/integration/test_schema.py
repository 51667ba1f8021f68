"""The schema's history: from nothing to today's tables, and no difference between the two (architecture.md §2)."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, text
from sqlmodel import SQLModel

import models.tables
from models.migrations import is_current, upgrade
from tests.databases import an_empty_database, url_of

assert models.tables.__all__


def drift(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    return list(compare_metadata(context, SQLModel.metadata))


def test_migrations_make_the_tables_from_nothing_and_once_more_change_nothing(engine: Engine) -> None:
    with an_empty_database(engine) as empty:
        with empty.connect() as connection:
            assert not is_current(connection)
        upgrade(url_of(empty))
        upgrade(url_of(empty))
        with empty.connect() as connection:
            assert is_current(connection)
            assert drift(connection) == []


def test_a_difference_between_tables_and_migrations_is_found(engine: Engine) -> None:
    changes = {
        "a column": "alter table drafts add column colour text",
        "a type": "alter table drafts alter column title type varchar(7)",
        "a nullable column": "alter table drafts alter column title drop not null",
        "an index": "drop index uq_memory_versions_path",
        "a default": "alter table operations alter column failures set default 7",
        "a table": "create table other (id int)",
    }
    with an_empty_database(engine) as copy:
        upgrade(url_of(copy))
        for what, change in changes.items():
            with copy.connect() as connection:
                connection.execute(text(change))
                assert drift(connection) != [], what
                connection.rollback()


def constraints(connection: Connection) -> set[tuple[str, str]]:
    """Every constraint and index, as the server writes it."""
    rows = connection.execute(
        text("""
            select conname, conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) from pg_constraint
            where connamespace = 'public'::regnamespace
            union all
            select indexname, indexdef from pg_indexes where schemaname = 'public'
        """)
    )
    return {(name, definition) for name, definition in rows if "alembic_version" not in name}


def test_constraints_and_indexes_of_the_tables_are_those_of_the_migrations(engine: Engine) -> None:
    """Alembic compares neither CHECK constraints nor the conditions of partial indexes."""
    with an_empty_database(engine) as declared:
        SQLModel.metadata.create_all(declared)
        with declared.connect() as ours, engine.connect() as migrated:
            assert constraints(ours) == constraints(migrated)


def test_no_foreign_key_points_to_the_coordination_row(engine: Engine) -> None:
    """It would take a key-share lock on it from every append and save."""
    with engine.connect() as connection:
        pointing = text(
            "select count(*) from pg_constraint where contype = 'f' and confrelid = 'organization_refs'::regclass"
        )
        assert connection.execute(pointing).scalar_one() == 0


def test_every_key_begins_with_the_organization(engine: Engine) -> None:
    for table in SQLModel.metadata.sorted_tables:
        if "org_id" in table.c and table.name != "events":
            assert next(iter(table.primary_key.columns)).name == "org_id", table.name
