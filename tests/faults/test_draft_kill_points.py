"""What changes Drafts without an operation, stopped before it begins, after every statement, and after COMMIT."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from activities.batches import BatchedOperation, append_batch
from activities.catching_up import after_publication
from activities.reverts import revert
from models.store.locks import DraftRow
from tests.commands import a_review, published
from tests.databases import an_unserved_database
from tests.fuse import COMMIT, Fuse, every_stop, over, stops
from tests.invariants import check_invariants
from tests.organization_rows import everything
from tests.rows import (
    Somewhere,
    a_draft,
    acting,
    an_organization,
    creates,
    current,
    deletes,
    fetch,
    ref_of,
    restores,
    updates,
)
from tests.stack import Stack


@pytest.fixture(scope="module")
def engine(stack: Stack) -> Iterator[Engine]:
    with an_unserved_database(stack.database_url) as pool:
        yield pool


Write = Callable[[Somewhere], object]


class Case(NamedTuple):
    """A write that is ready to be made, and how many Drafts there are once it was made twice."""

    write: Write
    drafts: int


def a_revert(place: Somewhere) -> Case:
    kept, gone = published(place, creates("kept.md"), creates("gone.md"))
    published(place, updates(kept, "new\n"), deletes(gone), creates("new.md"))
    commit_id, _ = ref_of(place)
    assert commit_id is not None

    def write(there: Somewhere) -> None:
        with acting(there) as tx:
            revert(tx, project_id=place.project_id, commit_id=commit_id)

    return Case(write, drafts=4)


def a_restore(place: Somewhere) -> Case:
    (gone,) = published(place, creates("gone.md"))
    published(place, deletes(gone))
    return Case(lambda there: a_draft(there, restores(gone)), drafts=4)


def a_batch(place: Somewhere) -> Case:
    """It names its operations: made twice, it is made once."""
    drafts = [a_draft(place, creates(f"{number}.md")) for number in range(2)]
    batch = [
        BatchedOperation(index, f"local {index}", draft.draft_id, draft.version, creates(f"{index}.txt"))
        for index, draft in enumerate(drafts)
    ]

    def write(there: Somewhere) -> None:
        with acting(there) as tx:
            append_batch(tx, batch)

    return Case(write, drafts=2)


@pytest.mark.parametrize("prepare", [a_revert, a_restore, a_batch])
def test_a_write_stopped_anywhere_has_happened_whole_or_not_at_all(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests, prepare: Callable[[Somewhere], Case]
) -> None:
    pool, fuse = line
    whole = an_organization(engine)
    case = prepare(whole)
    with fuse.arm(pool):
        case.write(over(pool, whole))
    statements = fuse.statements
    assert statements.count(COMMIT) == 1
    place = an_organization(engine)
    case = prepare(place)
    before = everything(place)
    for number, statement in enumerate(["BEGIN", *statements[:-1]]):
        with subtests.test(after=number, statement=statement[:60]):
            with fuse.arm(pool, number), pytest.raises(DBAPIError):
                case.write(over(pool, place))
            assert everything(place) == before
    with fuse.arm(pool, len(statements)), pytest.raises(DBAPIError):
        case.write(over(pool, place))
    assert everything(place) != before
    case.write(place)
    assert len(fetch(place, "select 1 from drafts where org_id = :o")) == case.drafts
    check_invariants(engine, place.org_id)


def two_of_a_review(place: Somewhere) -> DraftRow:
    """The first keeps its result, the second does not; somebody has published."""
    (memory_id,) = published(place, creates("a.md", "one\ntwo\nthree\n"))
    second = a_draft(place, updates(memory_id, "ours\ntwo\nthree\n"))
    a_review(place, a_draft(place, creates("b.md")), second)
    published(place, updates(memory_id, "one\ntwo\ntheirs\n"))
    return second


@every_stop
def test_a_pass_after_a_publication_stopped_anywhere_is_finished_by_the_next(
    engine: Engine, line: tuple[Engine, Fuse], subtests: pytest.Subtests, every: int
) -> None:
    """Its two transactions may be cut apart: a base that has moved is one that the next pass need not move."""
    pool, fuse = line
    whole = an_organization(engine)
    draft = two_of_a_review(whole)
    with fuse.arm(pool):
        after_publication(pool, whole.org_id, draft.draft_id)
    statements = fuse.statements
    assert statements.count(COMMIT) == 2
    for stop in stops(statements, every):
        with subtests.test(stop=stop):
            place = an_organization(engine)
            draft = two_of_a_review(place)
            with fuse.arm(pool, stop), pytest.raises(DBAPIError):
                after_publication(pool, place.org_id, draft.draft_id)
            after_publication(engine, place.org_id, draft.draft_id)
            require_compared(place, draft)
            after = everything(place)
            after_publication(engine, place.org_id, draft.draft_id)
            assert everything(place) == after
    check_invariants(engine, whole.org_id)


def require_compared(place: Somewhere, second: DraftRow) -> None:
    """The first stands on the Ref, the second has one candidate, and nothing was told twice."""
    _, version = ref_of(place)
    rows = fetch(
        place, "select base_version, reconciled_version from drafts where org_id = :o and status = 'submitted'"
    )
    assert sorted(row.base_version for row in rows) == [version - 1, version]
    assert {row.reconciled_version for row in rows} == {version}
    candidates = fetch(place, "select draft_id from reconciliation_candidates where org_id = :o")
    assert [row.draft_id for row in candidates] == [second.draft_id]
    assert current(place, second).version == second.version + 1
    moved = fetch(place, "select 1 from events where org_id = :o and kind = 'draft.base_moved'")
    assert len(moved) == 1
    check_invariants(place.engine, place.org_id)
