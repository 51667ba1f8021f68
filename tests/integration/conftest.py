import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from canonry.embedded.postgres import start_postgres
from models.database import sqlalchemy_url
from tests.clusters import copy_into
from tests.databases import a_database
from tests.imports import FEW, few_a_draft
from tests.stack import Stack, a_reachable_folder


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    """A pool on a database that no worker serves: what is accepted here is carried out by the test, or not at all."""
    server = create_engine(sqlalchemy_url(stack.database_url))
    with a_database(server) as pool:
        yield pool
    server.dispose()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """The operations that a Draft of an import holds during the test."""
    few_a_draft(monkeypatch)
    return FEW


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A data folder that nothing was started in."""
    folder = a_reachable_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    folder = a_reachable_folder()
    start_postgres(folder, durable=False).stop()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data(fresh: Path, template: Path) -> Path:
    """A data folder with a database that is at rest."""
    copy_into(fresh, template)
    return fresh
