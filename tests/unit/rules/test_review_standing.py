from collections.abc import Mapping

import pytest

from models.errors import JsonValue
from models.identifiers import DraftId, MemoryId, ProjectId
from models.rules.conflicts import Comparison, ConflictCode, Other
from models.rules.evaluation import Evaluation
from models.rules.folding import DraftOperation
from models.rules.hashes import body_of, result_hash
from models.rules.states import State
from tests.unit.rules.examples import a_state, keeps_its_result
from tests.unit.rules.reviews import (
    LINES,
    NEW,
    ONE,
    THEN,
    TWO,
    a_draft,
    codes,
    conflicts,
    create,
    delete,
    describe,
    edit,
    judge,
    only,
    rename,
    restore,
)

FIRST, SECOND, THIRD = DraftId("first"), DraftId("second"), DraftId("third")
LINES_AT_ONE = a_state("one.md", text=LINES)
OURS, THEIRS = LINES.replace("one", "one, ours"), LINES.replace("three", "three, theirs")
BOTH = THEIRS.replace("one", "one, ours")


def required(draft: str, memory_id: MemoryId) -> dict[str, JsonValue]:
    return {"draft_id": draft, "memory_id": memory_id, "candidates": []}


def compared(evaluation: Evaluation, draft: DraftId) -> Comparison:
    (comparison,) = evaluation.reconciliations[draft].comparisons
    return comparison


def test_a_draft_on_its_own_base_is_itself() -> None:
    evaluation = judge([a_draft("first", edit(ONE))], {ONE: LINES_AT_ONE})
    edited = a_state("one.md", text="edited\n")
    assert evaluation.results == {FIRST: {ONE: edited}}
    assert compared(evaluation, FIRST) == Comparison(ONE, LINES_AT_ONE, LINES_AT_ONE, edited, edited)
    assert keeps_its_result(evaluation.reconciliations[FIRST])


def test_what_a_draft_touches_is_compared_in_the_order_in_which_it_is_first_named() -> None:
    evaluation = judge(
        [a_draft("first", edit(TWO), create(NEW, "new.md"), edit(ONE), describe(TWO, "about"))],
        {ONE: a_state("one.md"), TWO: a_state("two.md")},
    )
    named = [comparison.memory_id for comparison in evaluation.reconciliations[FIRST].comparisons]
    assert named == [TWO, NEW, ONE] == list(evaluation.results[FIRST])


def test_a_behind_draft_whose_result_would_change_needs_reconciliation() -> None:
    base, current = {ONE: a_state("one.md", text="was\n")}, {ONE: a_state("one.md", text="is\n")}
    evaluation = judge([a_draft("first", rename(ONE, "x.md"), base=THEN)], current, base=base)
    assert only(evaluation).code == "reconciliation_required"
    assert only(evaluation).context == required("first", ONE)
    assert evaluation.reconciliations[FIRST].clean
    assert evaluation.reconciliations[FIRST].asking
    assert compared(evaluation, FIRST).proposed == a_state("x.md", text="is\n")


def test_a_behind_draft_that_keeps_its_result_has_no_blocker() -> None:
    base = {ONE: a_state("one.md"), TWO: a_state("two.md")}
    current = {ONE: a_state("one.md"), TWO: a_state("two.md", text="is\n")}
    evaluation = judge([a_draft("first", edit(ONE), base=THEN)], current, base=base)
    assert evaluation.blockers == []
    assert keeps_its_result(evaluation.reconciliations[FIRST])


def test_the_blocker_names_the_first_conflict_or_else_the_first_memory_that_would_change() -> None:
    base = {ONE: LINES_AT_ONE, TWO: a_state("two.md", text="was\n")}
    current = {ONE: a_state("one.md", text=THEIRS), TWO: a_state("two.md", text="is\n")}
    merged = judge([a_draft("first", rename(TWO, "x.md"), edit(ONE, OURS), base=THEN)], current, base=base)
    assert only(merged).context == required("first", TWO)
    overlapping = judge([a_draft("first", rename(TWO, "x.md"), edit(ONE), base=THEN)], current, base=base)
    assert only(overlapping).context == required("first", ONE)


def test_a_confirmed_draft_gives_the_merged_result_with_its_text() -> None:
    base, current = {ONE: LINES_AT_ONE}, {ONE: a_state("one.md", text=THEIRS)}
    evaluation = judge([a_draft("first", edit(ONE, OURS), base=THEN)], current, base=base, confirmed={FIRST: {}})
    assert evaluation.blockers == []
    assert evaluation.final_states == {ONE: a_state("one.md", text=BOTH)}
    assert evaluation.texts == {body_of(BOTH).blob_id: BOTH}


