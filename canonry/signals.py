"""Ctrl-C, SIGTERM and a closed terminal mean the same, once: stop everything in order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """Somebody asked us to stop by the signal `number`: no failure of what serves, and the end of what works."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` in the block at the first stop signal; later ones are ignored, so that stopping is not cut short.

    Call it from the main thread; the former handlers return with its end.
    """
    former = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in _heeded():
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def no_longer_stoppable() -> None:
    """From here on stop signals are ignored: whatever follows is the stopping itself."""
    for number in _heeded():
        signal.signal(number, _ignore)


def _heeded() -> list[signal.Signals]:
    """All stop signals, but not the one that `nohup` asked us to survive."""
    return [number for number in STOP_SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]


def _stop(number: int, frame: FrameType | None) -> None:
    no_longer_stoppable()
    raise Stopped(number)


def _ignore(number: int, frame: FrameType | None) -> None:
    """A handler, not SIG_IGN, which children would inherit."""
