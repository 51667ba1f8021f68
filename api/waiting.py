"""Waiting for operations on one LISTEN connection of the process: no thread and no pooled connection while waiting.

A request registers its interest, **then** reads the row, so that no announcement falls between. An announcement may
be lost with the connection all the same: after every reconnect, and every 5 s, one statement looks for outcomes of
all that is waited for (architecture.md §2).
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from models.database import libpq_url
from models.identifiers import OperationId, OrganizationId
from models.store.operations import CHANNEL, FINISHED_AMONG

RE_READ_S = 5.0
STATEMENT_S = 5.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0

logger = logging.getLogger(__name__)


class Interest:
    """That one request waits for one operation."""

    def __init__(self, org_id: OrganizationId) -> None:
        self.org_id = org_id
        self._stirred = asyncio.Event()

    def stir(self) -> None:
        """Have the request read the row again."""
        self._stirred.set()

    async def stirred(self, seconds: float) -> None:
        """Return when the row has to be read again: there is news, or the time is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), seconds)
        self._stirred.clear()


class OperationListener:
    """Follows the announcements of outcomes, and wakes those who wait for them."""

    def __init__(self, database_url: str) -> None:
        self._url = libpq_url(database_url)
        self._waiting: dict[str, set[Interest]] = {}
        self.closing = False

    @contextmanager
    def interest(self, org_id: OrganizationId, operation_id: OperationId) -> Iterator[Interest]:
        """Register; read the row after that."""
        interest = Interest(org_id)
        waiting = self._waiting.setdefault(operation_id, set())
        waiting.add(interest)
        try:
            yield interest
        finally:
            waiting.discard(interest)
            if not waiting:
                self._waiting.pop(operation_id, None)

    def close(self) -> None:
        """Let everybody who waits answer with what is known now: the process is about to end."""
        self.closing = True
        for operation_id in list(self._waiting):
            self._stir(operation_id)

    async def run(self) -> None:
        """Listen until cancelled; a lost connection is made again."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, application_name="canonry-listen", connect_timeout=5
                ) as connection:
                    await connection.execute(f"listen {CHANNEL}")
                    pause = FIRST_PAUSE_S
                    await self._follow(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                logger.warning("the LISTEN connection is lost (%s), trying again", type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    async def _follow(self, connection: psycopg.AsyncConnection) -> None:
        while True:
            await asyncio.wait_for(self._look_for_outcomes(connection), STATEMENT_S)
            async for announcement in connection.notifies(timeout=RE_READ_S):
                self._stir(announcement.payload)

    async def _look_for_outcomes(self, connection: psycopg.AsyncConnection) -> None:
        waited = [(interest.org_id, name) for name, interests in self._waiting.items() for interest in interests]
        columns = ([org_id for org_id, _ in waited], [operation_id for _, operation_id in waited])
        cursor = await connection.execute(FINISHED_AMONG, columns)  # even for nothing: it notices a dead connection
        for (operation_id,) in await cursor.fetchall():
            self._stir(operation_id)

    def _stir(self, operation_id: str) -> None:
        for interest in self._waiting.get(operation_id, ()):
            interest.stir()
