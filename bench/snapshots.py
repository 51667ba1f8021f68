"""What a client fetches to follow, and what serving it costs: deltas against snapshots, and snapshots against a SELECT.

Over HTTP, from an API process. The SELECT reads the same rows, texts included, over psycopg and a cursor of the server.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
from sqlalchemy import Engine

from bench.measuring import Comparison, Schedule, interleaved, markdown, table, timed
from bench.organizations import Library, a_library, vacuum
from models.database import build_engine, libpq_url
from models.migrations import upgrade
from models.settings import Settings
from models.store.tokens import issue_token
from tests.commands import a_merge, a_review, attempted
from tests.rows import a_draft, acting, ref_of, updates
from tests.stack import Service, start_api, start_stack

CHANGES = 3
AT_MOST_PER_CENT = 1.0
ROWS_A_FETCH = 1_000
MEBIBYTE = 2**20

SAME_ROWS = """
    select v.memory_id, v.path, v.description, v.blob_id, b.content
    from memory_versions v join blobs b on b.org_id = v.org_id and b.blob_id = v.blob_id
    where v.org_id = %s and v.to_version is null order by v.memory_id
"""


@dataclass(frozen=True)
class Plan:
    """How much is measured, and how often."""

    followed: int
    streamed: int
    small: int
    schedule: Schedule


FULL = Plan(followed=10_000, streamed=100_000, small=1_000, schedule=Schedule(rounds=5, repeats=1, warm_up=1))
QUICK = Plan(followed=1_000, streamed=2_000, small=200, schedule=Schedule(rounds=1, repeats=1, warm_up=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: small, and too short to mean anything")
    plan = QUICK if parser.parse_args().quick else FULL
    with _served() as served:
        print(markdown(sizes(served, plan.followed)), end="\n\n", flush=True)
        small, large = a_library(served.engine, plan.small), a_library(served.engine, plan.streamed)
        vacuum(served.engine)
        print(markdown(memory(served, [small, large])), end="\n\n", flush=True)
        print(table(times(served, large, plan.schedule)), end="\n\n", flush=True)


@dataclass(frozen=True)
class Served:
    """An API process and its database."""

    engine: Engine
    api: Service

    def taken(self, library: Library, path: str, coding: str) -> int:
        """Fetch something as the library's owner; the bytes that came over the wire."""
        headers = {"Authorization": f"Bearer {_token(library)}", "Accept-Encoding": coding}
        url = f"{self.api.url}/v1/api{path}"
        with (
            httpx.Client(headers=headers, timeout=300, trust_env=False) as client,
            client.stream("GET", url) as answer,
        ):
            answer.raise_for_status()
            return sum(len(part) for part in answer.iter_raw())


def sizes(served: Served, memories: int) -> list[Sequence[str]]:
    """The bytes of a delta of three changed Memories against those of the whole."""
    library = a_library(served.engine, memories)
    base, _ = ref_of(library.place)
    edits = [updates(each, f"# Changed\n\nTo {uuid4()}.\n") for each in library.memory_ids[:CHANGES]]
    review = a_review(library.place, a_draft(library.place, *edits))
    if not attempted(library.place, a_merge(library.place, review)).succeeded:
        raise AssertionError("the merge of the bench was refused; its row says why")
    target, _ = ref_of(library.place)
    rows: list[Sequence[str]] = [(f"{CHANGES} changes of {memories:,} Memories", "delta", "snapshot", "per cent", "")]
    for coding in ("identity", "gzip"):
        delta = served.taken(library, f"/commits/{target}/delta?base={base}", coding)
        whole = served.taken(library, f"/commits/{target}", coding)
        per_cent = 100 * delta / whole
        verdict = "PASS" if per_cent < AT_MOST_PER_CENT else "over"
        rows.append((f"bytes, {coding}", f"{delta:,}", f"{whole:,}", f"{per_cent:.3f}", verdict))
    return rows


def memory(served: Served, libraries: Sequence[Library]) -> list[Sequence[str]]:
    """How far the API process grows at most while it serves a snapshot, by the size of that."""
    rows: list[Sequence[str]] = [
        ("snapshot of", "coding", "MiB sent", "process before, MiB", "at its peak, MiB", "growth")
    ]
    for library in libraries:
        path = f"/commits/{ref_of(library.place)[0]}"
        for coding in ("identity", "gzip"):
            _forget_peak(served.api.pid)
            before = _memory_of(served.api.pid, "VmRSS")
            sent = served.taken(library, path, coding)
            peak = _memory_of(served.api.pid, "VmHWM")
            rows.append(
                (
                    f"{len(library.memory_ids):,} Memories",
                    coding,
                    f"{sent / MEBIBYTE:.1f}",
                    f"{before / MEBIBYTE:.1f}",
                    f"{peak / MEBIBYTE:.1f}",
                    f"{(peak - before) / MEBIBYTE:.1f}",
                )
            )
    return rows


def times(served: Served, library: Library, schedule: Schedule) -> list[Comparison]:
    """A whole snapshot over HTTP against a plain SELECT of the rows in it."""
    path = f"/commits/{ref_of(library.place)[0]}"
    number = f"{len(library.memory_ids):,} Memories"
    plain, compressed, selected = f"snapshot of {number}", f"snapshot of {number}, gzip", "SELECT of the same rows"
    url = libpq_url(served.engine.url.render_as_string(hide_password=False))
    with psycopg.connect(url) as connection:
        medians = interleaved(
            {
                plain: lambda: timed(lambda: served.taken(library, path, "identity")),
                compressed: lambda: timed(lambda: served.taken(library, path, "gzip")),
                selected: lambda: timed(lambda: _select(connection, library)),
            },
            schedule,
        )
    return [Comparison(each, medians[each], selected, medians[selected]) for each in (plain, compressed)]


def _select(connection: psycopg.Connection, library: Library) -> None:
    with connection.transaction(), connection.cursor("same_rows") as cursor:
        cursor.itersize = ROWS_A_FETCH
        read = sum(1 for _ in cursor.execute(SAME_ROWS, [library.place.org_id]))
    if read != len(library.memory_ids):
        raise AssertionError(f"{read} rows were read")


_tokens = dict[str, str]()


def _token(library: Library) -> str:
    place = library.place
    if place.org_id not in _tokens:
        with acting(place) as tx:
            issued = issue_token(tx, user_id=place.owner, name="Bench", permissions=["read"], expires_at=None)
        _tokens[place.org_id] = issued.secret
    return _tokens[place.org_id]


def _forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets VmHWM (proc(5))


def _memory_of(pid: int, name: str) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


@contextmanager
def _served() -> Iterator[Served]:
    stack = start_stack()
    try:
        upgrade(stack.database_url)
        api = start_api(stack)
        engine = build_engine(stack.database_url, Settings(), pool_size=4, application_name="canonry-bench")
        yield Served(engine, api)
        engine.dispose()
        api.stop()
    finally:
        stack.stop()


if __name__ == "__main__":
    main()
