"""The index of structured memories of one process: told of every save, asked for what matters to a query.

Ranking equals exhaustive scoring over the envelope (memory.md §4.4), whatever else is indexed: candidates come from
tantivy, their scores and all statistics from arrays of the envelope's own places, and a bound says whether the best are
among them. What tantivy does not have yet is scored exactly too.
"""

import threading
from collections.abc import Collection, Sequence

import numpy as np

from models.errors import IndexNotReady
from models.identifiers import OrganizationId
from models.rules.structured_fields import MEMORY_TYPES, MemoryType
from models.rules.visibility import Envelope, Place
from search.analysis import query_terms
from search.certificate import certifies, highest_ratio
from search.columns import Integers
from search.corpus import Changes, Corpus, Seen
from search.documents import Gone, Indexed, Vector, memory_number, vector_of
from search.proposals import Proposals, Proposed
from search.ranking import Hit, IndexState, Ranking
from search.scored import score

SCANNED = 1_500
"""Documents of an envelope that are scored one and all: so few take no longer than asking for candidates (measured)."""
WIDENING = (1, 4, 16)
"""By what the first number of candidates is multiplied, one after the other, before all are scored."""
MOST_CLAUSES = 4_000
"""Tokens that tantivy is asked for at once; where a query has more, all documents are scored."""


