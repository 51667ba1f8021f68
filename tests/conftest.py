"""Real servers for the whole session; tests keep apart by organization, so nothing is cleaned between them."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from models.database import build_engine
from models.migrations import upgrade
from models.settings import Settings
from tests.stack import Stack, start_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """Postgres and Temporal, with a migrated database."""
    running = start_stack()
    try:
        upgrade(running.database_url)
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    """A pool on the migrated database."""
    pool = build_engine(stack.database_url, Settings(), pool_size=10, application_name="canonry-test")
    yield pool
    pool.dispose()
