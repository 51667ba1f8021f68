"""What a command writes: into any encoding, and with one sentence where it cannot be written."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STANDARD_STREAMS = (0, 1, 2)


@contextmanager
def written() -> Iterator[None]:
    """Exit with code 1 when what the block writes to standard output does not get there.

    Nothing is said where its reader has gone. A standard output that is closed is refused; a standard error that is
    closed or full is no reason to end.
    """
    _occupy_closed_streams()
    _watch_output()
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # here, where its failure can still be told
    except OutputFailed as failure:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing may be written into it at the end
        sys.exit(1 if failure.errno == errno.EPIPE else f"canonry: The output cannot be written: {failure.strerror}.")


class OutputFailed(OSError):  # noqa: N818  (it is what happened, as in canonry.failures)
    """Standard output takes nothing; other files that fail are told apart by this class."""


class _Output(io.FileIO):
    """Standard output without buffers."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OutputFailed(error.errno, error.strerror) from error


def _occupy_closed_streams() -> None:
    """Keep the numbers of closed streams from files that we open, which children would take for their output.

    Nothing can be written to what takes the place of standard output, as nothing could before.
    """
    for number in STANDARD_STREAMS:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)  # gets the lowest free number
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def _watch_output() -> None:
    """Have failures of standard output told apart, and what its encoding has no letter for written as an escape.

    Standard error escapes anyway. Where a caller collects the output, nothing is changed.
    """
    given = sys.stdout
    if isinstance(given, io.TextIOWrapper) and sys.__stdout__ in (given, None):
        buffer = io.BufferedWriter(_Output(given.fileno(), "wb", closefd=False))
        lines = given.line_buffering
        sys.stdout = io.TextIOWrapper(buffer, given.encoding, "backslashreplace", line_buffering=lines)
