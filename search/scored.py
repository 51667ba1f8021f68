"""Documents of an envelope with their exact scores, and the best of them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from search.columns import Floats, Integers, View
from search.corpus import Seen
from search.documents import memory_id_of
from search.exact_scores import scores_of
from search.ranking import Hit


@dataclass(frozen=True, slots=True)
class Scored:
    """Some rows of each place, one place after the other, or all; the score is 0 of what is not to be found."""

    parts: Sequence[tuple[View, Integers | None]]
    scores: Floats

    def matching(self) -> int:
        """How many are to be found."""
        return int(np.count_nonzero(self.scores))

    def best(self, k: int) -> tuple[Hit, ...]:
        """The best k, by score and then by id."""
        least = np.partition(self.scores, -k)[-k] if k < len(self.scores) else 0.0
        chosen = np.flatnonzero((self.scores >= least) & (self.scores > 0)).tolist()
        return tuple(sorted(self._hits(chosen), key=lambda hit: (-hit.score, hit.memory_id))[:k])

    def _hits(self, chosen: Sequence[int]) -> list[Hit]:
        sizes = (len(view.columns.numbers) if rows is None else len(rows) for view, rows in self.parts)
        firsts = [0, *accumulate(sizes)]
        hits = []
        for position in chosen:
            part = bisect_right(firsts, position) - 1
            (view, rows), within = self.parts[part], position - firsts[part]
            row, columns = within if rows is None else int(rows[within]), view.columns
            memory = int(columns.high[row]) << 64 | int(columns.low[row])
            hits.append(Hit(memory_id_of(memory), int(columns.revisions[row]), float(self.scores[position])))
        return hits


def score(seen: Seen, rows: Sequence[Integers] | None, wanted: int | None) -> Scored:
    """Score these living rows of each place, or all; only what is of the wanted type is to be found."""
    asked = [None] * len(seen.views) if rows is None else rows
    parts = [(view, some) for view, some in zip(seen.views, asked, strict=True) if some is None or len(some)]
    if not parts:
        return Scored(parts, np.empty(0, np.float64))
    scores = scores_of(parts, seen.query, seen.vocabulary)
    if rows is None:
        scores[~np.concatenate([view.living() for view, _ in parts])] = 0.0
    if wanted is not None:
        types = [view.columns.types if some is None else view.columns.types[some] for view, some in parts]
        scores[np.concatenate(types) != wanted] = 0.0
    return Scored(parts, scores)