@pytest.mark.parametrize("resolved", [None, a_state("one.md", text="is\n")])
def test_a_confirmed_conflict_has_the_state_that_resolves_it_in_the_review_too(resolved: State) -> None:
    base, current = {ONE: a_state("one.md", text="was\n")}, {ONE: a_state("one.md", text="text\n")}
    drafts = [a_draft("first", edit(ONE), base=THEN)]
    assert judge(drafts, current, base=base).states == {ONE: a_state("one.md", text="edited\n")}
    evaluation = judge(drafts, current, base=base, confirmed={FIRST: {ONE: resolved}})
    assert evaluation.blockers == []
    assert evaluation.states == {ONE: resolved}
    assert evaluation.results == {FIRST: {ONE: resolved}}


def test_a_confirmed_draft_with_a_conflict_that_no_state_resolves_is_blocked() -> None:
    base = {ONE: a_state("one.md", text="was\n"), TWO: a_state("two.md", text="was\n")}
    current = {ONE: a_state("one.md", text="is\n"), TWO: a_state("two.md", text="is\n")}
    drafts = [a_draft("first", edit(ONE), edit(TWO), base=THEN)]
    evaluation = judge(drafts, current, base=base, confirmed={FIRST: {ONE: None}})
    assert only(evaluation).code == "reconciliation_required"
    assert evaluation.needs_reconciliation == {FIRST}


@pytest.mark.parametrize(
    ("earlier", "later", "together"),
    [
        (edit(ONE, THEIRS), edit(ONE, OURS), a_state("one.md", text=BOTH)),
        (edit(ONE), describe(ONE, "about"), a_state("one.md", text="edited\n", description="about")),
        (rename(ONE, "x.md"), edit(ONE), a_state("x.md", text="edited\n")),
        (edit(ONE), edit(ONE), a_state("one.md", text="edited\n")),
        (delete(ONE), delete(ONE), None),
    ],
)
def test_a_clean_combination_of_siblings_needs_nobody(
    earlier: DraftOperation, later: DraftOperation, together: State
) -> None:
    evaluation = judge([a_draft("first", earlier), a_draft("second", later)], {ONE: LINES_AT_ONE})
    assert evaluation.blockers == []
    assert evaluation.final_states == {ONE: together}
    assert keeps_its_result(evaluation.reconciliations[SECOND])


def test_the_last_of_three_siblings_is_merged_with_what_the_first_two_come_to() -> None:
    drafts = [
        a_draft("first", describe(ONE, "about")),
        a_draft("second", edit(ONE, THEIRS)),
        a_draft("third", edit(ONE, OURS)),
    ]
    evaluation = judge(drafts, {ONE: LINES_AT_ONE})
    assert evaluation.blockers == []
    assert compared(evaluation, THIRD).current == a_state("one.md", text=THEIRS, description="about")
    assert evaluation.final_states == {ONE: a_state("one.md", text=BOTH, description="about")}


@pytest.mark.parametrize(
    ("earlier", "later", "code"),
    [
        (edit(ONE, "is\n"), edit(ONE), ConflictCode.BODY_OVERLAP),
        (describe(ONE, "one"), describe(ONE, "other"), ConflictCode.DESCRIPTION_BOTH_CHANGED),
        (rename(ONE, "x.md"), rename(ONE, "y.md"), ConflictCode.PATH_BOTH_RENAMED),
        (edit(ONE), delete(ONE), ConflictCode.DELETE_EDITED_UPSTREAM),
        (rename(ONE, "x.md"), delete(ONE), ConflictCode.DELETE_RENAMED_UPSTREAM),
        (delete(ONE), edit(ONE), ConflictCode.EDIT_DELETED_UPSTREAM),
        (delete(ONE), rename(ONE, "x.md"), ConflictCode.RENAME_DELETED_UPSTREAM),
    ],
)
def test_siblings_that_contradict_each_other_need_reconciliation_of_the_later_one(
    earlier: DraftOperation, later: DraftOperation, code: ConflictCode
) -> None:
    evaluation = judge([a_draft("first", earlier), a_draft("second", later)], {ONE: LINES_AT_ONE})
    assert only(evaluation).code == "reconciliation_required"
    assert only(evaluation).context == required("second", ONE)
    (conflict,) = conflicts(evaluation, "second")
    assert (conflict.code, conflict.other) == (code, Other(FIRST, ONE))
    assert conflict.resolutions


