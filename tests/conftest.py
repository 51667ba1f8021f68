"""Real servers for the whole session; tests keep apart by organization, so nothing is cleaned between them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from canonry.embedded.postgres import start_postgres
from models.database import build_engine
from models.rules.roles import PERMISSIONS
from models.settings import Settings
from models.store.organizations import create_organization
from tests.client import Client
from tests.clusters import copy_into
from tests.stack import Service, Stack, a_reachable_folder, start_api, start_migrated_stack, start_worker


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """Postgres and Temporal, with a migrated database."""
    running = start_migrated_stack()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def engine(stack: Stack) -> Iterator[Engine]:
    """A pool on the migrated database."""
    pool = build_engine(stack.database_url, Settings(), pool_size=10, application_name="canonry-test")
    yield pool
    pool.dispose()


@pytest.fixture(scope="session")
def service_token(engine: Engine) -> str:
    """A token with every permission, of an organization that no test reads."""
    with engine.begin() as connection:
        made = create_organization(
            connection,
            name="Operators",
            owner_name="Operator",
            owner_email=None,
            permissions=[*PERMISSIONS],
            request_id="test",
        )
    return made.token.secret


@pytest.fixture(scope="session")
def api(stack: Stack, service_token: str) -> Iterator[Client]:
    """A running API, as a client whose token makes organizations."""
    service = start_api(stack)
    yield Client(service.url, service_token)
    service.stop()


@pytest.fixture(scope="session")
def worker(stack: Stack) -> Iterator[Service]:
    """A running worker, for tests whose commands have to be carried out."""
    service = start_worker(stack)
    yield service
    service.stop()


@pytest.fixture(scope="module")
def own_stack() -> Iterator[Stack]:
    """Servers of a file that stops some of them."""
    running = start_migrated_stack()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def own_api(own_stack: Stack) -> Iterator[Service]:
    """A running API on servers of the file's own."""
    service = start_api(own_stack)
    yield service
    service.stop()


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
