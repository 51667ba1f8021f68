from collections.abc import Sequence

import pytest

from models.identifiers import MemoryId, ProjectId, final_id
from models.rules.folding import DraftOperation
from models.rules.hashes import result_hash
from tests.unit.rules.examples import a_state
from tests.unit.rules.reviews import (
    NEW,
    NOW,
    ONE,
    THEN,
    THREE,
    a_draft,
    codes,
    create,
    delete,
    edit,
    judge,
    only,
    rename,
)

PROJECT = ProjectId("prj_1")


def test_the_final_states_are_the_fold_of_all_drafts_in_order() -> None:
    drafts = [a_draft("first", create(NEW, "a.md")), a_draft("second", rename(NEW, "b.md"), edit(NEW))]
    evaluation = judge(drafts, {})
    assert evaluation.blockers == []
    assert evaluation.final_states == {final_id(NEW): a_state("b.md", text="edited\n")}


def test_the_result_hash_is_that_of_the_final_states_with_creates_selected_for_the_project() -> None:
    evaluation = judge([a_draft("first", create(NEW, "a.md"), edit(ONE))], {ONE: a_state("one.md")})
    states = {final_id(NEW): a_state("a.md", text="new\n"), ONE: a_state("one.md", text="edited\n")}
    assert evaluation.result_hash(PROJECT) == result_hash(states, PROJECT, {final_id(NEW)})


def test_a_memory_whose_net_change_is_nothing_stays_in_the_touched_set() -> None:
    current = {ONE: a_state("one.md")}
    evaluation = judge([a_draft("first", create(NEW, "a.md"), rename(ONE, "x.md"), rename(ONE, "one.md"))], current)
    assert evaluation.final_states[ONE] == current[ONE]


@pytest.mark.parametrize("operations", [(), (rename(ONE, "x.md"), rename(ONE, "one.md")), (edit(ONE, "text\n"),)])
def test_a_draft_whose_result_equals_current_is_empty(operations: Sequence[DraftOperation]) -> None:
    evaluation = judge([a_draft("first", *operations)], {ONE: a_state("one.md")})
    assert [problem.context for problem in evaluation.empty] == [{"draft_id": "first"}]


def test_a_draft_that_undoes_an_earlier_create_is_not_empty() -> None:
    evaluation = judge([a_draft("first", create(NEW, "a.md")), a_draft("second", delete(NEW))], {})
    assert evaluation.empty == []


def test_a_refused_operation_names_its_index_and_draft_and_the_others_are_still_folded() -> None:
    evaluation = judge([a_draft("first", edit(THREE), create(NEW, "a.md"))], {})
    assert only(evaluation).code == "target_missing"
    assert only(evaluation).context == {"memory_id": THREE, "index": 0, "draft_id": "first"}
    assert set(evaluation.states) == {NEW, THREE}


def test_a_later_draft_may_edit_rename_or_delete_what_an_earlier_one_creates() -> None:
    for operation in (edit(NEW), rename(NEW, "b.md"), delete(NEW)):
        assert judge([a_draft("first", create(NEW, "a.md")), a_draft("second", operation)], {}).blockers == []


def test_without_the_earlier_draft_the_target_is_missing() -> None:
    assert codes(judge([a_draft("second", edit(NEW))], {})) == ["target_missing"]


def test_a_memory_that_is_named_and_missing_is_touched_all_the_same() -> None:
    evaluation = judge([a_draft("second", edit(NEW))], {})
    assert evaluation.final_states == {final_id(NEW): None}
    assert evaluation.result_hash(PROJECT) == result_hash({final_id(NEW): None}, PROJECT, ())


def test_a_refused_operation_does_not_stand_in_the_way_of_a_later_create() -> None:
    evaluation = judge([a_draft("only", edit(NEW), create(NEW, "a.md"))], {})
    assert codes(evaluation) == ["target_missing"]
    assert evaluation.states[NEW] is not None


def test_what_an_earlier_draft_created_and_deleted_is_missing_in_the_next() -> None:
    drafts = [a_draft("first", create(NEW, "a.md"), delete(NEW)), a_draft("second", edit(NEW))]
    assert codes(judge(drafts, {})) == ["target_missing"]


