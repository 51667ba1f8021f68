"""The score of many documents at once, equal to that of `search.scoring` to the last bit.

A document's shares are added one after the other in the order of the query's terms, whichever way it was found: equal
documents score equally, and nothing outside of the envelope changes a bit.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search.columns import Entries, Floats, Integers, View
from search.scoring import K1, B, term_weight

FEW = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Query:
    """The terms of a query that documents of the envelope hold, each with its weight there."""

    terms: tuple[str, ...]
    numbers: tuple[int, ...]
    idfs: tuple[float, ...]
    average_length: float

    @classmethod
    def of(
        cls, terms: Sequence[str], numbers: Sequence[int], holding: Sequence[int], documents: int, length: int
    ) -> "Query":
        """Of distinct terms, each held by `holding` of so many documents, which have `length` terms together."""
        held = [place for place, count in enumerate(holding) if count]
        return cls(
            tuple(terms[place] for place in held),
            tuple(numbers[place] for place in held),
            tuple(term_weight(terms[place], documents, holding[place]) for place in held),
            length / documents if documents else 0.0,
        )


class _Tables(threading.local):
    """By term number, where in the query it is, from 1; kept between queries, and all 0 there."""

    def __init__(self) -> None:
        self.places: npt.NDArray[np.int32] = np.zeros(1 << 16, np.int32)


_tables = _Tables()


@contextmanager
def _places_in(query: Query, highest: int) -> Iterator[npt.NDArray[np.int32]]:
    if len(_tables.places) <= highest:
        _tables.places = np.zeros(2 * highest, np.int32)
    places, numbers = _tables.places, np.asarray(query.numbers, np.int64)
    places[numbers] = np.arange(1, len(numbers) + 1, dtype=np.int32)
    try:
        yield places
    finally:
        places[numbers] = 0


def scores_of(parts: Sequence[tuple[View, Integers | None]], query: Query, vocabulary: int) -> Floats:
    """The scores of documents of some places, one place after the other; 0 where no term occurs.

    Args:
        parts: the places' documents, and which rows of each; None for all of them, whether they live or not.
        query: what is looked for.
        vocabulary: how many terms there are.
    """
    entries = Entries.joined([view.entries_of(rows) for view, rows in parts])
    lengths = [view.columns.lengths if rows is None else view.columns.lengths[rows] for view, rows in parts]
    norms = K1 * (1 - B + B * np.concatenate(lengths) / query.average_length)
    if not entries.terms:
        return np.zeros(len(norms), np.float64)
    with _places_in(query, vocabulary) as table:
        places = table.take(np.concatenate(entries.terms))
    held = np.flatnonzero(places != 0)
    places = places.take(held)
    # Few terms fit into 16 bits, which are sorted in one pass.
    order = np.argsort(places.astype(np.uint16) if len(query.terms) <= FEW else places, kind="stable")
    held, idfs = held.take(order), np.asarray(query.idfs).take(places.take(order) - 1)
    owners = np.repeat(np.arange(len(norms)), entries.sizes).take(held)
    frequencies = np.concatenate(entries.counts).take(held).astype(np.float64)
    # `search.scoring.term_score`, operation by operation.
    shares = idfs * frequencies * (K1 + 1) / (frequencies + norms.take(owners))
    scores: Floats = np.bincount(owners, shares, len(norms)).astype(np.float64, copy=False)
    return scores
