"""Parts of an installation that are killed at random moments, each started again soon after."""

import asyncio
import os
import random
import signal
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from canonry.supervisor import Part
from tests.parts import restart

SEED_VARIABLE = "KILLS_SEED"


class Victim(Protocol):
    """Something that is killed, and lives again when `bring_back` returns."""

    def kill(self) -> bool:
        """Kill -9; False when there is nothing to kill at the moment."""

    def bring_back(self) -> None:
        """Start it again."""


@dataclass(frozen=True)
class Server:
    """A part of the installation."""

    part: Part

    def kill(self) -> bool:
        os.kill(self.part.pid, signal.SIGKILL)
        return True

    def bring_back(self) -> None:
        restart(self.part)


@dataclass(frozen=True)
class Kill:
    """What was killed, how much was in flight then, and how long it was away."""

    name: str
    in_flight: int
    away_s: float


@dataclass(frozen=True)
class Pace:
    """How long it is calm between two kills, and how long a part stays away before it is started, in seconds."""

    shortest_calm_s: float
    longest_calm_s: float
    longest_absence_s: float


class RandomKills:
    """Kills victims at random moments; several may be away at once.

    Args:
        victims: by name.
        pace: how fast.
        chance: decides what and when.
        in_flight: asked at each kill.
    """

    def __init__(
        self, victims: Mapping[str, Victim], pace: Pace, chance: random.Random, in_flight: Callable[[], int]
    ) -> None:
        self._victims, self._pace, self._chance, self._in_flight = victims, pace, chance, in_flight
        self._away: dict[str, asyncio.Task[None]] = {}
        self._struck: list[str] = []
        self.kills: list[Kill] = []

    async def strike(self, number: int) -> None:
        """Kill so many times; return when everything is back."""
        deck: list[str] = []
        while len(self._struck) < number:
            await asyncio.sleep(self._chance.uniform(self._pace.shortest_calm_s, self._pace.longest_calm_s))
            # As cards are drawn, so that everything is killed about as often, whatever the number.
            deck = deck or self._chance.sample(list(self._victims), len(self._victims))
            await self._strike(deck.pop())
        await asyncio.gather(*self._away.values())

    async def _strike(self, name: str) -> None:
        if name in self._away:
            await self._away.pop(name)
        in_flight = self._in_flight()
        if self._victims[name].kill():
            self._struck.append(name)
            self._away[name] = asyncio.create_task(self._bring_back(name, in_flight))

    async def _bring_back(self, name: str, in_flight: int) -> None:
        killed_at = time.monotonic()
        await asyncio.sleep(self._chance.uniform(0.0, self._pace.longest_absence_s))
        await asyncio.to_thread(self._victims[name].bring_back)
        self.kills.append(Kill(name, in_flight, time.monotonic() - killed_at))

    def table(self) -> str:
        """How often each was killed, what was in flight, and how long it was away."""
        rows = [_row(name, [kill for kill in self.kills if kill.name == name]) for name in self._victims]
        return "\n".join(ROW.format(*row) for row in (HEADINGS, *rows, _row("all", self.kills)))


HEADINGS = ("killed", "times", "in flight: least", "mean", "most", "away: median", "longest")
ROW = "{:<9} {:>5}   {:>16} {:>5} {:>5}   {:>12} {:>8}"


def _row(name: str, kills: Sequence[Kill]) -> Sequence[str]:
    if not kills:
        return (name, "0", *[""] * 5)
    in_flight, away = [kill.in_flight for kill in kills], [kill.away_s for kill in kills]
    return (
        *(name, f"{len(kills)}"),
        *(f"{min(in_flight)}", f"{statistics.mean(in_flight):.1f}", f"{max(in_flight)}"),
        *(f"{statistics.median(away):.1f} s", f"{max(away):.1f} s"),
    )


def a_seed() -> int:
    """The seed that the environment names, so that a run can be repeated as far as chance decides; else any.

    It is printed: a failure shows it.
    """
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(1_000_000))
    print(f"{SEED_VARIABLE}={seed}")  # noqa: T201
    return seed
