"""This process as the owner of its search index: what repairs the index is carried out here (architecture.md §5).

A worker of Temporal's that knows one activity, on a task queue of its own, which a row names as long as the process
lives. It begins once the index serves, and nothing waits for it: without Temporal the index follows the database as
ever. Its library is loaded then, and not at the start.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg

from models.identifiers import uuid7
from models.settings import Settings
from models.store.index_owners import LIVES_S, IndexOwner, remove_owner, renew_owner
from search.memory_index import MemoryIndex

if TYPE_CHECKING:
    from temporalio.worker import Worker

POLL_S = 0.5
RENEW_S = LIVES_S / 3
REST_S = 5.0
LEAVE_S = 2.0
"""How long an end waits for the worker: a Temporal that is frozen would hold it for half a minute."""

Connect = Callable[[], psycopg.Connection]
Build = Callable[[Settings, str, MemoryIndex, Connect, ThreadPoolExecutor], Awaitable["Worker"]]

logger = logging.getLogger(__name__)


class Owning:
    """Repairs one index when it is asked to.

    Args:
        settings: where Temporal is.
        index: what is repaired.
        connect: makes an autocommit connection.
        reaches_temporal: whether the process does.
    """

    def __init__(
        self, settings: Settings, index: MemoryIndex, connect: Connect, reaches_temporal: Callable[[], bool]
    ) -> None:
        self._settings = settings
        self._reaches_temporal = reaches_temporal
        self._index = index
        self._connect = connect
        owner_id = str(uuid7())
        self._owner = IndexOwner(owner_id, f"index/{owner_id}")
        self._answers = True

    async def run(self) -> None:
        """Take repairs until cancelled; a Temporal that is away is asked again."""
        with ThreadPoolExecutor(1, "index-repair") as threads:
            while True:
                # Whoever reaches Temporal has loaded its library: two threads that load it at once fail.
                while not (self._index.state.ready and self._reaches_temporal()):  # noqa: ASYNC110  (by other threads)
                    await asyncio.sleep(POLL_S)
                worker = await self._build(threads)
                if worker is not None:
                    async with self._working(worker) as running:
                        await self._say_so_while(running)
                await asyncio.sleep(REST_S)

    async def _build(self, threads: ThreadPoolExecutor) -> "Worker | None":
        """A worker that is connected, or None while Temporal does not answer."""
        build = await asyncio.to_thread(_loaded)
        try:
            worker = await build(self._settings, self._owner.task_queue, self._index, self._connect, threads)
        except (RuntimeError, OSError) as error:
            if self._answers:
                logger.warning("repairs of the search index wait for Temporal (%s)", type(error).__name__)
            self._answers = False
            return None
        self._answers = True
        return worker

    @contextlib.asynccontextmanager
    async def _working(self, worker: "Worker") -> AsyncIterator[asyncio.Task[None]]:
        running = asyncio.create_task(worker.run())
        try:
            yield running
        finally:
            await asyncio.to_thread(self._ask, remove_owner)
            leaving = asyncio.create_task(worker.shutdown())
            await asyncio.wait({running}, timeout=LEAVE_S)
            running.cancel()
            leaving.cancel()
            if running.done() and not running.cancelled() and (error := running.exception()) is not None:
                logger.warning("repairs of the search index ended (%s); they begin again", type(error).__name__)

    async def _say_so_while(self, running: asyncio.Task[None]) -> None:
        while not running.done():
            await asyncio.to_thread(self._ask, renew_owner)
            await asyncio.wait({running}, timeout=RENEW_S)

    def _ask(self, store: Callable[[psycopg.Connection, IndexOwner], None]) -> None:
        """Write the row; a database that is away is told the next time, or forgets the row by itself."""
        with contextlib.suppress(psycopg.Error), self._connect() as connection:
            store(connection, self._owner)


def _loaded() -> Build:
    from workflows.index_worker import build_index_worker  # noqa: PLC0415  (not before the first answers)

    return build_index_worker
