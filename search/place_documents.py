"""The documents of one place as joined arrays: appended to, ended, and seen as of one moment without a lock.

A row stands for one version of a memory. A changed memory's row ends and another is appended, so that whoever looks at
the arrays sees them as of the clock at which they began, whatever is written meanwhile.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from search.documents import Vector
from search.frequencies import Frequencies

NEVER = np.iinfo(np.int64).max
LOW_BITS = (1 << 64) - 1
FEWEST_ENDED = 64
"""Rows that have ended are left until there are as many, and a quarter of all."""

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint16 | np.uint32]

S = TypeVar("S", bound=np.generic)

NO_ROWS: Integers = np.empty(0, np.int64)


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
            return np.empty(0, np.int64)
        rows: Integers = np.minimum(np.searchsorted(own, numbers), len(own) - 1)
        live: npt.NDArray[np.bool_] = (own[rows] == numbers) & (self.columns.ended[rows] > self.clock)
        return rows[live]

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

    def entries_of(self, rows: Integers | None) -> tuple[Integers, npt.NDArray[np.int32], Counts]:
        """Of these rows, or all: the position among them of each entry's row, its term, and how often it occurs."""
        starts, terms, counts = self.columns.starts, self.columns.terms, self.columns.counts
        if rows is None:
            return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), terms, counts
        firsts = starts[rows]
        sizes = starts[rows + 1] - firsts
        owners = np.repeat(np.arange(len(rows)), sizes)
        entries = np.arange(len(owners)) + np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes)
        return owners, terms[entries], counts[entries]


class PlaceDocuments:
    """The documents of one place, and in how many of them each term occurs. Changed under the index's lock alone.

    `prefix` is what the place's tokens begin with in tantivy.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.documents = 0
        self.length = 0
        self.frequencies = Frequencies()
        self._columns = Columns.empty()
        self._rows = 0
        self._row_of: dict[int, int] = {}
        self._shortest, self._longest = int(NEVER), 0

    def view(self, clock: int) -> View:
        """The documents as they are now, at the clock."""
        columns, rows = self._columns, self._rows
        entries = int(columns.starts[rows])
        shown = Columns(
            columns.numbers[:rows],
            columns.high[:rows],
            columns.low[:rows],
            columns.revisions[:rows],
            columns.types[:rows],
            columns.lengths[:rows],
            columns.ended[:rows],
            columns.starts[: rows + 1],
            columns.terms[:entries],
            columns.counts[:entries],
        )
        return View(shown, clock, self.documents, self.length, self._shortest, self._longest)

    def revision_of(self, memory: int) -> int | None:
        """The revision of a memory that lives here."""
        row = self._row_of.get(memory)
        return None if row is None else int(self._columns.revisions[row])

    def append(self, vector: Vector, terms: list[int], number: int) -> None:
        """Take in a document; a version of it that lives here has been ended before."""
        row, first = self._rows, int(self._columns.starts[self._rows])
        self._columns.make_room(row + 1, first + len(terms))
        columns = self._columns
        if vector.counts and max(vector.counts) > np.iinfo(columns.counts.dtype).max:
            columns.counts = columns.counts.astype(np.uint32)
        columns.numbers[row], columns.revisions[row] = number, vector.revision
        columns.high[row], columns.low[row] = vector.memory >> 64, vector.memory & LOW_BITS
        columns.types[row], columns.lengths[row], columns.ended[row] = vector.type, vector.length, NEVER
        columns.terms[first : first + len(terms)], columns.counts[first : first + len(terms)] = terms, vector.counts
        columns.starts[row + 1] = first + len(terms)
        self._rows += 1
        self._row_of[vector.memory] = row
        self.frequencies.change(terms, 1)
        self.documents += 1
        self.length += vector.length
        self._shortest, self._longest = min(self._shortest, vector.length), max(self._longest, vector.length)

    def end(self, memory: int, clock: int) -> int:
        """End the memory's row at a clock; its number."""
        row, columns = self._row_of.pop(memory), self._columns
        columns.ended[row] = clock
        self.frequencies.change(columns.terms[columns.starts[row] : columns.starts[row + 1]].tolist(), -1)
        self.documents -= 1
        self.length -= int(columns.lengths[row])
        return int(columns.numbers[row])

    def compact(self, clock: int) -> None:
        """Drop the rows that ended up to a clock, once they are many."""
        ended = self._rows - self.documents
        if ended < FEWEST_ENDED or ended * 4 < self._rows:
            return
        self.load(self.view(clock).picked())

    def load(self, columns: Columns) -> None:
        """Hold these documents and no others."""
        self._columns, self._rows = columns, len(columns.numbers)
        living = np.flatnonzero(columns.ended == NEVER)
        ids = zip(columns.high[living].tolist(), columns.low[living].tolist(), living.tolist(), strict=True)
        self._row_of = {high << 64 | low: row for high, low, row in ids}
        lengths = columns.lengths[living]
        self.documents, self.length = len(living), int(lengths.sum(dtype=np.int64))
        self._shortest, self._longest = (int(lengths.min()), int(lengths.max())) if len(living) else (int(NEVER), 0)
        view = self.view(int(NEVER) - 1)
        self.frequencies = Frequencies.counted(view.entries_of(living)[1])


def _picked(view: View, rows: Integers) -> Columns:
    columns = view.columns
    _, terms, counts = view.entries_of(rows)
    sizes = columns.starts[rows + 1] - columns.starts[rows]
    return Columns(
        columns.numbers[rows],
        columns.high[rows],
        columns.low[rows],
        columns.revisions[rows],
        columns.types[rows],
        columns.lengths[rows],
        columns.ended[rows],
        np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
        terms,
        counts,
    )


def _longer(array: npt.NDArray[S], room: int) -> npt.NDArray[S]:
    grown: npt.NDArray[S] = np.empty(room, array.dtype)
    grown[: len(array)] = array
    return grown
