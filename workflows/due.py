"""What the database says is to be delivered now."""

import asyncio
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from models.settings import Settings
from models.store.operations import Due, OperationKind, RefreshDue, claim_due, reviews_to_refresh
from models.store.unreconciled import BehindDue, claim_behind
from workflows.deliveries import Delivery

log = logging.getLogger("canonry.delivery")

CLAIM_LIMIT = 200
REFRESH_AFTER_S = 1.0  # within it, a Review's workflow records a change by itself
# A lane tells of its merges when their batch ends, after 15 s at most (half of its activity's start-to-close). Telling
# twice would cost a busy lane as much as publishing does.
REFRESH_MERGED_AFTER_S = 20.0
REFRESH_AGAIN_S = 5.0
# Nobody waits for Drafts that fell behind: so few are compared at a time, by all processes, that commands go first.
BEHIND_POLL_S = 2.0
BEHIND_LIMIT = 25
BEHIND_UNDER_WAY = 8
BEHIND_AGAIN_S = 60.0
# While an organization publishes one thing after the other, each pass would be outrun by the next.
BEHIND_RESTED_S = 1.0
# With 10,000 organizations and 50,000 Drafts, where something was published lately is seen in 0.5 ms, everywhere in
# 30 ms (measured). The latter finds what was left over when every process was away, and what never came to rest.
BEHIND_LATELY_S = 120.0
BEHIND_EVERYWHERE_S = 60.0
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 8.0

# A newer version's kinds are left to its processes while both run.
KNOWN_KINDS = frozenset(kind.value for kind in OperationKind)


class DueReader:
    """Reads with one connection in one thread of its own, so that a slow database blocks no event loop.

    The thread lives within the context, whose end waits for a query that still runs: for the statement time-out at
    most. Whoever disposes of the pool then leaves no connection behind.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._thread: ThreadPoolExecutor | None = None
        self._refresh_at: dict[str, float] = {}
        self._behind_at = 0.0
        self._everywhere_at = 0.0
        self._many_behind = False
        self._pause_s = 0.0
        self._resume_at = 0.0

    async def __aenter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, "delivery")
        return self

    async def __aexit__(self, *_failure: object) -> None:
        if self._thread is not None:
            await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def read(self) -> Sequence[Delivery]:
        """Claim what is due, in order of acceptance; nothing while the database is lost, which is logged once."""
        if time.monotonic() < self._resume_at:
            return ()
        try:
            operations, reviews, drafts = await asyncio.get_running_loop().run_in_executor(self._thread, self._claim)
        except SQLAlchemyError as error:
            self._lost(error)
            return ()
        self._found()
        known = sorted((due for due in operations if due.kind in KNOWN_KINDS), key=lambda due: due.operation_id)
        return [*known, *self._not_recorded(reviews), *drafts]

    def _claim(self) -> tuple[list[Due], list[RefreshDue], list[BehindDue]]:
        return (*self._claim_awaited(), self._claim_behind())

    def _claim_awaited(self) -> tuple[list[Due], list[RefreshDue]]:
        with self._engine.begin() as connection:
            operations = claim_due(
                connection,
                limit=CLAIM_LIMIT,
                first_retry_s=self._settings.delivery_first_retry_s,
                max_retry_s=self._settings.delivery_max_retry_s,
            )
            reviews = reviews_to_refresh(connection, limit=CLAIM_LIMIT, merged_for_s=REFRESH_MERGED_AFTER_S)
            return operations, reviews

    def _claim_behind(self) -> list[BehindDue]:
        """Drafts that a publication left behind, once their organization has come to rest; once a minute, all.

        In a transaction of its own: what people wait for is neither held nor lost with it.
        """
        now = time.monotonic()
        if now < self._behind_at:
            return []
        self._behind_at = now + BEHIND_POLL_S
        is_full_look = now >= self._everywhere_at
        if is_full_look:
            self._everywhere_at = now + BEHIND_EVERYWHERE_S
        try:
            with self._engine.begin() as connection:
                claim = claim_behind(
                    connection,
                    limit=BEHIND_LIMIT,
                    under_way=BEHIND_UNDER_WAY,
                    again_after_s=BEHIND_AGAIN_S,
                    published_within_s=None if is_full_look or self._many_behind else BEHIND_LATELY_S,
                    rested_s=0 if is_full_look else BEHIND_RESTED_S,
                )
        except SQLAlchemyError as error:
            log.warning("Drafts that fell behind were not claimed (%s); the next look finds them", type(error).__name__)
            return []
        self._many_behind = claim.is_full
        return claim.due

    def _not_recorded(self, reviews: Sequence[RefreshDue]) -> list[RefreshDue]:
        """Reviews that asked for a refresh a moment ago already, each again at a distance of seconds."""
        now = time.monotonic()
        self._refresh_at = {
            review.review_id: self._refresh_at.get(review.review_id, now + REFRESH_AFTER_S) for review in reviews
        }
        overdue = [review for review in reviews if self._refresh_at[review.review_id] <= now]
        self._refresh_at |= {review.review_id: now + REFRESH_AGAIN_S for review in overdue}
        return overdue

    def _lost(self, error: SQLAlchemyError) -> None:
        if self._pause_s == 0:
            log.warning("the database does not answer (%s); deliveries wait for it", type(error).__name__)
        self._pause_s = min(max(FIRST_PAUSE_S, 2 * self._pause_s), LONGEST_PAUSE_S)
        self._resume_at = time.monotonic() + self._pause_s

    def _found(self) -> None:
        if self._pause_s:
            log.info("the database answers again")
        self._pause_s = 0.0
