"""Every step of an import stopped before it begins, after every statement, and after COMMIT before it reports.

As in test_kill_points: what has not committed leaves every row as it was, so the next attempt is a retry of the first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from activities.imports import ImportActivities
from activities.messages import ImportBatch
from models.store.operations import StoredOperation, mark_running
from tests.commands import merged, operation_now, published, selected
from tests.databases import an_unserved_database
from tests.fuse import COMMIT, Fuse, over
from tests.imports import (
    FEW,
    a_file,
    an_import,
    command_of,
    drafted,
    drafts_of,
    few_a_draft,
    finished,
    imported,
    planned,
    row_of_import,
)
from tests.invariants import check_invariants
from tests.organization_rows import everything
from tests.rows import (
    Somewhere,
    acting,
    an_organization,
    creates,
    fetch,
    updates,
    with_state,
)
from tests.stack import Stack


@pytest.fixture(scope="module")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    few_a_draft(monkeypatch)


def of_every_kind(place: Somewhere) -> StoredOperation:
    """An import in three Drafts that creates, updates, renames and deletes, with files that are left out."""
    _, moved, edited, _ = published(
        place, creates("kept.md"), creates("old.md", "old\n"), creates("edited.md", "was\n"), creates("gone.md", "x\n")
    )
    files = [
        a_file("kept.md"),
        a_file("new.md", "new\n", memory_id=moved),
        a_file("edited.md", "is\n", description="now"),
        a_file("carried.md", "carried\n", memory_id="mem_carried"),
        a_file("twice.md"),
        a_file("Twice.md"),
        a_file("blank.md", " "),
    ]
    made = [a_file(f"made/{number}.md", f"{number}\n") for number in range(2 * FEW)]
    assert edited
    return an_import(place, *files, *made, mirror=True)


def nothing_new(place: Somewhere) -> StoredOperation:
    published(place, creates("a.md"))
    return an_import(place, a_file("a.md"))


def drafted_of_every_kind(place: Somewhere) -> StoredOperation:
    operation = of_every_kind(place)
    drafted(place, operation)
    return operation


def planned_of_every_kind(place: Somewhere) -> StoredOperation:
    operation = of_every_kind(place)
    planned(place, operation)
    return operation


def edit_what_it_edits(place: Somewhere) -> None:
    (row,) = fetch(
        place, "select memory_id from memory_versions where org_id = :o and path = 'edited.md' and to_version is null"
    )
    published(place, updates(row.memory_id, "theirs\n"))


def overtaken(place: Somewhere) -> StoredOperation:
    operation = drafted_of_every_kind(place)
    edit_what_it_edits(place)
    return operation


def overtaken_between_drafts(place: Somewhere) -> StoredOperation:
    """One Draft is there, and the target of a later one has left the selection."""
    operation = planned_of_every_kind(place)
    last = ImportActivities(place.engine).draft_import_batch(ImportBatch(command=command_of(operation), batch=1))
    assert last.advanced
    assert selected(place, place.project_id, []).status == "succeeded"
    return operation


def archived(place: Somewhere) -> StoredOperation:
    operation = drafted_of_every_kind(place)
    with_state(place, place.project_id, "archived")
    return operation


def first_draft(place: Somewhere, operation: StoredOperation) -> object:
    return ImportActivities(place.engine).draft_import_batch(ImportBatch(command=command_of(operation), batch=0))


@dataclass(frozen=True)
class Case:
    """What has happened to an import, and its next step."""

    prepare: Callable[[Somewhere], StoredOperation]
    step: Callable[[Somewhere, StoredOperation], object]


CASES = {
    "planned": Case(of_every_kind, planned),
    "planned to its end": Case(nothing_new, planned),
    "drafted": Case(planned_of_every_kind, first_draft),
    "drafted when overtaken": Case(overtaken_between_drafts, first_draft),
    "submitted": Case(drafted_of_every_kind, finished),
    "submitted when overtaken": Case(overtaken, finished),
    "submitted when refused": Case(archived, finished),
}


def tried(case: Case, place: Somewhere, operation: StoredOperation) -> None:
    """Take the step; what it cannot report for the line is lost, as when the process is killed."""
    try:
        case.step(place, operation)
    except DBAPIError:
        return


def prepared(case: Case, place: Somewhere) -> StoredOperation:
    operation = case.prepare(place)
    with acting(place) as tx:
        mark_running(tx.connection, place.org_id, [operation.operation_id], "plan")
    return operation


@pytest.mark.parametrize("name", CASES)
def test_a_step_of_an_import_stopped_anywhere_is_done_once_by_its_retry(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests, name: str
) -> None:
    case, (pool, fuse) = CASES[name], line
    whole = an_organization(engine)
    operation = prepared(case, whole)
    with fuse.arm(pool):
        case.step(over(pool, whole), operation)
    statements = fuse.statements
    committed = len(statements) - statements[::-1].index(COMMIT)
    # A plan first shows that it is being made, in a transaction of its own which it does without if it has to.
    begun = statements.index(COMMIT) + 2 if statements.count(COMMIT) == 2 else 0
    place = an_organization(engine)
    operation = prepared(case, place)
    before = everything(place)
    for stop in range(begun, committed):
        with subtests.test(after=stop, statement=statements[stop][:60]):
            with fuse.arm(pool, stop):
                tried(case, over(pool, place), operation)
            assert everything(place) == before
    with fuse.arm(pool, committed):
        tried(case, over(pool, place), operation)
    after = everything(place)
    assert after != before
    if name not in ("drafted when overtaken", "submitted when overtaken"):  # what follows those is a plan
        tried(case, place, operation)
        assert everything(place) == after
    assert operation_now(place, operation).failures == 0
    check_invariants(engine, place.org_id)


def test_an_import_stopped_once_in_every_step_ends_complete(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests
) -> None:
    pool, fuse = line
    for stop in (4, 12, 25):
        with subtests.test(stop=stop):
            place = an_organization(engine)
            operation = of_every_kind(place)
            for step in (planned, first_draft, drafted, finished):
                with fuse.arm(pool, stop):
                    tried(Case(of_every_kind, step), over(pool, place), operation)
            assert imported(place, operation).status == "succeeded"
            assert [draft.status for draft in drafts_of(place)] == ["merged", *["submitted"] * 3]
            review_id = row_of_import(place, operation).review_id
            assert review_id is not None
            assert merged(place, review_id).status == "succeeded"
            assert len(fetch(place, "select 1 from reviews where org_id = :o")) == 2
            check_invariants(engine, place.org_id)
