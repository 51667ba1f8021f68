"""The index ranks as scoring every memory of the envelope does, whatever else it holds (memory.md §4.4)."""

import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

import psycopg
import pytest

from models.errors import IndexNotReady
from models.identifiers import StructuredMemoryId, new_organization_id
from models.rules.structured_fields import MEMORY_TYPES
from models.rules.visibility import Envelope, Place
from search import memory_index
from search.analysis import document_terms, query_terms
from search.columns import View
from search.corpus import Corpus
from search.documents import Gone, Indexed
from search.following import Follower
from search.memory_index import MemoryIndex
from search.place_documents import PlaceDocuments
from search.scoring import score_exhaustively
from tests.indexes import Filled, a_document, in_scope
from tests.scored_postings import ScoredPostings

PLACES = (Place("global", ""), Place("user", "usr_1"), Place("workstream", "wsm_1"))
ELSEWHERE = Place("user", "usr_2")
WORDS = [f"word{number}" for number in range(3_000)]
WEIGHTS = list(accumulate(1 / (number + 1) for number in range(len(WORDS))))


@cache
def terms_of(text: str) -> tuple[Counter[str], int]:
    terms = document_terms("note", "A note.", text)
    return Counter(terms), len(terms)


@dataclass
class Twins:
    """An index, and the same memories in a dictionary."""

    random: random.Random
    filled: Filled = field(default_factory=Filled)
    envelope: Envelope = field(default_factory=lambda: Envelope(new_organization_id(), PLACES))
    others: Envelope = field(default_factory=lambda: Envelope(new_organization_id(), PLACES))
    kept: dict[str, Indexed] = field(default_factory=dict)

    @property
    def index(self) -> MemoryIndex:
        return self.filled.index

    def text(self, median: float = 30, spread: float = 1.0) -> str:
        size = 1 + int(median * self.random.lognormvariate(0, spread))
        return " ".join(self.random.choices(WORDS, cum_weights=WEIGHTS, k=size))

    def query(self) -> str:
        return " ".join(self.random.choices(WORDS, cum_weights=WEIGHTS, k=self.random.choice((1, 2, 5, 20, 40))))

    def saves(self, count: int, *, median: float = 30, spread: float = 1.0) -> None:
        made = [
            a_document(
                self.envelope.org_id,
                self.random.choice(PLACES),
                self.text(median, spread),
                type=self.random.choice(MEMORY_TYPES),
            )
            for _ in range(count)
        ]
        self.kept.update((document.memory_id, document) for document in made)
        self.filled.apply(*made)

    def saves_elsewhere(self, count: int) -> None:
        """Of another organization, and in a place of this one that the envelope does not show."""
        for _ in range(count):
            self.filled.apply(a_document(self.others.org_id, self.random.choice(PLACES), self.text(5)))
            self.filled.apply(a_document(self.envelope.org_id, ELSEWHERE, self.text(100)))

    def changes(self, count: int) -> None:
        for memory_id in self.random.sample(sorted(self.kept), count):
            document = self.kept[memory_id]
            if self.random.random() < 0.5:
                self.filled.apply(Gone(document.org_id, document.memory_id, document.revision + 1))
                del self.kept[memory_id]
            else:
                changed = a_document(
                    document.org_id,
                    document.place,
                    self.text(),
                    memory_id=memory_id,
                    revision=document.revision + 1,
                    type=document.type,
                )
                self.filled.apply(changed)
                self.kept[memory_id] = changed

    def expected(self, query: str) -> list[tuple[StructuredMemoryId, float]]:
        documents = [(document.memory_id, *terms_of(document.content)) for document in self.kept.values()]
        return score_exhaustively(documents, query_terms(query))

    def ranked(self, query: str, k: int = 5) -> list[tuple[str, float]]:
        return [(hit.memory_id, hit.score) for hit in self.index.rank(self.envelope, query, k=k).hits]

    def agree(self, queries: int) -> Iterator[str]:
        for _ in range(queries):
            query = self.query()
            expected = self.expected(query)
            ranking = self.index.rank(self.envelope, query, k=5, count=True)
            assert [(hit.memory_id, hit.score) for hit in ranking.hits] == expected[:5], query
            assert (ranking.total, ranking.in_scope) == (len(expected), len(self.kept)), query
            assert self.ranked(query) == expected[:5], query
            yield query


