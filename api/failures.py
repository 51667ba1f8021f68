"""From exceptions to problems: what the database says, what is worth another try, and what is a defect of ours."""

import logging
import traceback

import psycopg
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from models.errors import InternalError, Problem, Unavailable
from models.lost_transactions import LOST, sqlstate_of

LOCK_TIMEOUT, STATEMENT_TIMEOUT = "55P03", "57014"

# 08: connection exceptions; 53: no resources; 57P: shutting down, starting up; 25P03/04: idle or transaction time-out.
_GONE = ("08", "53", "57P", "25P03", "25P04")

logger = logging.getLogger(__name__)


def problem_of(error: Exception, *, request_id: str) -> Problem:
    """The problem that an exception is answered with; what nobody foresaw is logged, without contents."""
    if isinstance(error, Problem):
        return error
    if _is_outage(error):
        logger.warning("database unavailable (%s), request %s", _name(error), request_id)
        return Unavailable("The database does not answer now.")
    log_defect(error, request_id=request_id)
    return InternalError("A defect of ours; name the request id when you report it.")


def log_defect(error: BaseException, *, request_id: str) -> None:
    """Log where it happened; an exception's own text may quote contents or parameters, so it is left out."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("unforeseen %s, request %s\n%s", _name(error), request_id, frames)


def _is_outage(error: Exception) -> bool:
    if isinstance(error, PoolTimeoutError | DisconnectionError):
        return True
    if not isinstance(error, DBAPIError | psycopg.Error):
        return False
    state = sqlstate_of(error)
    if state is None:
        is_gone = isinstance(error, DBAPIError) and error.connection_invalidated
        return is_gone or isinstance(error, OperationalError | psycopg.OperationalError)
    return state in (LOCK_TIMEOUT, STATEMENT_TIMEOUT, *LOST) or state.startswith(_GONE)


def _name(error: BaseException) -> str:
    state = sqlstate_of(error)
    return type(error).__qualname__ + (f" {state}" if state else "")
