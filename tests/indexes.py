"""Search indexes for tests: filled by hand, or following a real database."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from models.database import connect
from models.identifiers import OrganizationId, StructuredMemoryId, uuid7
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.settings import Settings
from search.corpus import Corpus
from search.documents import Gone, Indexed
from search.following import Follower
from search.memory_index import MemoryIndex
from search.proposals import Proposer
from tests.databases import url_of
from tests.rows import Somewhere
from tests.structured import seeing

LIMIT_S = 20.0


class Filled:
    """An index that serves, and is told of tantivy's candidates when a test says so."""

    def __init__(self, *, fetch_limit: int = 50) -> None:
        self.index = MemoryIndex(fetch_limit=fetch_limit)
        self.index.prepare(Corpus())
        self.index.serve()
        self._proposer = Proposer()

    def apply(self, *documents: Indexed | Gone) -> None:
        self.index.apply(documents)

    def commit(self) -> None:
        """Tell tantivy all that it does not know."""
        with self.index.lock:
            corpus = self.index.corpus()
            assert corpus is not None
            changes = corpus.changes()
        if changes is not None:
            self.index.propose_from(self._proposer.write(changes, corpus.vocabulary), changes)


def a_document(
    org_id: OrganizationId,
    place: Place,
    text: str,
    *,
    memory_id: str | None = None,
    revision: int = 1,
    type: MemoryType = "general",  # noqa: A002  (the field's name in the contract)
) -> Indexed:
    memory_id = memory_id or str(uuid7())
    return Indexed(org_id, place, StructuredMemoryId(memory_id), revision, type, "note", "A note.", text)


@contextmanager
def following(place: Somewhere, folder: Path | None = None) -> Iterator[MemoryIndex]:
    """An index that follows the database, and is ready."""
    index = MemoryIndex()
    with a_follower(place, index, folder).following():
        wait_until(lambda: index.state.ready)
        yield index


def a_follower(place: Somewhere, index: MemoryIndex, folder: Path | None = None) -> Follower:
    url = url_of(place.engine)
    return Follower(index, lambda: connect(url, Settings(), application_name="canonry-test"), folder)


def wait_until(holds: Callable[[], bool], limit_s: float = LIMIT_S) -> float:
    """Seconds until it holds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < limit_s, "it does not come to hold"
        time.sleep(0.01)
    return time.monotonic() - began


def found(index: MemoryIndex, place: Somewhere, places: Sequence[Place], query: str, k: int = 5) -> list[str]:
    """The ids of what is found."""

    return [hit.memory_id for hit in index.rank(seeing(place.org_id, *places), query, k=k).hits]


def in_scope(index: MemoryIndex, envelope: Envelope, places: Sequence[Place] | None = None) -> int:
    """How many memories the envelope shows, or some of its places."""
    return index.rank(envelope, "", k=1, places=places).in_scope
