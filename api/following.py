"""Waiting for events: one question to the database every 200 ms, however many wait, and no thread for any of them.

Nothing is asked while nobody waits. An organization costs one look at the end of its feed; where that has moved, one
statement reads for all who wait there what each may see now. Every two seconds they are asked about too: whether their
tokens still live, and their users may still read what they could.
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
from models.store.feed import Ask, Reach, feed_of, latest_positions, reaches, read_for_each
from models.store.tokens import Credential

POLL_S = 0.2
CHECK_S = 2.0
"""How often a token is looked at: well within the 5 s in which a stream ends, whatever holds a look up."""

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
        return not self._found and not self.ended and (self.position.xid, self.position.id) < (until.xid, until.id)

    def take(self, found: list[FeedEvent], until: Position) -> None:
        """Move on to what was found up to a position."""
        self._has_more = len(found) >= self.limit
        self.position = found[-1].position if self._has_more else until
        if found:
            self._found = found
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


@dataclass(frozen=True, slots=True)
class _News:
    """What one look found for those of an organization who stood before `until`."""

    until: Position
    behind: Sequence[Follower]
    pages: Sequence[list[FeedEvent]]


ByOrganization = Mapping[OrganizationId, Sequence[Follower]]


class Followers:
    """All who wait for events in this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: set[Follower] = set()
        self._woken = asyncio.Event()
        self._check_at = 0.0
        self._closing = False

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
        answers = True
        while True:
            if not self._all:
                await self._woken.wait()
            self._woken.clear()
            try:
                await self._look()
                answers = True
            except SQLAlchemyError as error:
                if answers:
                    logger.warning("the feed cannot be read (%s), trying again", type(error).__name__)
                answers = False
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), POLL_S)

    async def _look(self) -> None:
        everybody = self._by_organization()
        if not everybody:
            return
        for news in await anyio.to_thread.run_sync(partial(self._news, everybody)):
            for follower, page in zip(news.behind, news.pages, strict=True):
                follower.take(page, news.until)
        now = asyncio.get_running_loop().time()
        if now >= self._check_at:
            await self._check(everybody)
            self._check_at = now + CHECK_S

    async def _check(self, everybody: ByOrganization) -> None:
        found = await anyio.to_thread.run_sync(partial(self._reaches, everybody))
        for followers in everybody.values():
            for follower in followers:
                follower.check(found.get(follower.who.token_id))

    def _by_organization(self) -> ByOrganization:
        found: dict[OrganizationId, list[Follower]] = {}
        for follower in self._all:
            found.setdefault(follower.who.org_id, []).append(follower)
        return found

    def _news(self, everybody: ByOrganization) -> list[_News]:
        news: list[_News] = []
        with self._engine.connect() as connection:
            epoch = feed_of(connection, next(iter(everybody))).epoch
            for org_id, until in latest_positions(connection, list(everybody), epoch).items():
                behind = [follower for follower in everybody[org_id] if follower.is_behind(until)]
                if behind:
                    asks = [Ask(follower.who.user_id, follower.position, follower.limit) for follower in behind]
                    news.append(_News(until, behind, read_for_each(connection, org_id, asks, until)))
        return news

    def _reaches(self, everybody: ByOrganization) -> dict[TokenId, Reach]:
        found: dict[TokenId, Reach] = {}
        with self._engine.connect() as connection:
            for org_id, followers in everybody.items():
                found |= reaches(connection, org_id, sorted({follower.who.token_id for follower in followers}))
        return found
