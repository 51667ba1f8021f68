"""How long a command waits for a server that does not answer."""

import time
from collections.abc import Callable
from threading import Event

from canonry.failures import CommandFailed

PATIENCE_S = 60.0
"""How long one request is tried again: a restart of everything takes less."""
PATIENCE_WITH_STRANGERS_S = 5.0
"""The same where nobody has answered yet: the address may be wrong."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 3.0
SILENCE_S = 10.0
"""A person is told once when several requests fail for one reason."""


class Outages:
    """Tells a person that a server is away, however many requests notice it; `has_answered`: it was there before.

    Args:
        report: takes a line.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._noticed_at = float("-inf")
        self.has_answered = False

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
            CommandFailed: it has been tried for a minute, or for five seconds where nobody has ever answered; or nobody
                waits any more.
        """
        if self._unless.is_set():
            raise CommandFailed(f"{self._url} did not answer in time: {trouble}")
        now = time.monotonic()
        patience_s = PATIENCE_S if self._outages.has_answered else PATIENCE_WITH_STRANGERS_S
        if self._give_up_at is None:
            self._give_up_at = now + patience_s
        elif now > self._give_up_at:
            question = "" if self._outages.has_answered else "; is the address right?"
            raise CommandFailed(f"{self._url} has not answered for {patience_s:.0f} s: {trouble}{question}")
        self._outages.notice(f"{self._url} does not answer ({trouble}); trying again for {patience_s:.0f} s …")
        self._unless.wait(self._pause_s)
        self._pause_s = min(LONGEST_PAUSE_S, self._pause_s * 2)
