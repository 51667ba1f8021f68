"""How much the server does for a command, by the rows that its plans touch: a number, however busy the machine is.

Every statement of the product is explained before it runs, in a savepoint that is rolled back.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg import ClientCursor
from sqlalchemy import Connection, Engine, RowMapping, event, text

from models.identifiers import MemoryId, ProjectId
from models.store.chains import list_commits
from models.store.commits import organization_ref
from models.store.coordination import coordinate
from models.store.deltas import compare, delta_parts
from models.store.draft_views import draft_result
from models.store.effective import list_effective
from models.store.feed import feed_of, latest_positions
from models.store.feed_pages import Ask, read_draft_feed, read_feed, read_for_each
from models.store.history import list_changes
from models.store.memories import each_at, states_at
from models.store.operations import claim_due
from models.store.org_memories import list_memories, read_memory
from models.store.past import Point, list_memories_then, point_of_time, read_memory_then
from models.store.snapshots import snapshot_parts
from models.store.standing import memories_at_paths
from tests.commands import a_merge, a_review, attempted, merged, result_of, selected
from tests.databases import a_database
from tests.imports import a_file, an_import, imported, row_of_import
from tests.rows import (
    Somewhere,
    a_draft,
    a_project,
    an_organization,
    creates,
    current,
    deletes,
    fetch,
    renames,
    tree,
    updates,
)

EXPLAINED = re.compile(r"\s*(select|insert|update|delete|with)\b", re.IGNORECASE)
NAMES = re.compile(r"%\((\w+)\)s")

BUCKETS = 1_024
"""So many digests make a tree id, however many Memories there are."""


@dataclass
class Work:
    """For each statement, the most rows that any node of its plan touched, those that it threw away included.

    With `generic`, statements are planned as they are from their tenth execution on, for any values. With
    `as_if_large`, look-ups cost so little that some thousand rows are planned as a hundred thousand are.
    """

    generic: bool = False
    as_if_large: bool = False
    rows: dict[str, int] = field(default_factory=dict)

    def explain(self, cursor: Any, statement: str, parameters: Mapping[str, Any]) -> None:
        cursor.execute("savepoint explained")
        if self.as_if_large:
            cursor.execute("set local random_page_cost = 0.5")
        if self.generic:
            plan = self._generic_plan(cursor, statement, parameters)
        else:
            plan = cursor.execute(f"explain (analyze, format json) {statement}", parameters).fetchone()
        self.rows[statement] = max(self.rows.get(statement, 0), _touched(plan[0][0]["Plan"]))
        cursor.execute("rollback to savepoint explained")
        cursor.execute("release savepoint explained")

    def _generic_plan(self, cursor: Any, statement: str, parameters: Mapping[str, Any]) -> Any:
        names = list(dict.fromkeys(NAMES.findall(statement)))
        numbered = NAMES.sub(lambda found: f"${names.index(found[1]) + 1}", statement)
        cursor.execute("set local plan_cache_mode = force_generic_plan")
        literal = ClientCursor(cursor.connection)
        literal.execute(f"prepare explained as {numbered}")
        values = ", ".join(f"%({name})s" for name in names)
        run = f"explain (analyze, format json) execute explained{f'({values})' if names else ''}"
        plan = literal.execute(run, parameters).fetchone()
        literal.execute("deallocate explained")
        return plan

    def above(self, limit: int) -> dict[str, int]:
        return {" ".join(statement.split()): rows for statement, rows in self.rows.items() if rows > limit}


def _touched(plan: Mapping[str, Any]) -> int:
    removed = sum(value for name, value in plan.items() if name.startswith("Rows Removed by"))
    own = int((plan["Actual Rows"] + removed) * plan["Actual Loops"])
    return max([own, *map(_touched, plan.get("Plans", ()))])


@contextmanager
def watched(engine: Engine, *, generic: bool = False, as_if_large: bool = False) -> Iterator[Work]:
    """Explain every statement of the engine while the block runs."""
    work = Work(generic, as_if_large)

    def explain(_c: Connection, cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:  # noqa: FBT001
        if EXPLAINED.match(statement) and not many:
            work.explain(cursor, statement, parameters)

    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield work
    finally:
        event.remove(engine, "before_cursor_execute", explain)


def many_creates(place: Somewhere, folder: str, number: int) -> Any:
    """A Draft of so many Memories, fifty a folder."""
    return a_draft(
        place, *(creates(f"{folder}/{each // 50}/{each}.md", f"{folder} {each}\n") for each in range(number))
    )


@pytest.fixture
def without_statistics(engine: Engine) -> Iterator[Engine]:
    """A new database that has no statistics yet, and gets none."""
    with a_database(engine) as pool:
        with pool.begin() as connection:
            tables = text("select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace")
            for table in connection.execute(tables).scalars():
                connection.execute(text(f"alter table {table} set (autovacuum_enabled = false)"))
        yield pool


def test_bulk_changes_cost_in_proportion_to_their_size_before_there_are_any_statistics(
    without_statistics: Engine,
) -> None:
    """Planned without statistics, a join is easily one of all rows with all: a first import took minutes."""
    place = an_organization(without_statistics)
    half = 750
    other = a_project(place)
    with watched(without_statistics) as work:
        result_of(merged(place, a_review(place, many_creates(place, "a", half), many_creates(place, "b", half))))
        ids = sorted(tree(place))
        result_of(selected(place, other, ids))
        edits = [a_draft(place, *(updates(memory_id, "x\n") for memory_id in ids[part::2])) for part in range(2)]
        result_of(merged(place, a_review(place, *edits)))
        result_of(merged(place, a_review(place, a_draft(place, *(deletes(memory_id) for memory_id in ids[:half])))))
        result_of(selected(place, other, ids[half : half + 5]))
        for chain in (None, place.project_id, other):
            _read_whole(place, chain)
    assert len(ids) == 2 * half
    assert work.above(10 * len(ids)) == {}


def _read_whole(place: Somewhere, chain: ProjectId | None) -> None:
    """Read a chain's snapshots and the deltas of its last versions, and what may be read now."""
    commits = _last_commits(place, chain, 3)
    with place.engine.connect() as connection:
        for commit in commits:
            assert b"".join(snapshot_parts(lambda: connection, commit))
            assert b"".join(delta_parts(lambda: connection, compare(connection, commits[0], commit)))
            assert b"".join(delta_parts(lambda: connection, compare(connection, commit, commits[0])))
        list_effective(connection, place.org_id, chain or place.project_id, place.owner, after=("", ""), limit=50)


