"""What a storage failure is to a caller of the tool: itself, never "not found" (memory.md §3)."""

import logging
from collections.abc import Callable
from typing import TypeVar

import psycopg

from models.errors import InternalError, Problem, Unavailable
from models.lost_transactions import retried

logger = logging.getLogger(__name__)

T = TypeVar("T")


def stored(work: Callable[[], T], *, request_id: str) -> T:
    """What the work comes to; a transaction that lost against another one is tried again.

    Raises:
        Unavailable: the database does not answer, or not in time.
        InternalError: it refuses for a reason that nobody foresaw, which is logged without contents.
    """
    try:
        return retried(work)
    except psycopg.Error as error:
        raise _problem_of(error, request_id) from error


def _problem_of(error: psycopg.Error, request_id: str) -> Problem:
    name = f"{type(error).__qualname__} {error.sqlstate or ''}".strip()
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        logger.warning("database unavailable (%s), request %s", name, request_id)
        return Unavailable("The memory store does not answer now; nothing is known of the memory. Try again.")
    logger.error("unforeseen %s, request %s", name, request_id)
    return InternalError("A defect of ours; name the request id when you report it.", request_id=request_id)
