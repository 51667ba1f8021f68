"""In how many documents of one place each term occurs: eight bytes a term, and a few more for the latest changes."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

FEWEST_CHANGES = 1_024
"""Changes are kept apart up to so many terms, or a quarter of what they change."""


class Frequencies:
    """Counts by term number, of which most do not change from one query to the next."""

    def __init__(self) -> None:
        self._terms: npt.NDArray[np.int32] = np.empty(0, np.int32)
        self._counts: npt.NDArray[np.int32] = np.empty(0, np.int32)
        self._changes: dict[int, int] = {}

    @classmethod
    def counted(cls, terms: npt.NDArray[np.int32]) -> "Frequencies":
        """Those of all documents' distinct terms, one after the other."""
        frequencies = cls()
        numbers, counts = np.unique(terms, return_counts=True)
        frequencies._terms, frequencies._counts = numbers, counts.astype(np.int32)
        return frequencies

    def change(self, terms: Iterable[int], by: int) -> None:
        """Count one document more (`by` 1) or less (-1), of these distinct terms."""
        changes = self._changes
        for term in terms:
            changes[term] = changes.get(term, 0) + by
        if len(changes) > max(FEWEST_CHANGES, len(self._terms) // 4):
            self._settle()

    def of(self, terms: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """How many documents hold each of the terms."""
        if len(self._terms):
            places = np.searchsorted(self._terms, terms)
            counts = self._counts.take(places, mode="clip")
            counts[self._terms.take(places, mode="clip") != terms] = 0
        else:
            counts = np.zeros(len(terms), np.int32)
        if self._changes:
            counts += np.array([self._changes.get(term, 0) for term in terms.tolist()], np.int32)
        return counts

    def _settle(self) -> None:
        terms = np.fromiter(self._changes, np.int32, len(self._changes))
        every = np.union1d(self._terms, terms)
        counts = np.zeros(len(every), np.int32)
        counts[np.searchsorted(every, self._terms)] = self._counts
        counts[np.searchsorted(every, terms)] += np.fromiter(self._changes.values(), np.int32, len(self._changes))
        left = counts > 0
        self._terms, self._counts, self._changes = every[left].astype(np.int32), counts[left], {}