def test_the_other_side_is_the_sibling_that_changed_that_field_last_or_else_the_organization() -> None:
    base, current = {ONE: LINES_AT_ONE}, {ONE: a_state("one.md", text=LINES, description="theirs")}
    drafts = [
        a_draft("first", rename(ONE, "x.md"), base=THEN),
        a_draft("second", edit(ONE, "is\n")),
        a_draft("third", rename(ONE, "y.md"), describe(ONE, "ours"), edit(ONE), base=THEN),
    ]
    found = conflicts(judge(drafts, current, base=base), "third")
    assert {conflict.code: conflict.other.draft_id for conflict in found} == {
        ConflictCode.PATH_BOTH_RENAMED: FIRST,
        ConflictCode.BODY_OVERLAP: SECOND,
        ConflictCode.DESCRIPTION_BOTH_CHANGED: None,
    }
    removed = conflicts(judge([*drafts[:2], a_draft("third", delete(ONE))], current, base=base), "third")
    assert [(conflict.code, conflict.other.draft_id) for conflict in removed] == [
        (ConflictCode.DELETE_EDITED_UPSTREAM, SECOND)
    ]


def test_a_sibling_does_not_spare_a_draft_what_the_organization_changed() -> None:
    base, current = {ONE: LINES_AT_ONE}, {ONE: a_state("one.md", text=THEIRS)}
    drafts = [a_draft("first", edit(ONE, THEIRS), base=THEN), a_draft("second", describe(ONE, "about"), base=THEN)]
    evaluation = judge(drafts, current, base=base)
    assert only(evaluation).context == required("second", ONE)
    assert conflicts(evaluation, "second") == []


def test_a_change_upstream_that_reaches_a_sibling_only_through_an_earlier_draft_asks_the_earlier_one() -> None:
    base, current = {ONE: LINES_AT_ONE}, {ONE: a_state("one.md", text=THEIRS)}
    drafts = [a_draft("first", describe(ONE, "about"), base=THEN), a_draft("second", edit(ONE, BOTH))]
    evaluation = judge(drafts, current, base=base)
    assert only(evaluation).context == required("first", ONE)
    assert evaluation.final_states == {ONE: a_state("one.md", text=BOTH, description="about")}


STOOD_ON = a_state("x.md", text=LINES)
"""What the second Draft found when it was rebased onto the first."""


def test_a_draft_that_was_rebased_onto_a_sibling_starts_from_what_that_made() -> None:
    drafts = [a_draft("first", rename(ONE, "x.md")), a_draft("second", edit(ONE), overlay={ONE: STOOD_ON})]
    evaluation = judge(drafts, {ONE: LINES_AT_ONE})
    assert evaluation.blockers == []
    assert compared(evaluation, SECOND).base == STOOD_ON
    assert evaluation.final_states == {ONE: a_state("x.md", text="edited\n")}


def test_what_such_a_sibling_changes_later_needs_confirmation_though_it_is_clean() -> None:
    drafts = [
        a_draft("first", rename(ONE, "x.md"), describe(ONE, "about")),
        a_draft("second", edit(ONE), overlay={ONE: STOOD_ON}),
    ]
    evaluation = judge(drafts, {ONE: LINES_AT_ONE})
    assert only(evaluation).context == required("second", ONE)
    assert compared(evaluation, SECOND).proposed == a_state("x.md", text="edited\n", description="about")
    assert conflicts(evaluation, "second") == []


def test_without_such_a_sibling_a_draft_is_compared_with_current() -> None:
    evaluation = judge([a_draft("second", edit(ONE), overlay={ONE: STOOD_ON})], {ONE: LINES_AT_ONE})
    assert only(evaluation).context == required("second", ONE)
    assert compared(evaluation, SECOND).proposed == a_state("one.md", text="edited\n")


def test_a_sibling_that_was_published_as_it_was_stood_on_asks_nobody() -> None:
    drafts = [a_draft("second", edit(ONE), base=THEN, overlay={ONE: STOOD_ON})]
    assert judge(drafts, {ONE: STOOD_ON}, base={ONE: LINES_AT_ONE}).blockers == []


def test_what_a_sibling_creates_may_be_stood_on_but_not_be_missing() -> None:
    overlay = {NEW: a_state("new.md", text="new\n")}
    drafts = [a_draft("first", create(NEW, "new.md")), a_draft("second", edit(NEW), overlay=overlay)]
    assert judge(drafts, {}).blockers == []
    assert codes(judge(drafts[1:], {})) == ["target_missing"]


