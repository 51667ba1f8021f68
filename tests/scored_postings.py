"""Scores of all documents by posting lists: what `score_exhaustively` says, in time for many queries."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from search.scoring import term_score, term_weight

Column = npt.NDArray[np.float64]


class ScoredPostings:
    """Documents, each with how often it holds each term, and its length in terms."""

    def __init__(self, documents: Iterable[tuple[str, Mapping[str, int], int]]) -> None:
        envelope = sorted(documents, key=lambda document: document[0])
        self._ids = [document for document, _, _ in envelope]
        self._lengths: Column = np.array([length for _, _, length in envelope], np.float64)
        self._average_length = sum(length for _, _, length in envelope) / len(envelope)
        holding: dict[str, tuple[list[int], list[int]]] = {}
        for row, (_, frequencies, _) in enumerate(envelope):
            for term, frequency in frequencies.items():
                rows, counts = holding.setdefault(term, ([], []))
                rows.append(row)
                counts.append(frequency)
        self._holding = {term: (np.array(rows), np.array(counts)) for term, (rows, counts) in holding.items()}

    def best(self, query_terms: Sequence[str], k: int) -> tuple[list[tuple[str, float]], int]:
        """The best k by score and then by id, and how many match."""
        scores: Column = np.zeros(len(self._ids))
        for term in query_terms:
            if term in self._holding:
                rows, counts = self._holding[term]
                weight = term_weight(term, len(self._ids), len(rows))
                scores[rows] += term_score(weight, counts, self._lengths[rows], self._average_length)  # type: ignore[arg-type]  # arrays are as good
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        return [(self._ids[row], float(scores[row])) for row in order if scores[row] > 0], int(np.count_nonzero(scores))
