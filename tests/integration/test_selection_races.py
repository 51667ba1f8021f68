"""A Memory that goes out of a project's selection while a Draft comes to target it: one of both is refused."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest
from sqlalchemy import Engine, text

from activities.batches import BatchedOperation, append_batch
from activities.drafting import append, create_draft
from activities.projections import replace_selection
from activities.reverts import revert
from models.identifiers import MemoryId
from models.store.transaction import Transaction
from tests.commands import a_selection, operation_now, problem_of, published, result_of, selected
from tests.invariants import check_invariants
from tests.racing import SUCCEEDED, answer_to, together, verdict_of, without_deadlocks
from tests.rows import Somewhere, a_draft, acting, an_organization, creates, fetch, ref_of, updates

TRIALS = 40
LONGEST_WAIT_S = 10.0

Targeting = Callable[[Transaction], object]


@pytest.fixture
def pool(engine: Engine) -> Iterator[Engine]:
    with without_deadlocks(engine, connections=4) as racing:
        yield racing


def an_append(place: Somewhere, memory_id: MemoryId) -> Targeting:
    draft = a_draft(place)
    return partial(append, draft_id=draft.draft_id, expected_version=1, operations=[updates(memory_id, "new\n")])


def a_batch(place: Somewhere, memory_id: MemoryId) -> Targeting:
    draft = a_draft(place)
    batch = [BatchedOperation(0, f"on {memory_id}", draft.draft_id, 1, updates(memory_id, "new\n"))]
    return partial(append_batch, batch=batch)


def a_new_draft(place: Somewhere, memory_id: MemoryId) -> Targeting:
    operations = [updates(memory_id, "new\n")]
    return partial(create_draft, project_id=place.project_id, title="T", base_commit_id=None, operations=operations)


def a_revert(place: Somewhere, _: MemoryId) -> Targeting:
    commit_id, _version = ref_of(place)
    assert commit_id is not None
    return partial(revert, project_id=place.project_id, commit_id=commit_id)


WAYS = (an_append, a_batch, a_new_draft, a_revert)


def targets(place: Somewhere, target: Targeting) -> None:
    with acting(place) as tx:
        target(tx)


@contextmanager
def waiting(engine: Engine, action: Callable[[], str]) -> Iterator[Callable[[], str]]:
    """What an action is answered, once it waits for a lock that the caller holds, and is let go."""
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(action)
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not _somebody_waits(engine):
            assert not future.done(), future.result()
            assert time.monotonic() < deadline, "it neither waits nor ends"
            time.sleep(0.005)
        yield future.result


def _somebody_waits(engine: Engine) -> bool:
    waits = text("""
        select exists (
            select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
            where l.locktype = 'advisory' and not l.granted
        )
    """)
    with engine.connect() as connection:
        return bool(connection.execute(waits).scalar_one())


@pytest.mark.parametrize("way", WAYS)
def test_a_selection_waits_for_a_draft_that_comes_to_target_what_it_drops_and_is_refused(
    engine: Engine, way: Callable[[Somewhere, MemoryId], Targeting]
) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    target, selection = way(place, memory_id), a_selection(place, place.project_id, [])
    with acting(place) as tx:
        target(tx)
        with waiting(engine, partial(verdict_of, place, selection)) as answered:
            tx.connection.commit()
            assert answered() == "selection_in_use"
    assert problem_of(operation_now(place, selection))["memory_id"] == memory_id
    check_invariants(engine, place.org_id)


@pytest.mark.parametrize("way", WAYS)
def test_a_draft_waits_for_a_selection_that_drops_what_it_comes_to_target_and_is_refused(
    engine: Engine, way: Callable[[Somewhere, MemoryId], Targeting]
) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    target, selection = way(place, memory_id), a_selection(place, place.project_id, [])
    with acting(place) as tx:
        replace_selection(tx, selection)
        with waiting(engine, partial(answer_to, targets, place, target)) as answered:
            tx.connection.commit()
            assert answered() == "memory_not_selected"
    assert fetch(place, "select from org_selections where org_id = :o") == []


def test_appends_do_not_wait_for_each_other_nor_for_a_selection_that_only_adds(engine: Engine) -> None:
    place = an_organization(engine)
    one, two = published(place, creates("a.md"), creates("b.md"))
    result_of(selected(place, place.project_id, [one]))
    targeting = [an_append(place, one) for _ in range(3)]
    with acting(place) as tx:
        targeting[0](tx)
        targets(place, targeting[1])
        result_of(selected(place, place.project_id, [one, two]))
        targets(place, targeting[2])


def test_a_publication_does_not_wait_for_an_append_to_what_it_changes(engine: Engine) -> None:
    place = an_organization(engine)
    (memory_id,) = published(place, creates("a.md"))
    target = an_append(place, memory_id)
    with acting(place) as tx:
        target(tx)
        published(place, updates(memory_id, "theirs\n"))


def test_a_draft_and_a_selection_at_once_never_both_succeed(engine: Engine, pool: Engine) -> None:
    place = an_organization(pool)
    for number in range(TRIALS):
        (memory_id,) = published(place, creates(f"{number}.md"))
        kept = [row.memory_id for row in fetch(place, SELECTED) if row.memory_id != memory_id]
        target = WAYS[number % len(WAYS)](place, memory_id)
        selection = a_selection(place, place.project_id, kept)
        verdicts = together(partial(answer_to, targets, place, target), partial(verdict_of, place, selection))
        assert verdicts in ([SUCCEEDED, "selection_in_use"], ["memory_not_selected", SUCCEEDED]), (number, verdicts)
    check_invariants(engine, place.org_id)


SELECTED = "select memory_id from org_selections where org_id = :o"
