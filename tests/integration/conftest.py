from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.databases import an_unserved_database
from tests.imports import FEW, few_a_draft
from tests.stack import Stack


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """The operations that a Draft of an import holds during the test."""
    few_a_draft(monkeypatch)
    return FEW
