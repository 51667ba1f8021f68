"""A worker on its own task queue for one test, and what tests ask of Temporal."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.service import RPCError

from models.settings import Settings
from models.store.operations import Due, OperationKind, RefreshDue
from models.store.unreconciled import BehindDue
from workflows.hosting import build_worker
from workflows.ids import (
    import_workflow_id,
    projection_workflow_id,
    publication_workflow_id,
    reconciliation_workflow_id,
    review_workflow_id,
)
from workflows.sandbox import WORKFLOWS
from workflows.temporal_link import connect

PATIENCE_S = 25
POLL_S = 0.02

T = TypeVar("T")


def run(scenario: Coroutine[object, object, T]) -> T:
    """Run a test's coroutine; a workflow that hangs fails the test instead of the suite."""
    return asyncio.run(asyncio.wait_for(scenario, PATIENCE_S))


def settings_for(address: str, **changed: object) -> Settings:
    """Settings of one test: its own task queue at the shared server."""
    return Settings.model_validate(
        {"temporal_address": address, "task_queue": f"test-{uuid.uuid4().hex}", "shutdown_grace_s": 5.0, **changed}
    )


@contextlib.asynccontextmanager
async def a_worker(
    settings: Settings, activities: Sequence[Callable[..., object]], workflows: Sequence[type] = WORKFLOWS
) -> AsyncIterator[Client]:
    """A worker that runs while the block does; the client it uses."""
    client = await connect(settings)
    with ThreadPoolExecutor(4) as threads:
        worker = build_worker(
            client,
            task_queue=settings.task_queue,
            activities=activities,
            threads=threads,
            slots=4,
            grace_s=settings.shutdown_grace_s,
            workflows=workflows,
        )
        async with worker:
            yield client


async def until(holds: Callable[[], bool]) -> None:
    """Return once it holds; the test's own patience bounds it."""
    while not holds():  # noqa: ASYNC110  (what is waited for happens on other threads)
        await asyncio.sleep(POLL_S)


async def eventually(read: Callable[[], Awaitable[T]], holds: Callable[[T], bool]) -> T:
    """What `read` returns once it holds; visibility and queries answer a little later than commands."""
    while True:
        with contextlib.suppress(RPCError):
            if holds(value := await read()):
                return value
        await asyncio.sleep(POLL_S)


async def longest_stall_s(seconds: float) -> float:
    """How long the event loop kept others waiting, at worst."""
    longest, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - before)
    return longest


async def events_of(client: Client, workflow_id: str, run_id: str | None = None) -> list[HistoryEvent]:
    """A run's history, the latest by default."""
    history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
    return list(history.events)


def scheduled(events: Sequence[HistoryEvent]) -> list[str]:
    """The types of the activities that a run scheduled, in order."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]


def a_name(prefix: str) -> str:
    """An id that no other test uses."""
    return f"{prefix}_{uuid.uuid4().hex}"


def a_merge(org_id: str, operation_id: str) -> Due:
    """A merge that is to be delivered."""
    return Due(org_id, operation_id, OperationKind.MERGE, publication_workflow_id(org_id), "prj_1", "rev_1", "")


def a_review_command(
    review_id: str, operation_id: str, kind: OperationKind = OperationKind.SUBMIT, *, org_id: str = "org_1"
) -> Due:
    """A Review's command that is to be delivered."""
    return Due(org_id, operation_id, kind, review_workflow_id(review_id), "prj_1", review_id, "Deployment notes")


def a_selection(project_id: str, operation_id: str) -> Due:
    """A selection change that is to be delivered."""
    return Due("org_1", operation_id, OperationKind.SELECT, projection_workflow_id(project_id), project_id, None, "")


def an_import(import_id: str, operation_id: str) -> Due:
    """An import that is to be delivered."""
    return Due("org_1", operation_id, OperationKind.IMPORT, import_workflow_id(import_id), "prj_1", None, "Notes")


def a_refresh(review_id: str) -> RefreshDue:
    """A Review whose workflow is to read its row."""
    return RefreshDue("org_1", review_id, "prj_1", "Deployment notes", "open")


def a_rebase(draft_id: str, operation_id: str) -> Due:
    """A rebase that is to be delivered."""
    return Due("org_1", operation_id, OperationKind.REBASE, reconciliation_workflow_id(draft_id), "prj_1", None, "")


def a_draft_behind(draft_id: str) -> BehindDue:
    """A Draft that a publication left behind."""
    return BehindDue("org_1", draft_id, "prj_1")
