from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine

from tests.databases import an_unserved_database
from tests.imports import FEW, few_a_draft
from tests.rows import Somewhere, an_organization
from tests.stack import Stack
from tests.structured import a_connection


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


@pytest.fixture
def place(engine: Engine) -> Somewhere:
    """An organization with a project of its own."""
    return an_organization(engine)


@pytest.fixture
def connection(place: Somewhere) -> Iterator[psycopg.Connection]:
    """A connection as the hot path has."""
    with a_connection(place) as connection:
        yield connection


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """The operations that a Draft of an import holds during the test."""
    few_a_draft(monkeypatch)
    return FEW
