"""Every cell of reconciliation-table.md, with Current and with an earlier Draft of the Review on the other side."""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from models.identifiers import MemoryId
from models.rules.conflicts import Conflict, Reconciliation
from models.rules.evaluation import Evaluation
from models.rules.states import State
from tests.reconciliation_sentences import THE_SERIES, Series
from tests.reconciliation_steps import ELSEWHERE, Q, create, rename
from tests.reconciliation_table import the_cases
from tests.reconciliation_verdicts import Case, Record
from tests.unit.rules.examples import keeps_its_result
from tests.unit.rules.table_world import World, state_of

CASES = list(the_cases())
AGAINST_SIBLINGS = [case for case in CASES if case.current and not case.needs_current]

against_current = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
against_a_sibling = pytest.mark.parametrize("case", AGAINST_SIBLINGS, ids=lambda case: case.name)


def published(case: Case) -> World:
    return World(case.current, case.draft)


def proposed(case: Case) -> World:
    return World((), case.current, case.draft)


@against_current
def test_a_draft_meets_what_was_published(case: Case) -> None:
    world = published(case)
    evaluation = world.evaluate()
    assert found(world, evaluation) == case.records
    assert codes(evaluation) == expected_codes(case, asks=case.asks)
    assert {conflict.other.draft_id for conflict in conflicts(world, evaluation)} <= {None}
    if case.result is not None:
        assert proposals(world, evaluation) == results(world, case)


@against_a_sibling
def test_a_draft_meets_what_an_earlier_one_does(case: Case) -> None:
    world = proposed(case)
    evaluation = world.evaluate()
    assert found(world, evaluation) == case.records
    assert codes(evaluation) == expected_codes(case, asks=bool(case.records))
    assert {conflict.other.draft_id for conflict in conflicts(world, evaluation)} <= {world.drafts[0].draft_id}
    if case.result is not None:
        assert proposals(world, evaluation) == results(world, case)


@pytest.mark.parametrize("case", [case for case in CASES if case.records], ids=lambda case: case.name)
def test_each_offered_resolution_gives_a_draft_that_is_clean(case: Case) -> None:
    settle_in_every_way(published(case))


@pytest.mark.parametrize("case", [case for case in AGAINST_SIBLINGS if case.records], ids=lambda case: case.name)
def test_each_offered_resolution_goes_with_the_earlier_draft(case: Case) -> None:
    settle_in_every_way(proposed(case))


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.records and not case.collides], ids=lambda c: c.name
)
def test_a_clean_draft_is_the_same_once_it_is_up_to_date(case: Case) -> None:
    world = published(case)
    require_the_same_once_rebased(world, world.evaluate(confirmed={world.drafts[-1].draft_id: {}}))


@pytest.mark.parametrize("series", THE_SERIES, ids=lambda series: series.name)
def test_drafts_of_a_review_meet_each_other_in_order(series: Series) -> None:
    world = World((), *series.drafts)
    evaluation = world.evaluate()
    assert found(world, evaluation) == series.records
    assert codes(evaluation) == ([series.code] if series.code else ["reconciliation_required"] * bool(series.records))
    if series.records:
        settle_in_every_way(world)


def settle_in_every_way(world: World) -> None:
    draft_id = world.drafts[-1].draft_id
    choices = offers(world.reconciliation(world.evaluate()))
    assert all(choices.values())
    for chosen in product(*choices.values()):
        evaluation = world.evaluate(confirmed={draft_id: dict(zip(choices, chosen, strict=True))})
        assert evaluation.blockers == []
        require_the_same_once_rebased(world, evaluation)


def require_the_same_once_rebased(world: World, evaluation: Evaluation) -> None:
    again = world.evaluate(world.rebased(evaluation))
    assert again.blockers == []
    assert keeps_its_result(world.reconciliation(again))
    dropped = {name for name in evaluation.final_states if name not in again.final_states}
    assert all(evaluation.final_states[name] is None and name in evaluation.made for name in dropped)
    assert again.final_states == {name: state for name, state in evaluation.final_states.items() if name not in dropped}


def offers(reconciliation: Reconciliation) -> Mapping[MemoryId, list[State]]:
    """By contested Memory, every state that a record of it offers."""
    states: dict[MemoryId, list[State]] = {}
    for conflict in reconciliation.conflicts:
        for resolution in conflict.resolutions:
            if resolution.state not in states.setdefault(conflict.memory_id, []):
                states[conflict.memory_id].append(resolution.state)
    return states


def conflicts(world: World, evaluation: Evaluation) -> Iterator[Conflict]:
    yield from world.reconciliation(evaluation).conflicts


def found(world: World, evaluation: Evaluation) -> tuple[Record, ...]:
    """The conflicts as the table writes them."""
    return tuple(
        Record(
            conflict.code.value,
            conflict.memory_id.partition("_")[2],
            conflict.field.value,
            tuple(resolution.name for resolution in conflict.resolutions),
            identical=conflict.identical,
            equivalent=conflict.equivalent,
        )
        for conflict in conflicts(world, evaluation)
    )


def codes(evaluation: Evaluation) -> list[str]:
    return [problem.code for problem in evaluation.blockers]


def expected_codes(case: Case, *, asks: bool) -> list[str]:
    if case.collides:
        return ["path_collision"]
    return ["reconciliation_required"] if asks else []


def proposals(world: World, evaluation: Evaluation) -> Mapping[MemoryId, State]:
    return {comparison.memory_id: comparison.proposed for comparison in world.reconciliation(evaluation).comparisons}


def results(world: World, case: Case) -> Mapping[MemoryId, State]:
    assert case.result is not None
    return {world.letters.id_of(letter): state_of(document) for letter, document in case.result.items()}


def test_a_memory_keeps_its_path_where_a_later_draft_is_to_make_way() -> None:
    world = World([rename("M", ELSEWHERE)], [rename("M", Q)], [create("X", Q)])
    first, second = world.evaluate().reconciliations.values()
    assert [resolution.name for resolution in first.conflicts[0].resolutions] == ["keep_current", "keep_draft"]
    assert [resolution.name for resolution in second.conflicts[0].resolutions] == ["drop", "move"]
    for ours, theirs in product(*offers(first).values(), *offers(second).values()):
        confirmed = {first.draft_id: {MemoryId("mem_M"): ours}, second.draft_id: {MemoryId("prv_X"): theirs}}
        assert world.evaluate(confirmed=confirmed).blockers == []
