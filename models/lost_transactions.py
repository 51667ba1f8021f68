"""Transactions that lost against another one: tried again, with jitter (architecture.md §3)."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

DEADLOCK, SERIALIZATION_FAILURE = "40P01", "40001"
LOST = (DEADLOCK, SERIALIZATION_FAILURE)

ATTEMPTS = 4
"""A deadlock or serialization failure is tried again at most three times."""
FIRST_PAUSE_S = 0.02

T = TypeVar("T")


def retried(work: Callable[[], T]) -> T:
    """Do it, and again where it lost."""
    for attempt in range(ATTEMPTS):
        try:
            return work()
        except Exception as error:
            if attempt + 1 == ATTEMPTS or sqlstate_of(error) not in LOST:
                raise
            time.sleep(random.uniform(0, FIRST_PAUSE_S * 2**attempt))  # noqa: S311  (jitter, not a secret)
    raise AssertionError


def sqlstate_of(error: BaseException) -> str | None:
    """What the database calls an error, of psycopg or as SQLAlchemy wraps it; None where it did not say."""
    state = getattr(getattr(error, "orig", error), "sqlstate", None)
    return state if isinstance(state, str) else None
