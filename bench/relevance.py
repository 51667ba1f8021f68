"""What finding a turn's memories takes of a processor, against its tantivy query alone, and an index built per turn.

A search is the ranking and the Postgres read of its hits. CPU time of this process; what is compared takes turns. The
texts are made of 30,000 words that occur by Zipf's law.
"""

import argparse
import gc
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil
import psycopg
import tantivy
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from bench.measuring import MILLISECONDS, markdown
from canonry.embedded.postgres import start_postgres
from models.database import connect
from models.identifiers import OrganizationId, new_organization_id, uuid7
from models.migrations import upgrade
from models.rules.visibility import Envelope, Place
from models.settings import Settings
from search import index_file
from search.analysis import document_terms, query_terms
from search.following import Follower
from search.memory_index import MemoryIndex
from search.proposals import TOKENS, Proposals
from search.relevance import find
from tests.indexes import in_scope, wait_until
from tests.stack import a_reachable_folder

WORDS = 30_000
MEDIAN_WORDS = 120
SPREAD = 0.7
K = 5
FETCH_LIMIT = 50
PLACES = (Place("global", ""), Place("user", "usr_1"), Place("workstream", "wsm_1"))
SHARES = (0.9, 0.06, 0.04)
MEBIBYTE = 2**20
AT_MOST, AT_LEAST = 1.5, 50.0
LIMIT_S = 600
WARM_UP = 10
IDLE_S = 0.01
SUBJECTS = (
    "its tantivy query alone",
    "the same without weights, and without a count",
    "ranking",
    "search: ranking and the read of its hits",
)

INSERT = """
    copy structured_memories (org_id, scope, scope_id, name, memory_id, type, description, content, created, updated,
                              revision, created_by, updated_by, content_hash) from stdin
"""


@dataclass(frozen=True)
class Plan:
    """How much is measured, and how often."""

    visible: int
    rebuilt: int
    queries: int
    rebuilds: int


