"""The documents of one place as joined arrays: appended to, ended, and seen as of one moment without a lock.

A row stands for one version of a memory. A changed memory's row ends and another is appended, so that whoever looks at
the arrays sees them as of the clock at which they began, whatever is written meanwhile.
"""

from collections.abc import Iterable

import numpy as np

from search.columns import LOW_BITS, NEVER, NO_TERMS, Columns, View
from search.documents import Vector
from search.frequencies import Frequencies

FEWEST_ENDED = 64
"""Rows that have ended are left until there are as many, and a quarter of all."""


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
        self._view: View | None = None

    def view(self, clock: int) -> View:
        """The documents as they are now, at the clock or the earlier one since which nothing changed."""
        if self._view is None:
            self._view = self._seen(clock)
        return self._view

    def _seen(self, clock: int) -> View:
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

    def memories(self) -> Iterable[int]:
        """Those that live here."""
        return self._row_of.keys()

    def append(self, vector: Vector, terms: list[int], number: int) -> None:
        """Take in a document; a version of it that lives here has been ended before."""
        self._view = None
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
        self._view = None
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
        self._view = None
        self._columns, self._rows = columns, len(columns.numbers)
        living = np.flatnonzero(columns.ended == NEVER)
        ids = zip(columns.high[living].tolist(), columns.low[living].tolist(), living.tolist(), strict=True)
        self._row_of = {high << 64 | low: row for high, low, row in ids}
        lengths = columns.lengths[living]
        self.documents, self.length = len(living), int(lengths.sum(dtype=np.int64))
        self._shortest, self._longest = (int(lengths.min()), int(lengths.max())) if len(living) else (int(NEVER), 0)
        held = self._seen(int(NEVER) - 1).entries_of(living).terms
        self.frequencies = Frequencies.counted(np.concatenate((NO_TERMS, *held)))
