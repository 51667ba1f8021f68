"""Keeps the parts alive: starts again what died, gives up on what keeps dying, stops all in order."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from canonry.embedded.disk import fullness
from canonry.embedded.processes import log_tail
from canonry.failures import CommandFailed, StartFailed

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 10.0
# Five deaths within a minute are no accident: somebody must read the log.
MOST_DEATHS = 5
WITHIN_S = 60.0
LOOK_EVERY_S = 0.1
PLACE_EVERY_S = 1.0
# A restart of Postgres waits for what the dead one left, for 20 s at most.
RESTART_LIMIT_S = 30.0


class Part(Protocol):
    """Something that runs as a process of its own."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def pid(self) -> int:
        """Its first process."""

    @property
    def log(self) -> Path:
        """Where its output goes."""

    def is_running(self) -> bool:
        """Whether its process lives."""

    def relaunch(self) -> None:
        """Start it again after it died, without waiting until it answers; raises StartFailed."""

    def stop(self) -> None:
        """End it; nothing happens when it has ended."""


@dataclass
class Deaths:
    """When a part died lately, and what follows from it."""

    times: list[float] = field(default_factory=list)

    def add(self, now: float) -> None:
        """Note a death; those of more than a minute ago are forgotten."""
        self.times = [*(each for each in self.times if now - each < WITHIN_S), now]

    @property
    def too_many(self) -> bool:
        """Whether starting it again is pointless."""
        return len(self.times) >= MOST_DEATHS

    @property
    def pause_s(self) -> float:
        """How long to wait before the next start: doubled with every recent death."""
        return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (len(self.times) - 1)))


def _anywhere() -> None:
    """For parts whose files nobody can move."""


class Supervisor:
    """Watches parts, once asked to, from a thread of its own until it is stopped or cannot keep one of them alive.

    Args:
        parts: what is kept alive.
        report: takes a line for a person.
        require_place: raises CommandFailed when the parts' files are no longer where they were; asked every second,
            and before a part is started again, which finds its files by their path.
    """

    def __init__(
        self, parts: Sequence[Part], report: Callable[[str], None], require_place: Callable[[], None] = _anywhere
    ) -> None:
        self._parts = parts
        self._report = report
        self._require_place = require_place
        self._place_due_at = 0.0
        self._deaths = {part.name: Deaths() for part in parts}
        self._starts_at: dict[str, float] = {}
        self._failure: Exception | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def watch(self) -> None:
        """Watch from now on."""
        self._thread.start()

    def wait(self) -> None:
        """Return after `stop`.

        Raises:
            CommandFailed: a part died too often, and the text quotes its log; or its files are gone.
        """
        self._ended.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop watching, or never begin; the parts stay as they are. A restart is waited for, for 30 s at most."""
        self._ended.set()
        with suppress(RuntimeError):  # it had not begun yet, and ends when it does
            self._thread.join(RESTART_LIMIT_S)

    def _watch(self) -> None:
        try:
            while not self._ended.wait(LOOK_EVERY_S):
                self._look_after_place()
                for part in self._parts:
                    self._look_after(part)
        except Exception as failure:  # noqa: BLE001  (raised again by `wait`: parts that nobody watches are worse)
            self._failure = failure
            self._ended.set()

    def _look_after_place(self) -> None:
        if time.monotonic() >= self._place_due_at:
            self._require_place()
            self._place_due_at = time.monotonic() + PLACE_EVERY_S

    def _look_after(self, part: Part) -> None:
        starts_at = self._starts_at.get(part.name)
        if starts_at is not None:
            if time.monotonic() >= starts_at:
                del self._starts_at[part.name]
                self._try_again(part)
        elif not part.is_running():
            self._mourn(part, log_tail(part.log))

    def _try_again(self, part: Part) -> None:
        self._require_place()
        try:
            part.relaunch()
        except StartFailed as failure:
            self._mourn(part, str(failure))

    def _mourn(self, part: Part, last_words: str) -> None:
        deaths = self._deaths[part.name]
        deaths.add(time.monotonic())
        if deaths.too_many:
            raise CommandFailed(
                f"{part.name} ended {MOST_DEATHS} times within {WITHIN_S:.0f} s"
                f"{fullness(part.log.parent)}, the last time with:\n{last_words}"
            )
        self._report(f"{part.name} ended; starting it again in {deaths.pause_s:g} s ({part.log})")
        self._starts_at[part.name] = time.monotonic() + deaths.pause_s