def test_what_is_confirmed_is_held_once_in_order_against_what_the_drafts_before_come_to() -> None:
    def said(description: str) -> State:
        return a_state("one.md", description=description)

    drafts = [a_draft(name, describe(ONE, name), base=THEN) for name in (FIRST, SECOND, THIRD)]
    confirmed = {name: {ONE: said(f"{name}, chosen")} for name in (FIRST, SECOND, THIRD)}
    asked: list[tuple[DraftId, State]] = []

    def fits(draft_id: DraftId, met: Mapping[MemoryId, State]) -> bool:
        asked.append((draft_id, met[ONE]))
        return draft_id != SECOND

    base, current = {ONE: a_state("one.md", description="was")}, {ONE: a_state("one.md", description="is")}
    evaluation = judge(drafts, current, base=base, confirmed=confirmed, fits=fits)
    assert asked == [(FIRST, said("is")), (SECOND, said("first, chosen")), (THIRD, said("second"))]
    assert (evaluation.outrun, evaluation.needs_reconciliation) == ([SECOND], {SECOND})
    assert evaluation.states == {ONE: said("third, chosen")}


def test_before_it_is_submitted_a_draft_may_build_on_what_another_one_creates() -> None:
    drafts = [a_draft("second", edit(NEW))]
    evaluation = judge(drafts, {}, elsewhere={NEW: a_state("new.md", text="new\n")})
    assert evaluation.blockers == []
    assert keeps_its_result(evaluation.reconciliations[SECOND])


def test_deleting_what_current_deleted_has_converged_and_is_empty() -> None:
    base = {ONE: a_state("one.md")}
    for operations in ([delete(ONE)], [edit(ONE), rename(ONE, "x.md"), delete(ONE)]):
        for at_the_base in (base, {}):
            evaluation = judge([a_draft("first", *operations, base=THEN)], {}, base=at_the_base)
            assert evaluation.blockers == []
            assert evaluation.final_states == {ONE: None}
            assert [problem.context for problem in evaluation.empty] == [{"draft_id": "first"}]


def test_a_draft_whose_changes_have_all_converged_is_empty_and_needs_nobody() -> None:
    base, current = {ONE: LINES_AT_ONE}, {ONE: a_state("x.md", text="edited\n")}
    evaluation = judge([a_draft("first", edit(ONE), rename(ONE, "x.md"), base=THEN)], current, base=base)
    assert (evaluation.blockers, len(evaluation.empty)) == ([], 1)


PROJECT = ProjectId("prj_1")


def test_a_restore_brings_the_id_back_selected_for_the_project() -> None:
    evaluation = judge([a_draft("first", restore(ONE, "one.md"))], {})
    assert evaluation.blockers == []
    assert evaluation.created == {ONE}
    assert not evaluation.creates(ONE)
    assert evaluation.result_hash(PROJECT) == result_hash({ONE: a_state("one.md")}, PROJECT, {ONE})


def test_a_memory_that_a_review_restores_is_selected_for_its_later_drafts_too() -> None:
    drafts = [a_draft("first", restore(ONE, "one.md")), a_draft("second", edit(ONE), overlay={ONE: a_state("one.md")})]
    assert judge(drafts, {}).blockers == []


def test_what_is_restored_and_deleted_again_is_nothing() -> None:
    evaluation = judge([a_draft("first", restore(ONE, "one.md"), delete(ONE))], {})
    assert (evaluation.created, evaluation.final_states) == (set(), {ONE: None})
    assert len(evaluation.empty) == 1


def test_a_restore_of_what_current_restored_is_compared_field_by_field() -> None:
    drafts = [a_draft("first", restore(ONE, "one.md"), base=THEN)]
    assert judge(drafts, {ONE: a_state("one.md")}, base={}).blockers == []
    evaluation = judge(drafts, {ONE: a_state("x.md")}, base={})
    assert [conflict.code for conflict in conflicts(evaluation, "first")] == [ConflictCode.PATH_BOTH_RENAMED]


def test_a_restore_whose_base_moved_over_the_same_restore_still_holds() -> None:
    evaluation = judge([a_draft("first", restore(ONE, "one.md"), rename(ONE, "x.md"))], {ONE: a_state("x.md")})
    assert (evaluation.blockers, len(evaluation.empty)) == ([], 1)


def test_texts_are_read_only_where_three_bodies_differ() -> None:
    unreadable = {ONE: a_state("one.md", text="never read\n"), TWO: a_state("two.md", text="nor this\n")}
    drafts = [
        a_draft("first", edit(ONE), delete(TWO), base=THEN),
        a_draft("second", describe(ONE, "about"), create(NEW, "new.md")),
    ]
    assert judge(drafts, unreadable).blockers == []
