"""Logs carry ids, never contents: of an exception they show where and of what kind, not its text."""

import logging
import sys
import traceback
from types import TracebackType

from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from workflows.boundary import kind_of

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class IdsOnly(logging.Formatter):
    """A database quotes the rows that it refuses, so an exception's own text is left out."""

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802
        """The frames, and the kind."""
        _, error, frames = ei
        kind = kind_of(error) if error is not None else ""
        return "".join(traceback.format_tb(frames)) + kind


def configure_logging(level: str) -> None:
    """Log to stderr from `level` (`debug`, `info`, `warning`, `error`) on; before the first Temporal client is made.

    Of the SDK's core only errors are shown: it reports every retry while Temporal is away, which the delivery loop
    says once.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(IdsOnly("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of every look at the schema's revision
    filtered = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=filtered)), error_if_already_set=False)
