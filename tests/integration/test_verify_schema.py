"""`canonry verify` on a schema that is not this version's: what is missing is named, and what can be read is read."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, text

from models.database import sqlalchemy_url
from models.store.verification.installation import check_installation
from models.store.verification.schema import check_schema
from tests.commands import published
from tests.corruptions.breaking import Corruption
from tests.corruptions.of_the_installation import OF_THE_INSTALLATION
from tests.corruptions.of_the_schema import OF_THE_SCHEMA
from tests.databases import a_database, an_empty_database, url_of
from tests.rows import an_organization, creates
from tests.stack import Stack
from tests.terminal import ran


@pytest.fixture(scope="module")
def alone(stack: Stack) -> Iterator[Engine]:
    """A database of this module's, with an organization."""
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        published(an_organization(pool), creates("1.md"))
        yield pool
    server.dispose()


def changed(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


@pytest.mark.parametrize("change", OF_THE_SCHEMA, ids=lambda change: change.what)
def test_a_change_of_the_schema_is_found_and_named(alone: Engine, change: Corruption) -> None:
    with alone.connect() as connection:
        named = connection.execute(text(change.named)).scalar_one()
        for statement in change.plant:
            connection.execute(text(statement))
        findings = list(check_schema(connection))
        connection.rollback()
    assert [(finding.check, finding.where) for finding in findings] == [(change.check, named)]


@pytest.mark.parametrize("corruption", OF_THE_INSTALLATION, ids=lambda corruption: corruption.what)
def test_what_belongs_to_no_organization_is_found(alone: Engine, corruption: Corruption) -> None:
    with alone.connect() as connection:
        assert list(check_installation(connection)) == []
        named = connection.execute(text(corruption.named)).scalar_one()
        for statement in corruption.plant:
            connection.execute(text(statement))
        findings = list(check_installation(connection))
        connection.rollback()
    assert [(finding.check, finding.where) for finding in findings] == [(corruption.check, named)]


def test_tables_and_indexes_of_others_are_no_findings(alone: Engine) -> None:
    with alone.connect() as connection:
        for statement in ("create table theirs (id int primary key)", "create index theirs_too on drafts (title)"):
            connection.execute(text(statement))
        assert list(check_schema(connection)) == []
        connection.rollback()


def test_what_can_be_read_without_a_column_is_verified_and_the_rest_is_named(stack: Stack) -> None:
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        published(an_organization(pool), creates("1.md"))
        changed(pool, "alter table memories drop column revision", "update review_timeline set position = position + 9")
        done = ran("verify", CANONRY_DATABASE_URL=url_of(pool))
    server.dispose()
    assert (done.code, done.errors) == (4, "")
    assert "schema.column: a column is missing, memories.revision, expected a column, found nothing\n" in done.output
    assert "database.unread: the rest of a check cannot be read, Memories of org_" in done.output
    assert "review.timeline: " in done.output
    assert "sqlalche" not in done.output.lower()


def test_a_database_whose_organizations_cannot_be_read_is_told_apart(stack: Stack) -> None:
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        changed(pool, "drop table organization_refs")
        done = ran("verify", CANONRY_DATABASE_URL=url_of(pool))
    server.dispose()
    assert done.code == 1
    assert done.output.startswith("schema.table: a table is missing, organization_refs, ")
    assert done.errors == (
        'canonry verify: The organizations cannot be read: relation "organization_refs" does not exist.'
    )


def test_a_database_without_canonry_is_not_called_an_older_one(stack: Stack) -> None:
    server = create_engine(sqlalchemy_url(stack.database_url))
    with an_empty_database(server) as empty:
        changed(empty, "create table of_something_else (id int)")
        done = ran("verify", CANONRY_DATABASE_URL=url_of(empty))
    server.dispose()
    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith("canonry verify: There is no Canonry in this database")


def test_a_database_of_newer_code_is_left_to_it(stack: Stack) -> None:
    server = create_engine(sqlalchemy_url(stack.database_url))
    with an_empty_database(server) as empty:
        changed(empty, "create table alembic_version (version_num text)", "insert into alembic_version values ('9999')")
        done = ran("verify", CANONRY_DATABASE_URL=url_of(empty))
    server.dispose()
    assert (done.code, done.output) == (1, "")
    assert done.errors == ("canonry verify: The database was written by a newer Canonry (9999); verify with that one.")
