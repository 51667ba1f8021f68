import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine

from canonry.embedded.temporal import RunningTemporal
from models.database import build_engine
from models.settings import Settings
from tests.parts import start_temporal
from tests.stack import Stack, a_reachable_folder, start_migrated_stack
from workflows.search_attributes import SEARCH_ATTRIBUTES


@pytest.fixture(scope="session")
def temporal() -> Iterator[str]:
    """A Temporal server's address; tests keep apart by task queue and ids."""
    with _a_temporal({}) as server:
        yield server.address


@pytest.fixture(scope="session")
def hasty_temporal() -> Iterator[str]:
    """A server that suggests to continue as new after few events."""
    with _a_temporal({"limit.historyCount.suggestContinueAsNew": "30"}) as server:
        yield server.address


@pytest.fixture(scope="session")
def skipping_temporal() -> Iterator[str]:
    """A server whose workflows may have their time skipped; it knows no search attribute of ours yet."""
    with _a_temporal({"frontend.WorkflowTimeSkippingEnabled": "true"}, search_attributes={}) as server:
        yield server.address


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """Postgres and Temporal that a module's tests may kill, as long as they bring them back."""
    running = start_migrated_stack()
    yield running
    running.stop()


@pytest.fixture
def engine(stack: Stack) -> Iterator[Engine]:
    engine = build_engine(stack.database_url, Settings(), pool_size=4, application_name="canonry-test")
    yield engine
    engine.dispose()


@pytest.fixture(autouse=True)
def _no_failed_workflow_task(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A defect in workflow code shows as a task that is tried for ever: report it instead of a hang."""
    yield
    messages = [record.getMessage() for record in caplog.get_records("call")]
    assert not [message for message in messages if "Failed activation" in message]


@contextmanager
def _a_temporal(
    dynamic_config: Mapping[str, str], search_attributes: Mapping[str, str] = SEARCH_ATTRIBUTES
) -> Iterator[RunningTemporal]:
    folder = a_reachable_folder()
    server = start_temporal(folder, ui=False, search_attributes=search_attributes, dynamic_config=dynamic_config)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
