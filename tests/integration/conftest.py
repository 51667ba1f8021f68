from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine

from models.database import sqlalchemy_url
from tests.databases import a_database
from tests.stack import Stack


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    """A pool on a database that no worker serves: what is accepted here is carried out by the test, or not at all."""
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        yield pool
    server.dispose()
