"""Interleaved rounds, and ratios against a baseline of the same rounds."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import psutil

MILLISECONDS = 1_000
TICK_S = 0.01

Timing = Callable[[], float]
"""Does one thing and returns the milliseconds that count; preparing it is not timed."""


def timed(work: Callable[[], object]) -> float:
    """The milliseconds that `work` takes."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * MILLISECONDS


def processor_time_of(pid: int, work: Callable[[], object]) -> float:
    """The milliseconds of processor time that a process takes while `work` is done, at least the tick it counts in."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    work()
    after = process.cpu_times()
    return max(after.user + after.system - before.user - before.system, TICK_S) * MILLISECONDS


@dataclass(frozen=True)
class Schedule:
    """How often everything is measured: `rounds` medians of `repeats` turns each, after `warm_up` turns."""

    rounds: int
    repeats: int
    warm_up: int


def interleaved(subjects: Mapping[str, Timing], schedule: Schedule) -> dict[str, Sequence[float]]:
    """The median of each subject in each round.

    The subjects take turns one by one, so that whatever else the machine does meets all of them alike; who begins
    changes from turn to turn.
    """
    names = list(subjects)
    turns = count()
    for _ in range(schedule.warm_up):
        _take_turns(subjects, names, next(turns))
    medians: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(schedule.rounds):
        taken = [_take_turns(subjects, names, next(turns)) for _ in range(schedule.repeats)]
        for name in names:
            medians[name].append(statistics.median(turn[name] for turn in taken))
    return {name: medians[name] for name in names}


def _take_turns(subjects: Mapping[str, Timing], names: Sequence[str], turn: int) -> dict[str, float]:
    first = turn % len(names)
    return {name: subjects[name]() for name in (*names[first:], *names[:first])}


@dataclass(frozen=True)
class Comparison:
    """A subject against its baseline, round by round.

    Args:
        subject: what is measured.
        measured: its milliseconds, one median a round.
        baseline: what it is compared with.
        against: the baseline's milliseconds in the same rounds.
        at_most: the ratio it is to stay within; None where no target is set.
    """

    subject: str
    measured: Sequence[float]
    baseline: str
    against: Sequence[float]
    at_most: float | None = None

    @property
    def ratios(self) -> list[float]:
        """The ratio in each round."""
        return [mine / theirs for mine, theirs in zip(self.measured, self.against, strict=True)]

    @property
    def verdict(self) -> str:
        """`PASS` or `over`; nothing without a target."""
        if self.at_most is None:
            return ""
        return "PASS" if statistics.median(self.ratios) <= self.at_most else "over"


HEADINGS = ("measured", "ms", "against", "ms", "ratio", "lowest to highest", "target", "")


def table(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as a Markdown table."""
    return markdown([HEADINGS, *(_row(comparison) for comparison in comparisons)])


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table; the first are its headings."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    ruled = [rows[0], tuple("-" * width for width in widths), *rows[1:]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in ruled
    )


def _row(comparison: Comparison) -> tuple[str, ...]:
    ratios = comparison.ratios
    return (
        comparison.subject,
        f"{statistics.median(comparison.measured):.1f}",
        comparison.baseline,
        f"{statistics.median(comparison.against):.1f}",
        f"{statistics.median(ratios):.2f}x",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        "" if comparison.at_most is None else f"at most {comparison.at_most:.1f}x",
        comparison.verdict,
    )
