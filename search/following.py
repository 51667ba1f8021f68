"""Keeping the index up with the database: read what changed five times a second, all of it once at the beginning.

A process's own saves are in its index before they are answered; what others wrote is within one turn of this loop. It
is one thread. Whatever fails is logged and begun again; what it has of the index meanwhile stays right, because hits
are checked against Postgres.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from models.store.structured_feed import (
    Change,
    FeedPosition,
    MemoryText,
    count_texts,
    current_position,
    reaches_back_to,
    read_changes,
    read_page,
    read_texts,
)
from search import index_file
from search.corpus import Corpus
from search.documents import Gone, Indexed, indexed
from search.memory_index import MemoryIndex
from search.proposals import Proposer

POLL_S = 0.2
COMMIT_S = 1.0
"""How often tantivy is told; until then changes are scored without it."""
STORE_S = 60.0
"""How often the index is written to disk if it changed: what a start then has to read again is of this time."""
STALE_S = 6 * 3_600.0
"""How old its position may be where nothing changed: the feed reaches back a day."""
REST_S = 1.0
DEFECT_REST_S = 15.0
"""The pause after a defect: what it was may be met again at once."""
PAUSE_S = 600.0
"""After how long a pause it is asked whether the feed still reaches back: far less than the day that it does."""
END_S = 10.0
"""How long an end waits for the index to be written down; without that the next start reads a little more."""
PAGE = 200
PLACES_AT_ONCE = 200
"""Seen while saves and searches wait: a millisecond or two."""
NOTHING_STORED = -1

logger = logging.getLogger(__name__)

Connect = Callable[[], psycopg.Connection]


class Follower:
    """Prepares an index and keeps it current.

    Args:
        index: what is kept current.
        connect: makes an autocommit connection, which this follower alone uses.
        folder: where the index is kept between starts; None to build it at every start.
    """

    def __init__(self, index: MemoryIndex, connect: Connect, folder: Path | None) -> None:
        self._index = index
        self._connect = connect
        self._folder = folder
        self._position: FeedPosition | None = None
        self._proposer = Proposer()
        self._read_at = self._committed_at = self._stored_at = self._store_at = 0.0
        self._stored_clock = NOTHING_STORED
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.run, name="search-index", daemon=True)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow for the time of the block."""
        self.start()
        try:
            yield
        finally:
            self.end()

    def start(self) -> None:
        """Begin to follow, in a thread that waits for the database and computes for seconds on end."""
        self._thread.start()

    def end(self) -> bool:
        """Have the thread write down what it knows and end; whether it has, within some seconds."""
        self._stop.set()
        self._thread.join(END_S)
        return not self._thread.is_alive()

    def run(self) -> None:
        """Follow until `end`; a database that does not answer is asked again, and says so once."""
        answers = True
        while not self._stop.is_set():
            rest = REST_S
            try:
                with self._connect() as connection:
                    answers = True
                    self._follow(connection)
            except psycopg.Error as error:
                if answers:
                    logger.warning("the search index cannot follow the database (%s)", type(error).__name__)
                answers = False
            except Exception:  # whatever it is, searches are answered meanwhile
                logger.exception("the search index cannot follow")
                self._position, rest = None, DEFECT_REST_S
            self._stop.wait(rest)

    def _follow(self, connection: psycopg.Connection) -> None:
        while not self._stop.is_set():
            if self._is_to_begin(connection):
                self._begin(connection)
            self._catch_up(connection)
            self._commit()
            self._store()
            self._stop.wait(POLL_S)
        self._store(at_last=True)

    def _is_to_begin(self, connection: psycopg.Connection) -> bool:
        """Whether it has no position that the feed still reaches back to; asked after every longer pause."""
        if self._position is None:
            return True
        return time.time() - self._read_at > PAUSE_S and not reaches_back_to(connection, self._position)

    def _begin(self, connection: psycopg.Connection) -> None:
        """Serve what is on disk and what changed since; if that cannot be told, read everything.

        What it served so far may lack whatever the feed no longer tells, and is withdrawn first.
        """
        self._index.withdraw()
        stored = None if self._folder is None else index_file.read(self._folder)
        if stored is None or not reaches_back_to(connection, stored.position):
            self._build(connection)
            return
        _, latest = current_position(connection)
        self._index.prepare(stored.corpus)
        self._index.note(applied=latest, latest=latest)
        self._finish(connection, stored.position)

    def _build(self, connection: psycopg.Connection) -> None:
        """Read and analyze every memory, and then what changed meanwhile."""
        position, latest = current_position(connection)
        self._index.prepare(Corpus(begin=latest))
        total, done, last = count_texts(connection), 0, None
        while page := read_page(connection, last, PAGE):
            if self._stop.is_set():
                return
            done, last = done + len(page), page[-1]
            self._index.load([indexed(text.org_id, text) for text in page], progress=min(1.0, done / max(total, 1)))
        self._index.note(applied=latest, latest=latest)
        self._finish(connection, position)

    def _finish(self, connection: psycopg.Connection, position: FeedPosition) -> None:
        """Serve what was prepared, once it has what changed since the position."""
        reached = self._take_in(connection, position)
        if reached is None:  # so much that the next turn reads everything
            return
        self._position = reached
        self._proposer = Proposer()
        self._index.serve()
        self._stored_clock, self._store_at = NOTHING_STORED, 0.0
        self._make_views()
        self._commit(at_once=True)

    def _make_views(self) -> None:
        """See every place once, some at a time: what needs them all then waits for those alone that changed since."""
        with self._index.lock:
            corpus = self._index.corpus()
            places = [] if corpus is None else corpus.every_place()
        while corpus is not None and places:
            with self._index.lock:
                for documents in places[-PLACES_AT_ONCE:]:
                    documents.view(corpus.clock)
            del places[-PLACES_AT_ONCE:]

    def _catch_up(self, connection: psycopg.Connection) -> None:
        if self._position is not None:
            self._position = self._take_in(connection, self._position)

    def _take_in(self, connection: psycopg.Connection, position: FeedPosition) -> FeedPosition | None:
        """Index what changed since a position, and tell the next; None if that is not told any more."""
        reading = read_changes(connection, position)
        if reading.changes is None:
            return None
        self._index.note(latest=reading.latest)
        for first in range(0, len(reading.changes), PAGE):
            chunk = reading.changes[first : first + PAGE]
            texts = {(text.org_id, text.memory_id): text for text in read_texts(connection, chunk)}
            self._index.apply([_now(change, texts.get((change.org_id, change.memory_id))) for change in chunk])
        self._index.note(applied=reading.latest)
        self._read_at = time.time()
        return reading.position

    def _commit(self, *, at_once: bool = False) -> None:
        """Tell tantivy what it does not have, once a second; where that fails it is begun anew."""
        if time.monotonic() - self._committed_at < COMMIT_S and not at_once:
            return
        with self._index.lock:
            corpus = self._index.corpus()
            changes = None if corpus is None else corpus.changes()
        if corpus is None or changes is None:
            return
        self._committed_at = time.monotonic()
        try:
            proposals = self._proposer.write(changes, corpus.vocabulary)
        except Exception:  # whatever it is, everything is scored without candidates until the next turn
            logger.exception("candidates cannot be indexed")
            self._proposer = Proposer()
            self._index.forget_proposals()
        else:
            self._index.propose_from(proposals, changes)

    def _store(self, *, at_last: bool = False) -> None:
        """Write the index down if it changed; a disk that cannot take it is tried again later."""
        if self._folder is None or self._position is None or not (at_last or time.monotonic() >= self._store_at):
            return
        with self._index.lock:
            corpus = self._index.corpus()
            is_stale = time.monotonic() - self._stored_at >= STALE_S
            if corpus is None or (corpus.clock == self._stored_clock and not is_stale):
                return
            moment = index_file.moment_of(corpus, self._position)
        try:
            index_file.write(self._folder, moment)
        except OSError as error:
            logger.warning("the search index cannot be written to %s (%s)", self._folder, error.strerror)
        else:
            self._stored_at, self._stored_clock = time.monotonic(), moment.clock
        self._store_at = time.monotonic() + STORE_S


def _now(change: Change, text: MemoryText | None) -> Indexed | Gone:
    return Gone(*change) if text is None else indexed(text.org_id, text)
