"""Logs carry ids, never contents: of an exception they show where and of what kind, not its text."""

import logging
import sys
import traceback
from types import TracebackType

from psycopg import DatabaseError
from sqlalchemy.exc import DBAPIError

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def kind_of(error: BaseException) -> str:
    """The kind of an exception, with a database's code; never its text."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(cause, DatabaseError) and cause.sqlstate:
        return f"{name} (SQLSTATE {cause.sqlstate})"
    return name


class IdsOnly(logging.Formatter):
    """A database quotes the rows that it refuses, so an exception's own text is left out."""

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802
        """The frames, and the kind."""
        _, error, frames = ei
        kind = kind_of(error) if error is not None else ""
        return "".join(traceback.format_tb(frames)) + kind


def configure_logging(level: str) -> None:
    """Log to stderr from `level` (`debug`, `info`, `warning`, `error`) on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(IdsOnly("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of every look at the schema's revision