class MemoryIndex:
    """Documents of all organizations, and their ranking within an envelope; safe to use from many threads.

    It answers nothing until `serve` has been called with a corpus that is complete.

    Args:
        fetch_limit: how many candidates are scored exactly at first.
    """

    def __init__(self, *, fetch_limit: int = 50) -> None:
        self._fetch_limit = fetch_limit
        self._lock = threading.Lock()
        self._serving: Corpus | None = None
        self._preparing: Corpus | None = None
        self._proposals: Proposals | None = None
        self._progress = 0.0
        self._reached = 0
        self._applied = self._latest = 0

    def revision_of(self, org_id: OrganizationId) -> int:
        """Grows with every change of the organization that is indexed, and does not fall back across restarts."""
        corpus = self._serving or self._preparing
        return self._reached if corpus is None else max(self._reached, corpus.revision_of(org_id))

    @property
    def state(self) -> IndexState:
        """How far it has come."""
        ready = self._serving is not None
        return IndexState(ready, self._applied, self._latest, 1.0 if ready else self._progress)

    def apply(self, documents: Sequence[Indexed | Gone]) -> None:
        """Take changes in, each once however often it is told, and none that an earlier or later call has overtaken.

        Called after the COMMIT of what it tells: whoever asks then finds it.
        """
        vectors = [vector_of(document) if isinstance(document, Indexed) else document for document in documents]
        with self._lock:
            for corpus in (self._serving, self._preparing):
                if corpus is not None:
                    _take(corpus, vectors)

    def rank(
        self,
        envelope: Envelope,
        query: str,
        *,
        k: int,
        type: MemoryType | None = None,  # noqa: A002  (the field's name in the contract)
        places: Collection[Place] | None = None,
        count: bool = False,
    ) -> Ranking:
        """The best `k` memories that the envelope shows, as exhaustive scoring over all of it has them.

        Args:
            envelope: what may be seen; its statistics alone are in the scores.
            query: text, not a query language.
            k: how many at most.
            type: only memories of this type; the scores stay those of the whole envelope.
            places: only these of the envelope's places, as an envelope of its own.
            count: whether to count all that match.

        Raises:
            IndexNotReady: it is being rebuilt.
        """
        terms = query_terms(query)
        with self._lock:
            seen, proposals = self._ready().see(envelope, places, terms), self._proposals
        wanted = None if type is None else MEMORY_TYPES.index(type)
        if not seen.query.terms:
            return Ranking((), 0 if count else None, seen.documents, seen.revision)
        found = self._from_candidates(seen, proposals, k, wanted, count=count) or _from_all(seen, k, wanted)
        hits, total = found
        return Ranking(hits, total if count else None, seen.documents, seen.revision)

    def _from_candidates(
        self, seen: Seen, proposals: Proposals | None, k: int, wanted: int | None, *, count: bool
    ) -> tuple[tuple[Hit, ...], int] | None:
        """The best and how many match, if candidates can tell; None if all documents have to be scored."""
        clauses = len(seen.query.terms) * len(seen.prefixes)
        few = seen.documents <= max(SCANNED, self._fetch_limit)
        if proposals is None or few or clauses > MOST_CLAUSES or (count and wanted is not None):
            return None
        tails = [view.rows_after(proposals.last) for view in seen.views]
        if sum(map(len, tails)) * 4 > seen.documents:
            return None
        ratio = highest_ratio(
            seen.query.average_length,
            proposals.average_length,
            min(view.shortest for view in seen.views),
            max(view.longest for view in seen.views),
        )
        weights = seen.weights()
        for widening in WIDENING:
            proposed = proposals.propose(weights, max(self._fetch_limit, k) * widening)
            if proposed is None:
                return None
            rows = [view.rows_of(proposed.numbers) for view in seen.views]
            hits = score(seen, [_joined(*pair) for pair in zip(rows, tails, strict=True)], wanted).best(k)
            kth = hits[-1].score if len(hits) == k else 0.0
            if proposed.last == 0 or certifies(kth, proposed.last, ratio, clauses):
                return hits, _matching(seen, proposals, proposed, tails) if count else 0
        return None

    def prepare(self, corpus: Corpus) -> None:
        """Have a corpus told of everything that is applied from now on, beside the one that serves."""
        with self._lock:
            self._preparing, self._progress = corpus, 0.0

    def load(self, documents: Sequence[Indexed], *, progress: float) -> None:
        """Read memories into the corpus that is being prepared; `progress` is the part that it has then."""
        vectors = [vector_of(document) for document in documents]
        with self._lock:
            if self._preparing is not None:
                for vector in vectors:
                    self._preparing.put(vector, is_change=False)
            self._progress = progress

    def serve(self) -> None:
        """Answer from the corpus that was prepared, which is complete."""
        with self._lock:
            self._keep_reached()
            if self._preparing is not None:
                self._preparing.count_from(max(self._reached, self._latest))
            self._serving, self._preparing, self._proposals = self._preparing, None, None

    def withdraw(self) -> None:
        """Answer nothing until another corpus is prepared: what changed since cannot be told."""
        with self._lock:
            self._keep_reached()
            self._serving = self._preparing = self._proposals = None
            self._progress = 0.0

    def note(self, *, applied: int = 0, latest: int = 0) -> None:
        """Record the number of the last event that is taken in, or of the last there is; neither goes back."""
        self._applied = max(self._applied, applied)
        self._latest = max(self._latest, latest)

    def corpus(self) -> Corpus | None:
        """The corpus that serves; whoever reads it holds `lock`."""
        return self._serving

    @property
    def lock(self) -> threading.Lock:
        """Held while the corpus is read or changed."""
        return self._lock

    def proposals(self) -> Proposals | None:
        """What candidates are asked of; None until tantivy has been told once."""
        return self._proposals

    def propose_from(self, proposals: Proposals, changes: Changes) -> None:
        """Ask these proposals from now on, which have taken in the changes."""
        with self._lock:
            if self._serving is not None:
                self._serving.told(changes)
                self._proposals = proposals

    def not_ready(self) -> IndexNotReady:
        """The refusal while it is being rebuilt, with its progress."""
        return IndexNotReady("The search index is being rebuilt.", progress=round(self._progress, 3))

    def forget_proposals(self) -> None:
        """Score everything until tantivy has been told all of it again."""
        with self._lock:
            self._proposals = None
            if self._serving is not None:
                self._serving.forget_telling()

    def _keep_reached(self) -> None:
        for corpus in (self._serving, self._preparing):
            if corpus is not None:
                self._reached = max(self._reached, corpus.highest_revision())

    def _ready(self) -> Corpus:
        if self._serving is None:
            raise self.not_ready()
        return self._serving


def _take(corpus: Corpus, changes: Sequence[Vector | Gone]) -> None:
    for change in changes:
        if isinstance(change, Gone):
            corpus.remove(change.org_id, memory_number(change.memory_id), change.revision)
        else:
            corpus.put(change)


def _joined(rows: Integers, tail: Integers) -> Integers:
    return np.concatenate((rows, tail)) if len(tail) else rows


def _from_all(seen: Seen, k: int, wanted: int | None) -> tuple[tuple[Hit, ...], int]:
    scored = score(seen, None, wanted)
    return scored.best(k), scored.matching()


def _matching(seen: Seen, proposals: Proposals, proposed: Proposed, tails: Sequence[Integers]) -> int:
    """How many match now: what tantivy counted, without those that ended since, and those that it does not have."""
    ended = [view.rows_ended_since(proposals.clock, proposals.last) for view in seen.views]
    return proposed.matching + score(seen, tails, None).matching() - score(seen, ended, None).matching()
