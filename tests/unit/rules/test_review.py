from collections.abc import Collection, Mapping, Sequence

import pytest

from models.errors import Problem
from models.identifiers import DraftId, MemoryId, ProjectId, final_id
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of, result_hash
from models.rules.review import evaluate
from models.rules.states import MemoryState
from tests.unit.rules.examples import a_state

ONE, TWO, THREE = MemoryId("mem_1"), MemoryId("mem_2"), MemoryId("mem_3")
NEW, NEWER = MemoryId("prv_8"), MemoryId("prv_9")
PROJECT = ProjectId("prj_1")

NOW = 5


def create(memory_id: MemoryId, path: str) -> DraftOperation:
    return DraftOperation(Action.CREATE, memory_id, path=path, body=body_of("new\n"))


def edit(memory_id: MemoryId, text: str = "edited\n") -> DraftOperation:
    return DraftOperation(Action.UPDATE, memory_id, body=body_of(text))


def rename(memory_id: MemoryId, new_path: str) -> DraftOperation:
    return DraftOperation(Action.RENAME, memory_id, new_path=new_path)


def delete(memory_id: MemoryId) -> DraftOperation:
    return DraftOperation(Action.DELETE, memory_id)


def a_draft(name: str, *operations: DraftOperation, base: int = NOW) -> ProposedDraft:
    return ProposedDraft(DraftId(name), base, operations)


def judge(
    drafts: Sequence[ProposedDraft],
    current: Mapping[MemoryId, MemoryState],
    *,
    base: Mapping[MemoryId, MemoryState] | None = None,
    unselected: Collection[MemoryId] = (),
    changed_since: Collection[MemoryId] = (),
    taken: Collection[MemoryId] = (),
) -> Evaluation:
    """Evaluate against Current; `base` is what stood at version 1, the same as Current unless said otherwise."""
    return evaluate(
        drafts,
        Surroundings(
            version=NOW,
            current=current,
            bases={NOW: current, 1: current if base is None else base},
            selected=set(current) - set(unselected),
            occupants={memory_id: state.path for memory_id, state in current.items()},
            changed_since={1: changed_since},
            taken=taken,
        ),
    )


def codes(evaluation: Evaluation) -> list[str]:
    return [problem.code for problem in evaluation.blockers]


def only(evaluation: Evaluation) -> Problem:
    (problem,) = evaluation.blockers
    return problem


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
    gone = judge([a_draft("first", edit(ONE), base=1)], {}, base=current)
    assert codes(gone) == ["reconciliation_required"]


def test_a_behind_draft_whose_result_would_change_needs_reconciliation() -> None:
    base = {ONE: a_state("one.md", text="was\n")}
    current = {ONE: a_state("one.md", text="is\n")}
    problem = only(judge([a_draft("first", rename(ONE, "x.md"), base=1)], current, base=base))
    assert problem.code == "reconciliation_required"
    assert problem.context == {"draft_id": "first", "memory_id": ONE, "candidates": []}


def test_a_behind_draft_that_keeps_its_result_has_no_blocker() -> None:
    base = {ONE: a_state("one.md"), TWO: a_state("two.md")}
    current = {ONE: a_state("one.md"), TWO: a_state("two.md", text="is\n")}
    assert judge([a_draft("first", edit(ONE), base=1)], current, base=base).blockers == []


def test_a_path_that_current_freed_does_not_ask() -> None:
    base = {ONE: a_state("one.md")}
    assert judge([a_draft("first", create(NEW, "one.md"), base=1)], {}, base=base).blockers == []


@pytest.mark.parametrize("taken", ["a.md", "A.MD", "a.md/inside.md"])
def test_a_path_occupied_by_an_unchanged_memory_is_a_collision(taken: str) -> None:
    current = {ONE: a_state(taken)}
    for base in (NOW, 1):
        problem = only(judge([a_draft("first", create(NEW, "a.md"), base=base)], current))
        assert problem.code == "path_collision"
        assert problem.context == {
            "draft_id": "first",
            "paths": ["a.md", taken],
            "memory_ids": [final_id(NEW), ONE],
        }


@pytest.mark.parametrize("taken", ["a.md", "A.MD", "a.md/inside.md"])
def test_a_path_taken_since_the_base_needs_reconciliation(taken: str) -> None:
    current = {ONE: a_state(taken)}
    problem = only(judge([a_draft("first", create(NEW, "a.md"), base=1)], current, base={}, changed_since=[ONE]))
    assert problem.code == "reconciliation_required"
    assert problem.context["memory_ids"] == [final_id(NEW), ONE]


