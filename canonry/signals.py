"""Ctrl-C, SIGTERM and a closed terminal mean the same, once: stop everything in order."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Interrupts what a thread waits for, and does nothing else: the system ignores it where it has no handler.
NUDGE = signal.SIGURG
NUDGE_EVERY_S = 0.1


class Stopped(KeyboardInterrupt):
    """Somebody asked us to stop by the signal `number`: no failure of what serves, and the end of what works."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` in the block at the first stop signal; later ones are ignored, so that stopping is not cut short.

    Whatever the block waits for then, a lock or a child, it waits no longer. Call it from the main thread; the former
    handlers return with its end.
    """
    former = {number: signal.getsignal(number) for number in (*STOP_SIGNALS, NUDGE)}
    try:
        with _reaching_the_main_thread():
            for number in _heeded():
                signal.signal(number, _stop)
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


@contextmanager
def _reaching_the_main_thread() -> Iterator[None]:
    """Interrupt the main thread at a stop signal that another thread got.

    Only the main thread runs handlers, and one that waits never comes to it unless the system interrupts itself. The
    system mostly gives a signal to the main thread, but to any other one right after SIGSTOP and SIGCONT.
    """
    signal.signal(NUDGE, _ignore)
    read, write = os.pipe()
    os.set_blocking(write, False)
    former = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    nudging = threading.Thread(target=_nudge, args=[read], name="signals", daemon=True)
    nudging.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(former)
        os.close(write)
        nudging.join()
        os.close(read)


def _nudge(came: int) -> None:
    """Interrupt the main thread at each stop signal whose number can be read, until it has run the handler."""
    main = threading.main_thread().ident
    assert main is not None  # noqa: S101  (it runs)
    while number := os.read(came, 1):
        while signal.getsignal(number[0]) is _stop:
            signal.pthread_kill(main, NUDGE)
            time.sleep(NUDGE_EVERY_S)  # again: it may have been about to wait


def _stop(number: int, frame: FrameType | None) -> None:
    no_longer_stoppable()
    raise Stopped(number)


def _ignore(number: int, frame: FrameType | None) -> None:
    """A handler, not SIG_IGN, which children would inherit."""