def test_an_import_costs_in_proportion_to_its_size_before_there_are_any_statistics(without_statistics: Engine) -> None:
    place = an_organization(without_statistics)
    size = 600
    result_of(merged(place, a_review(place, many_creates(place, "a", size))))
    files = [a_file(f"a/{each // 50}/{each}.md", f"a {each}\n") for each in range(0, size, 2)]
    files += [a_file(f"new/{each}.md", "x\n") for each in range(size // 2)]
    files += [a_file(f"New/{each}.md", "x\n") for each in range(0, size // 2, 3)]
    operation = an_import(place, *files, mirror=True)
    with watched(without_statistics) as work:
        assert imported(place, operation).status == "succeeded"
    row = row_of_import(place, operation)
    assert (row.created, row.deleted, row.unchanged) == (size // 3, size // 2, size // 2)
    assert work.above(10 * size) == {}


@dataclass(frozen=True)
class Library:
    """An organization of some thousand Memories with a past, and statistics of it."""

    place: Somewhere
    ids: list[MemoryId]


@pytest.fixture(scope="module")
def library(engine: Engine) -> Iterator[Library]:
    with a_database(engine) as pool:
        place = an_organization(pool)
        for number in range(24):
            result_of(merged(place, a_review(place, many_creates(place, f"{number}", 100))))
        ids = [MemoryId(memory_id) for memory_id in sorted(tree(place))]
        for start in range(0, 1_200, 100):
            changes = [renames(each, f"moved{start}/{each}.md") for each in ids[start : start + 100]]
            result_of(merged(place, a_review(place, a_draft(place, *changes))))
        with pool.begin() as connection:
            connection.execute(text("analyze"))
        yield Library(place, ids)


@pytest.mark.parametrize("generic", [False, True])
def test_a_merge_of_a_few_memories_touches_as_many_rows_however_many_there_are(
    library: Library, *, generic: bool
) -> None:
    place, ids = library.place, library.ids
    small = a_project(place)
    result_of(selected(place, small, ids[:3]))
    edited = a_draft(place, updates(ids[100], f"{generic}\n"), updates(ids[2_000], description=f"{generic}"))
    moved = a_draft(place, renames(ids[200], f"moved{generic}/{ids[200]}.md"))
    created = a_draft(place, creates(f"new{generic}/a.md"), updates(ids[1], f"{generic}\n"), project_id=small)
    for drafts in ([edited, moved], [created]):
        operation = a_merge(place, a_review(place, *drafts))
        with watched(place.engine, generic=generic, as_if_large=True) as work:
            assert attempted(place, operation).succeeded
        assert len(work.rows) > 20
        trees = work.above(200)
        assert len(trees) <= 1
        assert all("canonry.tree.v1" in statement and rows <= 2 * BUCKETS for statement, rows in trees.items())


@pytest.mark.parametrize("generic", [False, True])
def test_what_is_read_of_a_large_organization_touches_few_rows(library: Library, *, generic: bool) -> None:
    place, ids = library.place, library.ids
    base = fetch(place, "select commit_id from commits where org_id = :o and scope = 'org' and version = 2")[0]
    behind = a_draft(place, updates(ids[7], "x\n"), creates("3/1/new.md"), base=base.commit_id)
    with place.engine.connect() as connection, watched(place.engine, generic=generic, as_if_large=True) as work:
        _, version = organization_ref(connection, place.org_id)
        for at in (3, 24, version - 6):
            assert memories_at_paths(connection, place.org_id, ["2/1/99.md", "2/0/1.md", "20/0/1.md"], at)
            assert len(states_at(connection, place.org_id, ids[:20], at)) == 20
            assert len(each_at(connection, place.org_id, [(one, at) for one in ids[:20]])[at]) == 20
        coordinate(connection, place.org_id, [current(place, behind)])
        draft_result(connection, behind)
        list_memories(connection, place.org_id, status="active", after=("7", ""), limit=50)
        list_memories(connection, place.org_id, status="archived", after=None, limit=50)
        list_memories(connection, place.org_id, status="active", path="2/1/99.md", after=None, limit=50)
        list_memories(connection, place.org_id, status="archived", path="2/1/99.md", after=None, limit=50)
        read_memory(connection, place.org_id, ids[500])
        list_commits(connection, place.org_id, None, before=None, limit=20)
        start = feed_of(connection, place.org_id).floor
        first = read_feed(connection, place.org_id, place.owner, start, 20)
        read_feed(connection, place.org_id, place.owner, first.position, 20)
        read_draft_feed(connection, place.org_id, place.owner, first.position, 20)
        latest = latest_positions(connection, [place.org_id], start.epoch)[place.org_id]
        read_for_each(connection, place.org_id, [Ask(place.owner, first.position, 20)] * 3, latest)
        claim_due(connection, limit=10, first_retry_s=5, max_retry_s=30)
        connection.rollback()
    assert len(work.rows) > 10
    assert work.above(200) == {}


@pytest.mark.parametrize("generic", [False, True])
def test_what_is_read_of_a_large_past_touches_few_rows(library: Library, *, generic: bool) -> None:
    place, ids = library.place, library.ids
    few = a_project(place)
    result_of(selected(place, few, [ids[10], ids[11 + generic], ids[20]]))
    gone = ids[11 + generic]
    result_of(merged(place, a_review(place, a_draft(place, updates(ids[10], f"past {generic}\n"), deletes(gone)))))
    chains = [_last_commits(place, chain, 2) for chain in (None, place.project_id, few)]
    version = chains[0][0]["version"]
    with place.engine.connect() as connection, watched(place.engine, generic=generic, as_if_large=True) as work:
        for newer, older in chains:
            for base, target in ((newer, older), (older, newer)):
                delta = compare(connection, base, target)
                assert 1 <= len(delta.upserted) + len(delta.removed) <= 3
                for piece in delta_parts(lambda: connection, delta):
                    assert piece
        for at in (3, 24, version):
            read_memory_then(connection, place.org_id, ids[10], Point(at, None))
        assert list_memories_then(connection, place.org_id, version - 1, status="active", after=("1", ""), limit=50)
        for path in ("2/1/99.md", "nothing.md"):
            before = (connection, place.org_id, version - 1)
            list_memories_then(*before, status="active", path=path, after=("", ""), limit=9)
            list_memories_then(*before, status="archived", path=path, after=("", ""), limit=9)
        point_of_time(connection, place.org_id, datetime.now(UTC))
        list_changes(connection, place.org_id, ids[10], before=None, limit=50)
        list_effective(connection, place.org_id, few, place.owner, after=("", ""), limit=50)
        connection.rollback()
    assert len(work.rows) > 10
    assert work.above(200) == {}


def _last_commits(place: Somewhere, chain: ProjectId | None, number: int) -> list[RowMapping]:
    """The last commits of a chain, newest first."""
    statement = text("""
        select * from commits where org_id = :o and project_id is not distinct from :p order by version desc limit :n
    """)
    with place.engine.connect() as connection:
        return list(connection.execute(statement, {"o": place.org_id, "p": chain, "n": number}).mappings())


def test_a_join_of_all_with_all_would_be_seen(engine: Engine) -> None:
    with engine.connect() as connection, watched(engine) as work:
        connection.execute(
            text("select count(*) from generate_series(1, 300) a join generate_series(1, 300) b on a < b")
        )
    assert list(work.above(50_000).values()) == [300 * 300]
