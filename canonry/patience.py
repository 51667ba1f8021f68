"""How long a command waits for a server that does not answer."""

import time
from collections.abc import Callable
from threading import Event

from canonry.failures import CommandFailed

PATIENCE_S = 60.0
"""How long one request is tried again: a restart of everything takes less."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 3.0
SILENCE_S = 10.0
"""A person is told once when several requests fail for one reason."""


class Outages:
    """Tells a person that a server is away, however many requests notice it.

    Args:
        report: takes a line.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._noticed_at = float("-inf")

    def notice(self, line: str) -> None:
        """Pass the line on, unless one has been passed on just now."""
        now = time.monotonic()
        if now - self._noticed_at >= SILENCE_S:
            self._report(line)
        self._noticed_at = now


class Tries:
    """The tries of one request: pauses that grow, and an end after a minute.

    Args:
        url: the server.
        outages: hears of every failure.
        unless: set when nobody waits for the answer any more.
    """

    def __init__(self, url: str, outages: Outages, unless: Event) -> None:
        self._url = url
        self._outages = outages
        self._unless = unless
        self._pause_s = FIRST_PAUSE_S
        self._give_up_at: float | None = None

    @property
    def some_failed(self) -> bool:
        """Whether this is not the first try."""
        return self._give_up_at is not None

    def pause(self, trouble: str) -> None:
        """Wait before the next try.

        Raises:
            CommandFailed: it has been tried for a minute, or nobody waits any more.
        """
        if self._unless.is_set():
            raise CommandFailed(f"{self._url} did not answer in time: {trouble}")
        now = time.monotonic()
        if self._give_up_at is None:
            self._give_up_at = now + PATIENCE_S
        elif now > self._give_up_at:
            raise CommandFailed(f"{self._url} has not answered for {PATIENCE_S:.0f} s: {trouble}")
        self._outages.notice(f"{self._url} does not answer ({trouble}); trying again for {PATIENCE_S:.0f} s …")
        self._unless.wait(self._pause_s)
        self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2)
