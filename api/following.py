"""Waiting for events: one question to the database every 200 ms, however many wait, and no thread for any of them.

Nothing is asked while nobody waits. An organization costs one look at the end of its feed; where that has moved, what
each may see now is read for all who wait there, beside the other organizations: none waits for another's feed, and one
that cannot be read rests for some seconds. Every two seconds followers are asked about too, whatever their feeds do:
whether their tokens still live, and their users may still read what they could.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio.to_thread
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from models.identifiers import OrganizationId, TokenId
from models.store.events import FeedEvent, Position
from models.store.feed import Reach, feed_of, latest_positions, reaches
from models.store.feed_pages import Ask, Page, read_for_each
from models.store.tokens import Credential

POLL_S = 0.2
CHECK_S = 2.0
"""How often a token is looked at: well within the 5 s in which a stream ends."""
READERS = 3
"""Organizations whose feeds are read at once; each takes a connection from those who are answered."""
REST_S = 5.0
"""How long a feed is left alone that could not be read."""

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Follower:
    """One request that waits for events after `position`, at most `limit` at a time.

    `ended` once it may not go on, and `revoked` if that is because its token is gone. `reach` is what its user may
    read, once it is known.
    """

    who: Credential
    position: Position
    limit: int
    reach: Reach | None
    woken: asyncio.Event
    ended: bool = False
    revoked: bool = False
    _found: list[FeedEvent] = field(default_factory=list)
    _has_more: bool = False
    _stirred: asyncio.Event = field(default_factory=asyncio.Event)

    async def events(self, seconds: float) -> list[FeedEvent] | None:
        """The next events, up to `position`, and none when the time is over; None once it has ended."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), seconds)
        self._stirred.clear()
        if self.ended:
            return None
        found, self._found = self._found, []
        if self._has_more:
            self.woken.set()
        return found

    def is_behind(self, until: Position) -> bool:
        """Whether it has taken all that was found for it, and there may be more before a position."""
        return not self._found and not self.ended and self.position.is_before(until)

    def take(self, page: Page, until: Position) -> None:
        """Move on to what was found on the way to a position."""
        self.position = page.position
        self._has_more = page.position.is_before(until)
        if page.events:
            self._found = page.events
            self._stirred.set()

    def check(self, reach: Reach | None) -> None:
        """End if the token is gone, or something cannot be read any more."""
        self.revoked = reach is None
        if reach is None or (self.reach is not None and self.reach.has_lost(reach)):
            self.end()
        self.reach = reach

    def end(self) -> None:
        """Let it answer without waiting any longer."""
        self.ended = True
        self._stirred.set()


ByOrganization = Mapping[OrganizationId, Sequence[Follower]]


class Followers:
    """All who wait for events in this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: set[Follower] = set()
        self._woken = asyncio.Event()
        self._closing = False
        self._reading: set[OrganizationId] = set()
        self._resting: dict[OrganizationId, float] = {}

    @contextmanager
    def following(
        self, who: Credential, position: Position, *, limit: int, reach: Reach | None = None, at_once: bool = False
    ) -> Iterator[Follower]:
        """Look for a follower's events while the block runs.

        Args:
            who: whose events.
            position: after which.
            limit: at most so many at a time.
            reach: what may be read now, if that is to be held against later.
            at_once: whether there may be events already.
        """
        follower = Follower(who, position, limit, reach, self._woken, ended=self._closing)
        if at_once or not self._all:
            self._woken.set()
        self._all.add(follower)
        try:
            yield follower
        finally:
            self._all.discard(follower)

    def close(self) -> None:
        """Let everybody who waits answer with what there is: the process is about to end."""
        self._closing = True
        for follower in self._all:
            follower.end()

    async def run(self) -> None:
        """Look until cancelled; a database that does not answer is asked again at the next turn."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_checking())
            readers = anyio.CapacityLimiter(READERS)
            answers = True
            while True:
                if not self._all:
                    await self._woken.wait()
                self._woken.clear()
                try:
                    await self._look(tasks, readers)
                    answers = True
                except SQLAlchemyError as error:
                    if answers:
                        logger.warning("the feed cannot be read (%s), trying again", type(error).__name__)
                    answers = False
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), POLL_S)

    async def _look(self, tasks: asyncio.TaskGroup, readers: anyio.CapacityLimiter) -> None:
        """See whose feeds have moved, and begin to read those that nobody reads."""
        now = asyncio.get_running_loop().time()
        self._resting = {org_id: until for org_id, until in self._resting.items() if now < until}
        everybody = self._by_organization()
        left_alone = self._reading | self._resting.keys()
        if not (asked := [org_id for org_id in everybody if org_id not in left_alone]):
            return
        for org_id, until in (await anyio.to_thread.run_sync(partial(self._latest, asked))).items():
            behind = [follower for follower in everybody[org_id] if follower.is_behind(until)]
            if behind:
                self._reading.add(org_id)
                tasks.create_task(self._read(org_id, behind, until, readers))

    async def _read(
        self, org_id: OrganizationId, behind: Sequence[Follower], until: Position, readers: anyio.CapacityLimiter
    ) -> None:
        try:
            pages = await anyio.to_thread.run_sync(partial(self._pages, org_id, behind, until), limiter=readers)
        except Exception as error:  # whatever it is, the other organizations are read
            is_foreseen = isinstance(error, SQLAlchemyError)
            logger.warning("the feed of %s cannot be read (%s)", org_id, type(error).__name__, exc_info=not is_foreseen)
            self._resting[org_id] = asyncio.get_running_loop().time() + REST_S
            return
        finally:
            self._reading.discard(org_id)
        for follower, page in zip(behind, pages, strict=True):
            follower.take(page, until)
        if any(follower.is_behind(until) for follower in behind):
            self._woken.set()

    async def _keep_checking(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            everybody = self._by_organization()
            for org_id, found in (await anyio.to_thread.run_sync(partial(self._reaches, everybody))).items():
                for follower in everybody[org_id]:
                    follower.check(found.get(follower.who.token_id))

    def _by_organization(self) -> ByOrganization:
        found: dict[OrganizationId, list[Follower]] = {}
        for follower in self._all:
            found.setdefault(follower.who.org_id, []).append(follower)
        return found

    def _latest(self, org_ids: Sequence[OrganizationId]) -> Mapping[OrganizationId, Position]:
        with self._engine.connect() as connection:
            return latest_positions(connection, org_ids, feed_of(connection, org_ids[0]).epoch)

    def _pages(self, org_id: OrganizationId, behind: Sequence[Follower], until: Position) -> list[Page]:
        asks = [Ask(follower.who.user_id, follower.position, follower.limit) for follower in behind]
        options = {"postgresql_readonly": True, "isolation_level": "REPEATABLE READ"}
        with self._engine.connect().execution_options(**options) as connection:
            return read_for_each(connection, org_id, asks, until)

    def _reaches(self, everybody: ByOrganization) -> dict[OrganizationId, Mapping[TokenId, Reach]]:
        """What may be read by whom; an organization that cannot be asked now is left out, and asked again."""
        found: dict[OrganizationId, Mapping[TokenId, Reach]] = {}
        for org_id, followers in everybody.items():
            token_ids = sorted({follower.who.token_id for follower in followers})
            with suppress(SQLAlchemyError), self._engine.connect() as connection:
                found[org_id] = reaches(connection, org_id, token_ids)
        return found
