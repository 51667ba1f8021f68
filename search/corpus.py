"""All that one process has indexed: the places of every organization, by arrays. Used under the index's lock."""

import base64
import hashlib
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from models.identifiers import OrganizationId
from models.rules.visibility import Envelope, Place
from search.columns import Columns, View
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
    revision: int

    def weights(self) -> list[tuple[str, float]]:
        """The tokens of the query in every place, with what each is worth in the envelope."""
        terms = tuple(zip(self.query.terms, self.query.idfs, strict=True))
        return [(prefix + term, idf) for prefix in self.prefixes for term, idf in terms]


@dataclass(frozen=True, slots=True)
class Addition:
    """Documents of a place that tantivy does not have yet, those with numbers above `told`.

    `prefix` is what the place's tokens begin with.
    """

    prefix: str
    view: View
    told: int

    @property
    def rows(self) -> Sequence[int]:
        """The documents' rows; asked without the index's lock, for of a new corpus they are all there are."""
        rows: list[int] = self.view.rows_after(self.told).tolist()
        return rows


@dataclass(frozen=True, slots=True)
class Changes:
    """What tantivy has to be told, to stand at the clock: all documents up to `last` are in it then."""

    additions: tuple[Addition, ...]
    removals: tuple[int, ...]
    last: int
    clock: int


class Corpus:
    """Documents by organization and place.

    `clock` grows by one with every change, and numbers the moments. What is told outside is the number of an
    organization's own changes, from a beginning that is the same for all.

    Args:
        begin: a number that nothing told of an earlier corpus is above.
    """

    def __init__(self, *, begin: int = 0) -> None:
        self.clock = 0
        self._begin = begin
        self._changes: dict[OrganizationId, int] = {}
        self.vocabulary = Vocabulary()
        self.organizations: dict[OrganizationId, dict[Place, PlaceDocuments]] = {}
        self.last = 0
        self._homes: dict[OrganizationId, dict[int, PlaceDocuments]] = {}
        self._told = 0
        self._touched: dict[PlaceDocuments, int] = {}
        self._ended: list[int] = []
        self._gone: dict[tuple[OrganizationId, int], tuple[int, float]] = {}

    def put(self, vector: Vector, *, is_change: bool = True) -> None:
        """Take in a memory as of a revision, unless that or a later one is known.

        What is read to build the corpus is not counted as a change: the feed tells those.
        """
        gone, _ = self._gone.get((vector.org_id, vector.memory), (0, 0.0))
        homes = self._homes.setdefault(vector.org_id, {})
        home = homes.get(vector.memory)
        known = None if home is None else home.revision_of(vector.memory)
        if max(gone, known or 0) >= vector.revision:
            return
        self.last += 1
        self._turn(vector.org_id, is_change=is_change or home is not None)
        if home is not None:
            self._end(home, vector.memory)
        documents = homes[vector.memory] = self.place(vector.org_id, vector.place)
        documents.append(vector, self.vocabulary.numbers_of(vector.terms), self.last)
        self._touched[documents] = self.clock

    def remove(self, org_id: OrganizationId, memory: int, revision: int) -> None:
        """Take out a memory that is gone as of a revision, unless a later one is known."""
        gone, _ = self._gone.get((org_id, memory), (0, 0.0))
        if gone >= revision:
            return
        homes = self._homes.get(org_id, {})
        home = homes.get(memory)
        if home is not None:
            if (home.revision_of(memory) or 0) > revision:
                return
            self._turn(org_id, is_change=True)
            self._end(home, memory)
            del homes[memory]
        self._gone[org_id, memory] = revision, time.monotonic()

    def load(self, org_id: OrganizationId, place: Place, columns: Columns) -> None:
        """Hold these documents in a place that has none."""
        documents = self.place(org_id, place)
        documents.load(columns)
        self._homes.setdefault(org_id, {}).update(dict.fromkeys(documents.memories(), documents))

    def _turn(self, org_id: OrganizationId, *, is_change: bool) -> None:
        self.clock += 1
        if is_change:
            self._changes[org_id] = self._changes.get(org_id, 0) + 1

    def _end(self, home: PlaceDocuments, memory: int) -> None:
        self._ended.append(home.end(memory, self.clock))
        self._touched[home] = self.clock

    def revision_of(self, org_id: OrganizationId) -> int:
        """Grows by one with every change of the organization, and by those of no other."""
        return self._begin + self._changes.get(org_id, 0)

    def highest_revision(self) -> int:
        """That of the organization which changed most."""
        return self._begin + max(self._changes.values(), default=0)

    def count_from(self, begin: int) -> None:
        """Count changes anew from a number, or from the highest that was told if that is above it."""
        self._begin = max(begin, self.highest_revision())
        self._changes.clear()

    def place(self, org_id: OrganizationId, place: Place) -> PlaceDocuments:
        """The documents of a place; one that is new has none."""
        places = self.organizations.setdefault(org_id, {})
        if place not in places:
            places[place] = PlaceDocuments(_prefix(org_id, place))
        return places[place]

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
            self.revision_of(envelope.org_id),
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
        told, clock = self._told, self.clock
        additions = [Addition(documents.prefix, documents.view(clock), told) for documents in self._touched]
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
        self._touched = dict.fromkeys(self.every_place(), self.clock)

    def every_place(self) -> list[PlaceDocuments]:
        """The documents of all organizations, by place."""
        return [documents for places in self.organizations.values() for documents in places.values()]


def _prefix(org_id: OrganizationId, place: Place) -> str:
    """Thirteen characters of base 32; two places that shared one would cost time, and no answer."""
    named = f"{org_id}\0{place.scope}\0{place.scope_id}".encode()
    return base64.b32encode(hashlib.blake2b(named, digest_size=8).digest()).decode().rstrip("=").lower() + ":"