def test_a_collision_in_a_draft_that_needs_reconciliation_anyway_is_part_of_it() -> None:
    base = {ONE: a_state("one.md", text="was\n"), TWO: a_state("a.md")}
    current = {ONE: a_state("one.md", text="is\n"), TWO: a_state("a.md")}
    evaluation = judge([a_draft("first", rename(ONE, "x.md"), create(NEW, "a.md"), base=1)], current, base=base)
    assert codes(evaluation) == ["reconciliation_required", "reconciliation_required"]


def test_a_collision_in_a_draft_that_meets_a_sibling_is_part_of_its_reconciliation() -> None:
    current = {ONE: a_state("taken.md")}
    third = MemoryId("prv_third")
    drafts = [
        a_draft("first", create(NEW, "a.md")),
        a_draft("second", create(NEWER, "a.md"), create(third, "taken.md")),
    ]
    assert codes(judge(drafts, current)) == ["reconciliation_required", "reconciliation_required"]


def test_a_folder_of_many_memories_in_the_way_is_one_blocker() -> None:
    current = {MemoryId(f"mem_{number}"): a_state(f"a/{number}.md") for number in range(9)}
    assert codes(judge([a_draft("first", create(NEW, "a"))], current)) == ["path_collision"]
    taken = judge([a_draft("first", create(NEW, "a"), base=1)], current, changed_since=[MemoryId("mem_7")])
    assert only(taken).context["memory_ids"] == [final_id(NEW), "mem_7"]
    assert only(taken).code == "reconciliation_required"


def test_two_memories_of_one_draft_at_one_path_collide() -> None:
    problem = only(judge([a_draft("first", create(NEW, "a.md"), create(NEWER, "A.md"))], {}))
    assert problem.code == "path_collision"
    assert problem.context["draft_id"] == "first"


@pytest.mark.parametrize("paths", [("a.md", "A.md"), ("b", "b/c"), ("b/c", "b"), ("z.md", "z.md")])
def test_two_drafts_that_meet_at_a_path_need_reconciliation_of_the_later_one(paths: tuple[str, str]) -> None:
    drafts = [a_draft("first", create(NEW, paths[0])), a_draft("second", create(NEWER, paths[1]))]
    problem = only(judge(drafts, {}))
    assert problem.code == "reconciliation_required"
    assert problem.context["draft_id"] == "second"
    assert problem.context["other"] == {"draft_id": "first"}
    assert problem.context["candidates"] == []


def test_a_path_belongs_to_the_draft_that_moved_a_memory_there_last() -> None:
    beside_what_it_edits = [
        a_draft("first", create(NEW, "a.md")),
        a_draft("second", edit(NEW), create(NEWER, "a.md")),
    ]
    assert only(judge(beside_what_it_edits, {})).context["other"] == {"draft_id": "first"}
    edited_later = [
        a_draft("first", create(NEW, "a.md"), create(NEWER, "a.md")),
        a_draft("second", edit(NEW), edit(NEWER)),
    ]
    problem = only(judge(edited_later, {}))
    assert (problem.code, problem.context["draft_id"]) == ("path_collision", "first")


def test_two_drafts_that_touch_one_existing_memory_need_reconciliation_of_the_later_one() -> None:
    problem = only(judge([a_draft("first", edit(ONE)), a_draft("second", delete(ONE))], {ONE: a_state("one.md")}))
    assert problem.code == "reconciliation_required"
    assert problem.context == {"draft_id": "second", "memory_id": ONE, "other": {"draft_id": "first"}, "candidates": []}


def test_swaps_cycles_and_chains_within_and_across_drafts_are_clean() -> None:
    current = {ONE: a_state("1.md"), TWO: a_state("2.md"), THREE: a_state("3.md")}
    cycle = [rename(ONE, "2.md"), rename(TWO, "3.md"), rename(THREE, "1.md")]
    chain = [delete(ONE), rename(TWO, "1.md"), rename(THREE, "2.md"), create(NEW, "3.md")]
    for operations in (cycle, chain):
        assert judge([a_draft("only", *operations)], current).blockers == []
        split = [a_draft(str(number), operation) for number, operation in enumerate(operations)]
        assert judge(split, current).blockers == []


def test_a_file_may_become_a_folder_in_one_review() -> None:
    drafts = [a_draft("first", rename(ONE, "a/index.md")), a_draft("second", create(NEW, "a/b.md"))]
    assert judge(drafts, {ONE: a_state("a")}).blockers == []


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


@pytest.mark.parametrize("base", [1, NOW])
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