def test_an_unselected_memory_is_refused_unless_it_was_deleted_upstream_since_the_base() -> None:
    current = {ONE: a_state("one.md")}
    assert codes(judge([a_draft("first", edit(ONE))], current, unselected=[ONE])) == ["memory_not_selected"]
    gone = judge([a_draft("first", edit(ONE), base=THEN)], {}, base=current)
    assert codes(gone) == ["reconciliation_required"]


def test_a_stored_operation_whose_path_breaks_a_rule_is_invalid() -> None:
    problem = only(judge([a_draft("first", create(NEW, "a//b.md"))], {}))
    assert problem.code == "operation_invalid"
    assert problem.context == {"field": "path", "rule": "empty_segment", "index": 0, "draft_id": "first"}


CARRIED = MemoryId("mem_carried")


def test_a_create_that_carries_an_id_is_a_create_under_that_id() -> None:
    evaluation = judge([a_draft("first", create(CARRIED, "a.md"), edit(CARRIED))], {ONE: a_state("one.md")})
    assert (evaluation.blockers, evaluation.empty) == ([], [])
    final = {CARRIED: a_state("a.md", text="edited\n")}
    assert evaluation.changed == evaluation.final_states == final
    assert evaluation.result_hash(PROJECT) == result_hash(final, PROJECT, {CARRIED})


def test_a_later_draft_may_change_what_an_earlier_one_creates_under_a_carried_id() -> None:
    evaluation = judge([a_draft("first", create(CARRIED, "a.md")), a_draft("second", rename(CARRIED, "b.md"))], {})
    assert evaluation.blockers == []
    assert evaluation.final_states == {CARRIED: a_state("b.md", text="new\n")}


@pytest.mark.parametrize("base", [THEN, NOW])
def test_a_carried_id_of_an_active_memory_is_a_duplicate_and_what_was_proposed_is_still_shown(base: int) -> None:
    current = {CARRIED: a_state("one.md")}
    evaluation = judge(
        [a_draft("first", create(NEW, "b.md"), create(CARRIED, "a.md"), base=base)], current, base={}, taken=[CARRIED]
    )
    assert only(evaluation).code == "duplicate_id"
    assert only(evaluation).context == {"index": 1, "memory_id": CARRIED, "draft_id": "first"}
    assert evaluation.final_states[CARRIED] == a_state("a.md", text="new\n")


def test_a_carried_id_of_an_archived_memory_is_a_duplicate() -> None:
    assert codes(judge([a_draft("first", create(CARRIED, "a.md"))], {}, taken=[CARRIED])) == ["duplicate_id"]


def test_two_drafts_that_carry_one_id_are_refused_at_the_second_even_where_the_first_deletes_it() -> None:
    for first in ([create(CARRIED, "a.md")], [create(CARRIED, "a.md"), delete(CARRIED)]):
        problem = only(judge([a_draft("first", *first), a_draft("second", create(CARRIED, "b.md"))], {}))
        assert problem.code == "duplicate_id"
        assert problem.context == {"index": 0, "memory_id": CARRIED, "draft_id": "second"}


@pytest.mark.parametrize("order", [(NEW, final_id(NEW)), (final_id(NEW), NEW)])
def test_a_carried_id_that_a_provisional_one_will_become_is_a_duplicate(order: tuple[MemoryId, MemoryId]) -> None:
    problem = only(judge([a_draft("first", create(order[0], "a.md")), a_draft("second", create(order[1], "b.md"))], {}))
    assert (problem.code, problem.context["draft_id"]) == ("duplicate_id", "second")


def test_a_provisional_id_whose_final_one_is_taken_is_a_duplicate() -> None:
    assert codes(judge([a_draft("first", create(NEW, "a.md"))], {}, taken=[final_id(NEW)])) == ["duplicate_id"]


def test_within_one_draft_an_id_is_carried_once() -> None:
    problem = only(judge([a_draft("only", create(CARRIED, "a.md"), create(CARRIED, "b.md"))], {}))
    assert problem.code == "duplicate_id"
    assert problem.context == {"index": 1, "memory_id": CARRIED, "draft_id": "only"}
