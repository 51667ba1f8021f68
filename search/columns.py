"""The documents of one place as joined arrays, as of one moment.

A row stands for one version of a memory; it is never changed, but for the clock at which it ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

NEVER = np.iinfo(np.int64).max
LOW_BITS = (1 << 64) - 1

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint16 | np.uint32]

S = TypeVar("S", bound=np.generic)

NO_ROWS: Integers = np.empty(0, np.int64)
NO_TERMS = np.empty(0, np.int32)


@dataclass(slots=True)
class Columns:
    """One value a document; `numbers` ascend, `starts` are where a document's terms begin, and one more where all end.

    A memory's id is in two halves, each of which sorts as a number.
    """

    numbers: Integers
    high: npt.NDArray[np.uint64]
    low: npt.NDArray[np.uint64]
    revisions: Integers
    types: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.int32]
    ended: Integers
    starts: Integers
    terms: npt.NDArray[np.int32]
    counts: Counts

    @classmethod
    def empty(cls) -> "Columns":
        """Of no document."""
        none = np.empty(0, np.int64)
        return cls(
            none,
            np.empty(0, np.uint64),
            np.empty(0, np.uint64),
            none,
            np.empty(0, np.uint8),
            np.empty(0, np.int32),
            none,
            np.zeros(1, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.uint16),
        )

    def make_room(self, rows: int, entries: int) -> None:
        """Have room for so many documents and entries; whoever looks at the arrays of before goes on doing so."""
        if rows > len(self.numbers):
            room = rows + rows // 2 + 4
            self.numbers, self.revisions = _longer(self.numbers, room), _longer(self.revisions, room)
            self.high, self.low = _longer(self.high, room), _longer(self.low, room)
            self.types, self.lengths = _longer(self.types, room), _longer(self.lengths, room)
            self.ended, self.starts = _longer(self.ended, room), _longer(self.starts, room + 1)
        if entries > len(self.terms):
            room = entries + entries // 2 + 64
            self.terms, self.counts = _longer(self.terms, room), _longer(self.counts, room)


@dataclass(frozen=True, slots=True)
class View:
    """A place's documents as of one moment: rows up to its end, of which those live that had not ended at its clock.

    `documents` live, of `length` terms in all; none is shorter than `shortest` or longer than `longest` terms.
    """

    columns: Columns
    clock: int
    documents: int
    length: int
    shortest: int
    longest: int

    def living(self) -> npt.NDArray[np.bool_]:
        """Which rows live."""
        return self.columns.ended > self.clock

    def picked(self) -> Columns:
        """The documents that live, and no others; its arrays may be those of the view."""
        living = self.living()
        return self.columns if living.all() else _picked(self, np.flatnonzero(living))

    def rows_of(self, numbers: Integers) -> Integers:
        """The rows of the documents with these numbers that live here; others are left out."""
        own = self.columns.numbers
        if not len(own):
            return NO_ROWS
        rows = own.searchsorted(numbers)
        rows = rows[own.take(rows, mode="clip") == numbers]
        living: Integers = rows[self.columns.ended[rows] > self.clock]
        return living

    def rows_after(self, number: int) -> Integers:
        """The rows of living documents with higher numbers."""
        if not len(self.columns.numbers) or self.columns.numbers[-1] <= number:
            return NO_ROWS
        first = int(np.searchsorted(self.columns.numbers, number, "right"))
        return first + np.flatnonzero(self.columns.ended[first:] > self.clock)

    def rows_ended_since(self, clock: int, number: int) -> Integers:
        """The rows of documents up to a number that lived at an earlier moment, and do not now."""
        until = int(np.searchsorted(self.columns.numbers, number, "right"))
        ended = self.columns.ended[:until]
        return np.flatnonzero((ended > clock) & (ended <= self.clock))

    def entries_of(self, rows: Integers | None) -> "Entries":
        """The entries of these rows, or of all."""
        starts, terms, counts = self.columns.starts, self.columns.terms, self.columns.counts
        if rows is None:
            return Entries(np.diff(starts), [terms], [counts])
        firsts, ends = starts[rows], starts[rows + 1]
        pieces = [slice(first, end) for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)]
        return Entries(ends - firsts, [terms[piece] for piece in pieces], [counts[piece] for piece in pieces])


@dataclass(frozen=True, slots=True)
class Entries:
    """What documents hold: how many terms each, and in pieces the terms, and how often each occurs."""

    sizes: Integers
    terms: list[npt.NDArray[np.int32]]
    counts: list[Counts]

    @classmethod
    def joined(cls, parts: Sequence["Entries"]) -> "Entries":
        """Those of several places, one place after the other."""
        return cls(
            np.concatenate([part.sizes for part in parts]),
            [piece for part in parts for piece in part.terms],
            [piece for part in parts for piece in part.counts],
        )


def _picked(view: View, rows: Integers) -> Columns:
    columns = view.columns
    entries = view.entries_of(rows)
    return Columns(
        columns.numbers[rows],
        columns.high[rows],
        columns.low[rows],
        columns.revisions[rows],
        columns.types[rows],
        columns.lengths[rows],
        columns.ended[rows],
        np.concatenate((np.zeros(1, np.int64), np.cumsum(entries.sizes))),
        np.concatenate((NO_TERMS, *entries.terms)),
        np.concatenate((columns.counts[:0], *entries.counts)),
    )


def _longer(array: npt.NDArray[S], room: int) -> npt.NDArray[S]:
    grown: npt.NDArray[S] = np.empty(room, array.dtype)
    grown[: len(array)] = array
    return grown
