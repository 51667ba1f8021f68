"""The worker process: workflows and activities of one task queue, and a delivery loop beside them."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.imports import ImportActivities
from activities.index_owners import IndexOwnerActivities
from activities.lane import PublicationActivities
from activities.projections import ProjectionActivities
from activities.reconciling import ReconciliationActivities
from activities.retention import RetentionActivities
from activities.reviews import ReviewActivities
from models.database import WORKER, build_engine
from models.migrations import is_current
from models.settings import Settings, SettingsInvalid
from workflows.delivery import DELIVERY_CONNECTIONS, DeliveryLoop
from workflows.hosting import build_worker
from workflows.logs import configure_logging, kind_of
from workflows.temporal_link import connect
from workflows.visibility import register

log = logging.getLogger("canonry.worker")

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
ATTEMPT_S = 10.0
LEAVE_S = 2.0  # beyond the grace; a Temporal that is frozen would hold the process for half a minute

T = TypeVar("T")


def serve(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then finish what was begun, for `shutdown_grace_s` at most.

    Waits for a database or a Temporal that is not there yet, and outlives either going away, an empty Temporal store
    included.

    Raises:
        SettingsInvalid: the database or Temporal is not named.
    """
    if settings.database_url is None:
        raise SettingsInvalid("CANONRY_DATABASE_URL: not set (accepted: postgresql://user@host/name)")
    if settings.temporal_address is None:
        raise SettingsInvalid("CANONRY_TEMPORAL_ADDRESS: not set (accepted: Temporal's frontend as host:port)")
    configure_logging(settings.log_level)
    engine = build_engine(settings.database_url, settings, pool_size=settings.worker_pool_size, application_name=WORKER)
    slots = settings.worker_pool_size - DELIVERY_CONNECTIONS
    with ThreadPoolExecutor(slots, "activity") as threads:
        asyncio.run(_serve(engine, threads, slots, settings))
    engine.dispose()
    log.info("worker ended")


def activities_of(engine: Engine, settings: Settings) -> Sequence[Callable[..., object]]:
    """Every activity that our workflows call."""
    reviews, imports = ReviewActivities(engine), ImportActivities(engine)
    reconciliation = ReconciliationActivities(engine)
    return (
        reviews.perform_review_command,
        reviews.run_review_timers,
        reviews.read_review,
        PublicationActivities(engine).publish,
        ProjectionActivities(engine).replace_selection,
        reconciliation.perform_draft_command,
        reconciliation.follow_publication,
        imports.plan_import,
        imports.draft_import_batch,
        imports.finish_import,
        RetentionActivities(engine, settings).remove_expired,
        IndexOwnerActivities(engine).list_index_owners,
    )


async def _serve(engine: Engine, threads: ThreadPoolExecutor, slots: int, settings: Settings) -> None:
    stopping = _stopping()
    async with _delivering(engine, settings):
        await _patiently(lambda: asyncio.to_thread(_require_schema, engine), stopping, waits_for="the database")
        while client := await _patiently(lambda: _connected(settings), stopping, waits_for="Temporal"):
            worker = build_worker(
                client,
                task_queue=settings.task_queue,
                activities=activities_of(engine, settings),
                threads=threads,
                slots=slots,
                grace_s=settings.shutdown_grace_s,
            )
            await _work(worker, stopping, patience_s=settings.shutdown_grace_s + LEAVE_S)


def _stopping() -> asyncio.Event:
    """Set once the process is asked to end."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


@contextlib.asynccontextmanager
async def _delivering(engine: Engine, settings: Settings) -> AsyncIterator[None]:
    delivering = asyncio.create_task(DeliveryLoop(engine, settings).run())
    try:
        yield
    finally:
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)


async def _patiently(attempt: Callable[[], Awaitable[T]], stopping: asyncio.Event, *, waits_for: str) -> T | None:
    """What `attempt` returns, however often it has to be made; None when the process is asked to end."""
    pause = FIRST_PAUSE_S
    while not stopping.is_set():
        try:
            async with asyncio.timeout(ATTEMPT_S):
                return await attempt()
        except (SQLAlchemyError, RPCError, RuntimeError, TimeoutError) as error:
            if pause == FIRST_PAUSE_S:
                log.warning("waiting for %s (%s)", waits_for, kind_of(error))
        await _sleep(pause, stopping)
        pause = min(2 * pause, LONGEST_PAUSE_S)
    return None


def _require_schema(engine: Engine) -> None:
    with engine.connect() as connection:
        if not is_current(connection):
            raise RuntimeError("the database lacks migrations")


async def _connected(settings: Settings) -> Client:
    client = await connect(settings)
    await register(client)
    return client


async def _work(worker: Worker, stopping: asyncio.Event, *, patience_s: float) -> None:
    """Run the worker until the process is asked to end, or until it gives up, which is a reason to connect again."""
    running = asyncio.create_task(worker.run())
    stop = asyncio.create_task(stopping.wait())
    log.info("worker takes tasks from %s", worker.task_queue)
    await asyncio.wait({running, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    await _leave(worker, running, patience_s)
    try:
        await running
    except asyncio.CancelledError:
        log.warning("Temporal does not answer; the worker ends without taking leave")
    except Exception:
        log.exception("the worker gave up; it connects again")
        await _sleep(LONGEST_PAUSE_S, stopping)


async def _leave(worker: Worker, running: asyncio.Task[None], patience_s: float) -> None:
    """Let the worker finish what it began, and cut it off when it takes longer than it may."""
    leaving = asyncio.create_task(worker.shutdown())
    await asyncio.wait({running}, timeout=patience_s)
    running.cancel()
    leaving.cancel()


async def _sleep(seconds: float, stopping: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)