@pytest.fixture
def by_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are asked for however few memories there are."""
    monkeypatch.setattr(memory_index, "SCANNED", 0)


def twins(seed: int, *, visible: int, **lengths: float) -> Twins:
    made = Twins(random.Random(seed))  # noqa: S311  (repeatable, not secret)
    made.saves(visible, **lengths)
    made.saves_elsewhere(visible // 4)
    made.filled.commit()
    return made


@pytest.mark.parametrize(("visible", "queries"), [(50, 100), (1_500, 25)])
def test_small_envelopes_are_ranked_as_scoring_all_of_them_does(visible: int, queries: int) -> None:
    made = twins(1, visible=visible)
    made.changes(visible // 10)
    assert len(list(made.agree(queries))) == queries


@pytest.mark.usefixtures("by_candidates")
def test_candidates_are_ranked_as_scoring_all_does_with_deletions_pending_and_a_tail() -> None:
    made = twins(2, visible=500)
    for turn in range(4):
        made.changes(40)
        made.saves(20)
        made.saves_elsewhere(10)
        if turn % 2:
            made.filled.commit()
        assert len(list(made.agree(10))) == 10


@pytest.mark.usefixtures("by_candidates")
def test_candidates_are_ranked_as_scoring_all_does_where_lengths_are_skewed() -> None:
    made = twins(3, visible=200, median=80, spread=1.8)
    made.saves_elsewhere(200)
    made.filled.commit()
    assert len(list(made.agree(25))) == 25


@pytest.mark.long
@pytest.mark.parametrize("visible", [50, 1_500, 100_000])
def test_a_thousand_queries_are_ranked_as_scoring_all_does(visible: int) -> None:
    made = twins(4, visible=visible, median=15)
    made.changes(visible // 50)  # deletes pending, and a tail
    envelope = ScoredPostings((kept.memory_id, *terms_of(kept.content)) for kept in made.kept.values())
    for turn in range(1_000):
        query = made.query()
        expected = envelope.best(query_terms(query), 5)
        ranking = made.index.rank(made.envelope, query, k=5, count=True)
        assert ([(hit.memory_id, hit.score) for hit in ranking.hits], ranking.total) == expected, query
        assert made.ranked(query) == expected[0], query
        if turn < 10:
            assert made.expected(query)[:5] == expected[0]


@pytest.mark.usefixtures("by_candidates")
def test_rows_elsewhere_change_no_bit_of_a_score() -> None:
    made = twins(5, visible=300)
    queries = [made.query() for _ in range(25)]
    before = [made.ranked(query, 50) for query in queries]
    made.saves_elsewhere(100)
    assert [made.ranked(query, 50) for query in queries] == before
    made.filled.commit()
    assert [made.ranked(query, 50) for query in queries] == before


def test_a_type_cuts_after_scoring() -> None:
    made = twins(6, visible=120)
    for wanted in MEMORY_TYPES:
        query = made.query()
        expected = [found for found in made.expected(query) if made.kept[found[0]].type == wanted]
        hits = made.index.rank(made.envelope, query, k=5, type=wanted, count=True)
        assert [(hit.memory_id, hit.score) for hit in hits.hits] == expected[:5]
        assert hits.total == len(expected)


def test_equal_memories_score_equally_and_are_ordered_by_id() -> None:
    filled, envelope = Filled(), Envelope(new_organization_id(), PLACES)
    made = [a_document(envelope.org_id, place, "The harbour opens at six.") for place in PLACES * 30]
    filled.apply(*reversed(made))
    filled.commit()
    hits = filled.index.rank(envelope, "when the harbour opens", k=50).hits
    assert [hit.memory_id for hit in hits] == sorted(document.memory_id for document in made)[:50]
    assert len({hit.score for hit in hits}) == 1


def found(filled: Filled, envelope: Envelope, query: str) -> Sequence[str]:
    return [hit.memory_id for hit in filled.index.rank(envelope, query, k=5).hits]


def test_a_change_that_was_overtaken_is_not_taken_in() -> None:
    filled, envelope = Filled(), Envelope(new_organization_id(), PLACES)
    early = a_document(envelope.org_id, PLACES[0], "harbour")
    late = a_document(envelope.org_id, PLACES[0], "station", memory_id=early.memory_id, revision=2)
    filled.apply(late, early, late)
    assert found(filled, envelope, "harbour") == []
    assert found(filled, envelope, "station") == [early.memory_id]
    assert filled.index.revision_of(envelope.org_id) == 1
    filled.apply(Gone(envelope.org_id, early.memory_id, 3), late)
    assert in_scope(filled.index, envelope) == 0
    filled.apply(a_document(envelope.org_id, PLACES[0], "harbour", memory_id=early.memory_id, revision=4))
    assert found(filled, envelope, "harbour") == [early.memory_id]


def test_one_id_in_two_organizations_is_two_memories() -> None:
    filled = Filled()
    one, other = (Envelope(new_organization_id(), PLACES) for _ in range(2))
    document = a_document(one.org_id, PLACES[0], "harbour")
    filled.apply(document, a_document(other.org_id, PLACES[0], "harbour", memory_id=document.memory_id, revision=7))
    filled.apply(Gone(one.org_id, document.memory_id, 2))
    assert found(filled, one, "harbour") == []
    assert found(filled, other, "harbour") == [document.memory_id]


def test_an_administrators_envelope_spans_every_place_of_its_organization() -> None:
    filled, envelope = Filled(), Envelope(new_organization_id(), (), whole=True)
    made = [a_document(envelope.org_id, place, "harbour") for place in (*PLACES, ELSEWHERE)]
    filled.apply(*made, a_document(new_organization_id(), PLACES[0], "harbour"))
    assert sorted(found(filled, envelope, "harbour")) == sorted(document.memory_id for document in made)
    assert in_scope(filled.index, envelope) == 4
    assert in_scope(filled.index, envelope, [ELSEWHERE]) == 1


def test_an_administrators_envelope_of_one_scope_is_ranked_as_one_of_all_its_places() -> None:
    filled, org_id = Filled(), new_organization_id()
    users = (Place("user", "usr_1"), Place("user", "usr_2"))
    for number, place in enumerate((Place("global", ""), *users, Place("coordinator", "usr_1"))):
        filled.apply(*(a_document(org_id, place, f"harbour {'x ' * words}") for words in range(number + 1)))
    scope = Envelope(org_id, (), whole=True, only="user")
    ranking = filled.index.rank(scope, "harbour", k=9, count=True)
    assert ranking == filled.index.rank(Envelope(org_id, users), "harbour", k=9, count=True)
    assert in_scope(filled.index, scope) == 5
    assert in_scope(filled.index, scope, [Place("coordinator", "usr_1")]) == 0


def test_places_narrow_to_an_envelope_of_their_own() -> None:
    made = twins(7, visible=200)
    alone = Envelope(made.envelope.org_id, PLACES[:1])
    query = made.query()
    assert made.index.rank(made.envelope, query, k=5, places=PLACES[:1]) == made.index.rank(alone, query, k=5)
    assert made.index.rank(made.envelope, query, k=5, places=[ELSEWHERE]).in_scope == 0


@pytest.mark.parametrize("query", ["???", "", "nowhere_to_be_found", "harbour AND (", 'foo:bar "', "\ud800"])
def test_a_query_is_text_and_raises_nothing(query: str) -> None:
    made = twins(8, visible=60)
    ranking = made.index.rank(made.envelope, query, k=5, count=True)
    assert (len(ranking.hits), ranking.in_scope) == (0, 60)


def test_a_term_that_occurs_more_often_than_sixteen_bits_count_is_counted() -> None:
    filled, envelope = Filled(), Envelope(new_organization_id(), PLACES)
    document = a_document(envelope.org_id, PLACES[0], "港" * 65_536)
    filled.apply(document, a_document(envelope.org_id, PLACES[0], "港 harbour"))
    documents = [("one", *terms_of("港" * 65_536)), ("other", *terms_of("港 harbour"))]
    scores = sorted(hit.score for hit in filled.index.rank(envelope, "港", k=5).hits)
    assert scores == sorted(score for _, score in score_exhaustively(documents, query_terms("港")))


def test_an_index_that_is_being_built_answers_nothing_and_takes_in_what_is_saved() -> None:
    index, envelope = MemoryIndex(), Envelope(new_organization_id(), PLACES)
    index.prepare(Corpus(begin=40))
    index.load([a_document(envelope.org_id, PLACES[0], "harbour")], progress=0.5)
    index.apply([a_document(envelope.org_id, PLACES[0], "harbour")])
    with pytest.raises(IndexNotReady) as refused:
        index.rank(envelope, "harbour", k=5)
    assert refused.value.context == {"progress": 0.5}
    assert not index.state.ready
    index.serve()
    assert len(index.rank(envelope, "harbour", k=5).hits) == 2
    assert index.revision_of(envelope.org_id) == 41


def test_the_number_of_an_organization_grows_with_its_own_changes_alone() -> None:
    filled, (one, other) = Filled(), (Envelope(new_organization_id(), PLACES) for _ in range(2))
    filled.apply(a_document(one.org_id, PLACES[0], "harbour"))
    before = filled.index.rank(one, "harbour", k=5).revision
    made = [a_document(other.org_id, PLACES[0], "harbour") for _ in range(3)]
    filled.apply(*made, Gone(other.org_id, made[0].memory_id, 2))
    assert filled.index.rank(one, "harbour", k=5).revision == before
    assert filled.index.rank(other, "harbour", k=5).revision == 4


def test_no_number_falls_when_another_corpus_is_served() -> None:
    filled, orgs = Filled(), [new_organization_id() for _ in range(2)]
    filled.apply(*(a_document(org_id, PLACES[0], "harbour") for org_id in (orgs[0], orgs[1], orgs[1])))
    before = [filled.index.revision_of(org_id) for org_id in orgs]
    filled.index.withdraw()
    assert [filled.index.revision_of(org_id) for org_id in orgs] >= before
    filled.index.prepare(Corpus())
    filled.index.serve()
    assert [filled.index.revision_of(org_id) for org_id in orgs] == [2, 2]
    filled.index.note(latest=9)
    filled.index.prepare(Corpus())
    filled.index.serve()
    assert filled.index.revision_of(orgs[0]) == 9


def test_a_deletion_asks_no_place_but_the_memorys_own(monkeypatch: pytest.MonkeyPatch) -> None:
    filled, org_id = Filled(), new_organization_id()
    documents = [a_document(org_id, Place("user", f"usr_{number}"), "harbour") for number in range(50)]
    filled.apply(*documents)
    asked: list[int] = []
    revision_of = PlaceDocuments.revision_of

    def counted(place: PlaceDocuments, memory: int) -> int | None:
        asked.append(memory)
        return revision_of(place, memory)

    monkeypatch.setattr(PlaceDocuments, "revision_of", counted)
    filled.apply(Gone(org_id, documents[-1].memory_id, 2))
    assert len(asked) == 1
    assert in_scope(filled.index, Envelope(org_id, (), whole=True)) == 49


class _Counted:
    """The index's lock, which tells its holdings apart."""

    def __init__(self) -> None:
        self.holding = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        self.holding += 1

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def test_nobody_waits_until_the_views_of_all_places_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    filled, org_id, lock, made = Filled(), new_organization_id(), _Counted(), list[int]()
    filled.apply(*(a_document(org_id, Place("user", f"usr_{number}"), "harbour") for number in range(450)))
    monkeypatch.setattr(filled.index, "_lock", lock)
    seen = PlaceDocuments._seen

    def counted(documents: PlaceDocuments, clock: int) -> View:
        made.append(lock.holding)
        return seen(documents, clock)

    monkeypatch.setattr(PlaceDocuments, "_seen", counted)
    Follower(filled.index, psycopg.connect, None)._make_views()
    assert sorted(Counter(made).values()) == [50, 200, 200]
    filled.commit()
    assert len(made) == 450