FULL = Plan(visible=100_000, rebuilt=10_000, queries=300, rebuilds=5)
QUICK = Plan(visible=5_000, rebuilt=500, queries=20, rebuilds=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: small, and too short to mean anything")
    measure_relevance(QUICK if parser.parse_args().quick else FULL)


def measure_relevance(plan: Plan) -> None:
    """Measure, and print each table as soon as it is there."""
    with _database() as (url, folder):
        texts = Texts(seed=1)
        large, small = new_organization_id(), new_organization_id()
        with _connection(url) as connection:
            _fill(connection, large, texts, plan.visible)
            own = _fill(connection, small, texts, plan.rebuilt)
        index = _built(url, folder, plan.visible + plan.rebuilt)
        gc.freeze()
        with _connection(url) as connection:
            for terms in (20, 40):
                _compare_with_tantivy(connection, index, large, texts, terms, plan.queries)
            _compare_with_an_index_per_turn(connection, index, small, texts, own, plan.rebuilds)


class Texts:
    """Texts and queries of words as frequent as words are."""

    def __init__(self, *, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        sizes = self._random.integers(2, 10, WORDS)
        self._words = np.array(["".join(self._random.choice(letters, size)) for size in sizes])
        weights = 1 / np.arange(1, WORDS + 1)
        self._weights = weights / weights.sum()

    def text(self) -> str:
        """The content of a memory, mostly of half a kilobyte to one."""
        size = max(1, int(self._random.lognormal(np.log(MEDIAN_WORDS), SPREAD)))
        return " ".join(self._words[self._random.choice(WORDS, size, p=self._weights)])

    def query(self, terms: int) -> str:
        """Words of a turn that have so many terms."""
        words: list[str] = []
        while len(query_terms(" ".join(words))) < terms:
            words.append(str(self._random.choice(self._words, p=self._weights)))
        return " ".join(words)


@contextmanager
def _database() -> Iterator[tuple[str, Path]]:
    folder = a_reachable_folder()
    postgres = start_postgres(folder, durable=False)
    try:
        upgrade(postgres.url)
        yield postgres.url, folder
    finally:
        postgres.stop()
        shutil.rmtree(folder)


@contextmanager
def _connection(url: str) -> Iterator[psycopg.Connection]:
    with connect(url, Settings(), application_name="canonry-bench") as connection:
        yield connection


def _fill(connection: psycopg.Connection, org_id: OrganizationId, texts: Texts, count: int) -> list[str]:
    """Memories of an organization, as saves would have left them; their contents."""
    connection.execute(
        "insert into organizations (org_id, name, version, path_owners, created_at, updated_at)"
        " values (%s, 'Bench', 1, '[]', now(), now())",
        (org_id,),
    )
    contents = [texts.text() for _ in range(count)]
    places = np.random.default_rng(2).choice(len(PLACES), count, p=SHARES)
    with connection.cursor() as cursor, cursor.copy(INSERT) as copy:
        for number, content in enumerate(contents):
            place = PLACES[places[number]]
            identity = (org_id, place.scope, place.scope_id, f"memory_{number}", str(uuid7()), "general")
            copy.write_row((*identity, "What it is.", content, "now", "now", 1, "usr_1", "usr_1", "-"))
    connection.execute("vacuum analyze structured_memories")
    return contents


def _built(url: str, folder: Path, memories: int) -> MemoryIndex:
    """An index of everything, built from Postgres; prints what that took, and what it takes to load it from disk."""
    process, kept = psutil.Process(), folder / "index"

    def connected() -> psycopg.Connection:
        return connect(url, Settings(), application_name="canonry-bench")

    def started() -> tuple[MemoryIndex, float, float]:
        index = MemoryIndex(fetch_limit=FETCH_LIMIT)
        before, began = process.memory_info().rss, time.process_time()
        with Follower(index, connected, kept).following():
            wait_until(lambda: index.state.ready and index.proposals() is not None, LIMIT_S)
            wait_until((kept / index_file.FILE).exists, LIMIT_S)
        return index, time.process_time() - began, (process.memory_info().rss - before) / MEBIBYTE

    _, seconds, mebibytes = started()
    size = (kept / index_file.FILE).stat().st_size / MEBIBYTE
    again, loading, _ = started()
    _wait_for_merging()
    scale = 100_000 / memories
    head = ("per 100,000 memories", "build, CPU s", "load, CPU s", "grown by, MiB", "on disk, MiB")
    numbers = [f"{value * scale:.1f}" for value in (seconds, loading, mebibytes, size)]
    print(markdown([head, (f"{memories:,} indexed", *numbers)]), end="\n\n", flush=True)
    return again


def _wait_for_merging() -> None:
    """Until this process does nothing: what tantivy merges in the background would be laid to whatever is measured."""
    busy = True
    while busy:
        began = time.process_time()
        time.sleep(1)
        busy = time.process_time() - began > IDLE_S


def _compare_with_tantivy(
    connection: psycopg.Connection,
    index: MemoryIndex,
    org_id: OrganizationId,
    texts: Texts,
    terms: int,
    queries: int,
) -> None:
    envelope, times = Envelope(org_id, PLACES), np.empty((len(SUBJECTS), queries + WARM_UP))
    for turn in range(queries + WARM_UP):
        text, another = texts.query(terms), texts.query(terms)
        searcher, own, plain = _tantivy_queries(index, envelope, text)
        subjects: tuple[Callable[[], object], ...] = (
            partial(searcher.search, own, FETCH_LIMIT),
            partial(searcher.search, plain, FETCH_LIMIT, count=False),
            # Of another text, so that a search looks up its tokens itself.
            partial(index.rank, envelope, another, k=K),
            partial(find, connection, index, envelope, text, k=K),
        )
        for step in range(len(subjects)):
            subject = (turn + step) % len(subjects)
            times[subject, turn] = _cpu_seconds_of(subjects[subject])
    visible = in_scope(index, envelope)
    _print_table(f"{terms} terms, {visible:,} visible", times[:, WARM_UP:] * MILLISECONDS)


def _print_table(title: str, times: npt.NDArray[np.float64]) -> None:
    p50, p99 = np.percentile(times, [50, 99], axis=1)
    rows = [
        (name, f"{p50[row]:.2f}", f"{p99[row]:.2f}", f"{p50[row] / p50[0]:.2f}", f"{p99[row] / p99[0]:.2f}")
        for row, name in enumerate(SUBJECTS)
    ]
    print(markdown([(title, "p50, CPU ms", "p99, CPU ms", "p50 as a ratio", "p99 as a ratio"), *rows]))
    print(f"\nat most {AT_MOST}: {'kept' if p99[-1] <= AT_MOST * p99[0] else 'MISSED'}", end="\n\n", flush=True)


def _tantivy_queries(
    index: MemoryIndex, envelope: Envelope, text: str
) -> tuple[tantivy.Searcher, tantivy.Query, tantivy.Query]:
    """What the ranking asks tantivy, and the same tokens of the same places without its weights."""
    proposals, corpus = index.proposals(), index.corpus()
    assert proposals is not None
    assert corpus is not None
    weights = corpus.see(envelope, None, query_terms(text)).weights()
    # Asked of other proposals, so that the index's own have not looked the tokens up when they are measured.
    own = Proposals(
        proposals.schema,
        proposals.searcher,
        proposals.last,
        proposals.clock,
        proposals.documents,
        proposals.average_length,
    ).query(weights)
    assert own is not None
    clauses = [
        (tantivy.Occur.Should, tantivy.Query.term_query(proposals.schema, TOKENS, token, "freq"))
        for token, _ in weights
        if proposals.searcher.doc_freq(TOKENS, token)
    ]
    return proposals.searcher, own, tantivy.Query.boolean_query(clauses)


def _compare_with_an_index_per_turn(
    connection: psycopg.Connection,
    index: MemoryIndex,
    org_id: OrganizationId,
    texts: Texts,
    contents: Sequence[str],
    rebuilds: int,
) -> None:
    """`rank_bm25` over terms that are cut already, which it has to be given."""
    documents = [document_terms("", "What it is.", content) for content in contents]
    envelope = Envelope(org_id, PLACES)
    built: list[float] = []
    searched: list[float] = []
    for _ in range(rebuilds):
        text = texts.query(40)
        built.append(_cpu_seconds_of(partial(_per_turn, documents, text)))
        searched.extend(_cpu_seconds_of(partial(find, connection, index, envelope, text, k=K)) for _ in range(10))
    ours, theirs = np.median(searched) * MILLISECONDS, np.median(built) * MILLISECONDS
    rows = [("search", f"{ours:.2f}"), ("rank_bm25, built for the turn", f"{theirs:.0f}")]
    print(markdown([(f"{len(contents):,} visible, 40 terms", "p50, CPU ms"), *rows]))
    kept = "kept" if theirs >= AT_LEAST * ours else "MISSED"
    print(f"\nat least {AT_LEAST:.0f} times: {theirs / ours:,.0f}, {kept}", flush=True)


def _per_turn(documents: Sequence[Sequence[str]], text: str) -> object:
    return BM25Okapi(documents).get_scores(query_terms(text))


def _cpu_seconds_of(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


if __name__ == "__main__":
    main()
