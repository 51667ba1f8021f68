"""All that one process has indexed: the places of every organization, by arrays. Used under the index's lock."""

import base64
import hashlib
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.identifiers import OrganizationId
from models.rules.visibility import Envelope, Place
from search.columns import View
from search.documents import Vector
from search.exact_scores import Query
from search.place_documents import PlaceDocuments
from search.vocabulary import Vocabulary

GONE_IS_KNOWN_S = 600
"""How long a deletion is remembered: longer than any save whose commit came before it can take to be told."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an envelope shows at one moment, for one query: documents, statistics, and the query's terms among them.

    `prefixes` are those of the places, in the order of their `views`.
    """

    views: tuple[View, ...]
    prefixes: tuple[str, ...]
    query: Query
    documents: int
    vocabulary: int
    clock: int

    def weights(self) -> list[tuple[str, float]]:
        """The tokens of the query in every place, with what each is worth in the envelope."""
        terms = tuple(zip(self.query.terms, self.query.idfs, strict=True))
        return [(prefix + term, idf) for prefix in self.prefixes for term, idf in terms]


@dataclass(frozen=True, slots=True)
class Addition:
    """Documents that tantivy does not have yet: rows of a place, and what the place's tokens begin with."""

    prefix: str
    view: View
    rows: Sequence[int]


@dataclass(frozen=True, slots=True)
class Changes:
    """What tantivy has to be told, to stand at the clock: all documents up to `last` are in it then."""

    additions: tuple[Addition, ...]
    removals: tuple[int, ...]
    last: int
    clock: int


class Corpus:
    """Documents by organization and place.

    `clock` grows by one with every change, and numbers the moments. It begins where the feed was, and so never falls
    behind what was told of an earlier corpus.
    """

    def __init__(self, *, clock: int = 0) -> None:
        self.clock = clock
        self.vocabulary = Vocabulary()
        self.organizations: dict[OrganizationId, dict[Place, PlaceDocuments]] = {}
        self.last = 0
        self._told = 0
        self._touched: dict[PlaceDocuments, int] = {}
        self._ended: list[int] = []
        self._gone: dict[tuple[OrganizationId, int], tuple[int, float]] = {}

    def put(self, vector: Vector, *, is_change: bool = True) -> None:
        """Take in a memory as of a revision, unless that or a later one is known.

        What is read to build the corpus is no change: the clock goes on from the feed's, by what the feed tells.
        """
        gone, _ = self._gone.get((vector.org_id, vector.memory), (0, 0.0))
        documents = self.place(vector.org_id, vector.place)
        known = documents.revision_of(vector.memory)
        if max(gone, known or 0) >= vector.revision:
            return
        self.last += 1
        if is_change or known is not None:
            self.clock += 1
        if known is not None:
            self._ended.append(documents.end(vector.memory, self.clock))
        documents.append(vector, self.vocabulary.numbers_of(vector.terms), self.last)
        self._touched[documents] = self.clock

    def remove(self, org_id: OrganizationId, memory: int, revision: int) -> None:
        """Take out a memory that is gone as of a revision, unless a later one is known."""
        gone, _ = self._gone.get((org_id, memory), (0, 0.0))
        if gone >= revision:
            return
        for documents in self.organizations.get(org_id, {}).values():
            known = documents.revision_of(memory)
            if known is not None:
                if known > revision:
                    return
                self.clock += 1
                self._ended.append(documents.end(memory, self.clock))
                self._touched[documents] = self.clock
        self._gone[org_id, memory] = revision, time.monotonic()

    def place(self, org_id: OrganizationId, place: Place) -> PlaceDocuments:
        """The documents of a place; one that is new has none."""
        places = self.organizations.setdefault(org_id, {})
        if place not in places:
            places[place] = PlaceDocuments(_prefix(org_id, place))
        return places[place]

    def count(self, envelope: Envelope, places: Collection[Place] | None) -> int:
        """How many documents the envelope shows."""
        return sum(documents.documents for documents in self._shown(envelope, places))

    def see(self, envelope: Envelope, places: Collection[Place] | None, terms: Sequence[str]) -> Seen:
        """What the envelope shows now, for a query of these terms."""
        shown = tuple(self._shown(envelope, places))
        known = [(term, number) for term in terms if (number := self.vocabulary.number_of(term)) is not None]
        numbers = [number for _, number in known]
        asked = np.array(numbers, np.int32)
        holding = sum((each.frequencies.of(asked) for each in shown), np.zeros(len(asked), np.int32)).tolist()
        documents, length = sum(each.documents for each in shown), sum(each.length for each in shown)
        return Seen(
            tuple(each.view(self.clock) for each in shown),
            tuple(each.prefix for each in shown),
            Query.of([term for term, _ in known], numbers, holding, documents, length),
            documents,
            len(self.vocabulary),
            self.clock,
        )

    def _shown(self, envelope: Envelope, places: Collection[Place] | None) -> Iterator[PlaceDocuments]:
        own = self.organizations.get(envelope.org_id, {})
        if envelope.whole:
            asked = dict.fromkeys(place for place in (own if places is None else places) if envelope.spans(place))
        else:
            asked = dict.fromkeys(place for place in envelope.readable if places is None or place in places)
        return (own[place] for place in asked if place in own and own[place].documents)

    def changes(self) -> Changes | None:
        """What tantivy does not know yet; None if it knows all. `told` is called when it does."""
        if not self._touched:
            return None
        additions = []
        for documents in self._touched:
            view = documents.view(self.clock)
            additions.append(Addition(documents.prefix, view, view.rows_after(self._told).tolist()))
        return Changes(tuple(additions), tuple(self._ended), self.last, self.clock)

    def told(self, changes: Changes) -> None:
        """Tantivy stands where the changes lead: what ended before is not asked for any more."""
        self._told = changes.last
        del self._ended[: len(changes.removals)]
        for documents in [documents for documents, clock in self._touched.items() if clock <= changes.clock]:
            documents.compact(changes.clock)
            del self._touched[documents]
        before = time.monotonic() - GONE_IS_KNOWN_S
        self._gone = {memory: gone for memory, gone in self._gone.items() if gone[1] > before}

    def forget_telling(self) -> None:
        """Have tantivy told everything again: what it held is lost."""
        self._told = 0
        self._ended.clear()
        every = (documents for places in self.organizations.values() for documents in places.values())
        self._touched = dict.fromkeys(every, self.clock)


def _prefix(org_id: OrganizationId, place: Place) -> str:
    """Thirteen characters of base 32; two places that shared one would cost time, and no answer."""
    named = f"{org_id}\0{place.scope}\0{place.scope_id}".encode()
    return base64.b32encode(hashlib.blake2b(named, digest_size=8).digest()).decode().rstrip("=").lower() + ":"
