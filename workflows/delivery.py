import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from models.settings import Settings
from models.store.operations import Due
from workflows.deliveries import Delivery, delivery_id, next_signal, order_key
from workflows.due import CLAIM_LIMIT, DueReader

if TYPE_CHECKING:
    from workflows.temporal_link import TemporalLink

log = logging.getLogger("canonry.delivery")

DELIVERY_CONNECTIONS = 1
"""How many of its process's connections a delivery loop may hold; the others are for those who wait for an answer."""

POLL_S = 1.0
HEAD_START_S = 0.1  # what a process takes for its first answers once it serves
MAX_SENDERS = 16  # signals in flight from one process; more saturate neither Temporal nor our own two cores faster
MAX_WAITING = 2_000  # workflows, and deliveries to one: more are left to the database, which brings them again


class DeliveryLoop:
    """Brings accepted operations and changed Reviews to their workflows; one in every API and worker process.

    Nobody waits for it: what is not delivered now falls due in the database and is delivered by this or another
    process (architecture.md §3). `deliver` and `wake` may be called from any thread, at any time.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._reader = DueReader(engine, settings)
        self._settings = settings
        self._temporal: TemporalLink | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._waiting: dict[str, dict[str, Delivery]] = {}
        self._senders: dict[str, asyncio.Task[None]] = {}

    @property
    def connected(self) -> bool:
        """Whether Temporal answered when it was last asked, seconds ago."""
        return self._temporal is not None and self._temporal.reachable

    def deliver(self, due: Due) -> None:
        """Deliver a fresh operation, after its COMMIT; returns at once."""
        self._from_any_thread(lambda: self._accept(due))

    def wake(self) -> None:
        """Look for due operations now instead of at the next poll; returns at once."""
        self._from_any_thread(self._woken.set)

    async def run(self) -> None:
        """Deliver until cancelled."""
        self._loop = asyncio.get_running_loop()
        try:
            async with self._reader:
                while True:
                    self._woken.clear()
                    await self._turn_safely()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._woken.wait(), POLL_S)
        finally:
            self._loop = None
            await self._end_senders()

    async def _turn_safely(self) -> None:
        try:
            await self._turn()
        except Exception:
            log.exception("deliveries failed for an unforeseen reason; they go on")

    async def _turn(self) -> None:
        # While Temporal is away nothing is claimed, so that everything is due at once when it is back.
        if not await (await self._link()).reach():
            return
        self._spread()
        if len(self._waiting) >= MAX_WAITING:
            return
        due = await self._reader.read()
        for delivery in due:
            self._accept(delivery)
        if len(due) >= CLAIM_LIMIT:
            self._woken.set()

    async def _link(self) -> "TemporalLink":
        """Made at the first turn, in a thread: its library takes a while to load, and requests are served meanwhile."""
        if self._temporal is None:
            await asyncio.sleep(HEAD_START_S)  # loading holds the interpreter for moments: first answers go before
            self._temporal = await asyncio.to_thread(_load_link, self._settings)
        return self._temporal

    def _from_any_thread(self, call: Callable[[], object]) -> None:
        # Not running yet, or no longer: the database brings it to another process.
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call)

    def _accept(self, delivery: Delivery) -> None:
        if len(self._waiting) >= MAX_WAITING:
            return
        waiting = self._waiting.setdefault(order_key(delivery), {})
        if len(waiting) < MAX_WAITING:
            waiting.setdefault(delivery_id(delivery), delivery)
        self._spread()

    def _spread(self) -> None:
        """Give senders to the keys that wait, while there are few and Temporal answers."""
        if not self.connected:
            return
        for key in self._waiting:
            if len(self._senders) >= MAX_SENDERS:
                return
            if key not in self._senders:
                self._senders[key] = asyncio.create_task(self._send_in_order(key))

    async def _send_in_order(self, key: str) -> None:
        """Send what waits under one key; it is kept while Temporal does not answer."""
        waiting = self._waiting[key]
        while waiting:
            first, *others = next_signal(waiting.values())
            if not await self._send_safely(first, others):
                break
            for sent in (first, *others):
                del waiting[delivery_id(sent)]
        if not waiting:
            del self._waiting[key]
        del self._senders[key]
        self._spread()

    async def _send_safely(self, first: Delivery, others: Sequence[Delivery]) -> bool:
        try:
            return await (await self._link()).send(first, others)
        except Exception:
            log.exception("%s is left to the next delivery, for an unforeseen reason", delivery_id(first))
            return True

    async def _end_senders(self) -> None:
        senders = list(self._senders.values())
        self._senders.clear()
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)


def _load_link(settings: Settings) -> "TemporalLink":
    from workflows.temporal_link import TemporalLink  # noqa: PLC0415

    return TemporalLink(settings)
