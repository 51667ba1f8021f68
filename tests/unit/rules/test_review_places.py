from collections.abc import Sequence

import pytest

from models.identifiers import DraftId, MemoryId, final_id
from models.rules.conflicts import ConflictCode, ContestedField, Other
from models.rules.evaluation import ProposedDraft
from models.rules.folding import DraftOperation
from tests.unit.rules.examples import a_state
from tests.unit.rules.reviews import (
    NEW,
    NEWER,
    NOW,
    ONE,
    THEN,
    THREE,
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
)

FIRST, SECOND = DraftId("first"), DraftId("second")


def test_a_path_that_current_freed_does_not_ask() -> None:
    base = {ONE: a_state("one.md")}
    assert judge([a_draft("first", create(NEW, "one.md"), base=THEN)], {}, base=base).blockers == []


@pytest.mark.parametrize("taken", ["a.md", "A.MD", "a.md/inside.md"])
@pytest.mark.parametrize("base", [NOW, THEN])
def test_a_path_occupied_by_an_unchanged_memory_is_a_collision(taken: str, base: int) -> None:
    evaluation = judge([a_draft("first", create(NEW, "a.md"), base=base)], {ONE: a_state(taken)})
    assert only(evaluation).code == "path_collision"
    assert only(evaluation).context == {
        "draft_id": "first",
        "paths": ["a.md", taken],
        "memory_ids": [final_id(NEW), ONE],
    }
    assert conflicts(evaluation, "first") == []


@pytest.mark.parametrize(
    ("taken", "code"),
    [
        ("a.md", ConflictCode.PATH_BOTH_CREATED),
        ("A.MD", ConflictCode.PATH_BOTH_CREATED),
        ("a.md/inside.md", ConflictCode.PATH_OCCUPIED),
    ],
)
def test_a_path_taken_since_the_base_is_a_conflict(taken: str, code: ConflictCode) -> None:
    evaluation = judge([a_draft("first", create(NEW, "a.md"), base=THEN)], {ONE: a_state(taken)}, base={})
    assert only(evaluation).code == "reconciliation_required"
    assert only(evaluation).context == {"draft_id": "first", "memory_id": NEW, "candidates": []}
    (conflict,) = conflicts(evaluation, "first")
    assert (conflict.code, conflict.paths, conflict.other) == (code, ("a.md", taken), Other(None, ONE))
    assert (conflict.base, conflict.current, conflict.draft) == (None, None, a_state("a.md", text="new\n"))


@pytest.mark.parametrize(("text", "identical"), [("new\n", True), ("text\n", False)])
def test_two_new_memories_at_one_path_tell_whether_their_texts_are_equal(text: str, *, identical: bool) -> None:
    upstream = judge([a_draft("first", create(NEW, "a.md"), base=THEN)], {ONE: a_state("a.md", text=text)}, base={})
    siblings = judge([a_draft("first", create(NEW, "a.md", text)), a_draft("second", create(NEWER, "a.md"))], {})
    for evaluation, draft in ((upstream, "first"), (siblings, "second")):
        (conflict,) = conflicts(evaluation, draft)
        assert (conflict.code, conflict.identical) == (ConflictCode.PATH_BOTH_CREATED, identical)


def test_what_stood_elsewhere_at_the_base_or_is_no_create_is_an_occupied_path() -> None:
    current = {ONE: a_state("a.md"), TWO: a_state("two.md")}
    base = {ONE: a_state("was.md"), TWO: a_state("two.md")}
    for operation in (create(NEW, "a.md"), rename(TWO, "a.md")):
        (conflict,) = conflicts(judge([a_draft("first", operation, base=THEN)], current, base=base), "first")
        assert (conflict.code, conflict.identical) == (ConflictCode.PATH_OCCUPIED, None)


def test_a_collision_in_a_draft_that_needs_reconciliation_anyway_is_part_of_it() -> None:
    base = {ONE: a_state("one.md", text="was\n"), TWO: a_state("a.md")}
    current = {ONE: a_state("one.md", text="is\n"), TWO: a_state("a.md")}
    evaluation = judge([a_draft("first", rename(ONE, "x.md"), create(NEW, "a.md"), base=THEN)], current, base=base)
    assert codes(evaluation) == ["reconciliation_required"]
    (conflict,) = conflicts(evaluation, "first")
    assert (conflict.code, conflict.other) == (ConflictCode.PATH_OCCUPIED, Other(None, TWO))


def test_a_collision_in_a_draft_that_meets_a_sibling_is_part_of_its_reconciliation() -> None:
    third = MemoryId("prv_third")
    drafts = [
        a_draft("first", create(NEW, "a.md")),
        a_draft("second", create(third, "taken.md"), create(NEWER, "a.md")),
    ]
    evaluation = judge(drafts, {ONE: a_state("taken.md")})
    assert codes(evaluation) == ["reconciliation_required"]
    found = [(conflict.memory_id, conflict.other) for conflict in conflicts(evaluation, "second")]
    assert found == [(third, Other(None, ONE)), (NEWER, Other(FIRST, NEW))]


def test_a_folder_of_many_memories_in_the_way_is_one_blocker_and_names_one_that_is_new() -> None:
    current = {MemoryId(f"mem_{number}"): a_state(f"a/{number}.md") for number in range(9)}
    assert codes(judge([a_draft("first", create(NEW, "a"))], current)) == ["path_collision"]
    before = {memory_id: state for memory_id, state in current.items() if memory_id != "mem_7"}
    (conflict,) = conflicts(judge([a_draft("first", create(NEW, "a"), base=THEN)], current, base=before), "first")
    assert conflict.other.memory_id == "mem_7"


THIRD = MemoryId("prv_third")


@pytest.mark.parametrize("taken_by", ["current", "a sibling"])
@pytest.mark.parametrize(
    ("operations", "taken", "met"),
    [
        ([create(NEW, "a.md"), create(NEWER, "a.md")], "a.md", [NEW, NEWER]),
        ([create(NEW, "a.md"), create(NEWER, "A.md")], "a.md", [NEW, NEWER]),
        ([create(NEW, "a.md"), create(NEWER, "a.md"), create(THIRD, "a.md")], "a.md", [NEW, NEWER, THIRD]),
        ([rename(TWO, "a.md"), rename(THREE, "a.md")], "a.md", [TWO, THREE]),
        ([rename(TWO, "a.md"), create(NEW, "a.md")], "A.md", [TWO, NEW]),
        ([create(NEW, "t"), create(NEWER, "t/x")], "t", [NEW, NEWER]),
        ([create(NEW, "t/x"), create(NEWER, "t")], "t/x", [NEW, NEWER]),
        ([create(NEW, "t"), create(NEWER, "t")], "t/z", [NEW, NEWER]),
        ([create(NEW, "t"), create(NEWER, "t/x")], "t/z", [NEW]),
        ([create(NEW, "t/x"), create(NEWER, "t/y")], "t", [NEW, NEWER]),
    ],
)
def test_every_memory_that_cannot_stand_where_it_is_put_has_its_own_record_and_what_is_offered_settles_all(
    operations: Sequence[DraftOperation], taken: str, met: Sequence[MemoryId], taken_by: str
) -> None:
    base = {TWO: a_state("2.md"), THREE: a_state("3.md")}
    current, drafts = base, [a_draft("draft", *operations, base=THEN)]
    if taken_by == "current":
        current = {**base, ONE: a_state(taken)}
    else:
        drafts.insert(0, a_draft("before", create(MemoryId("prv_0"), taken)))
    evaluation = judge(drafts, current, base=base)
    assert codes(evaluation) == ["reconciliation_required"]
    found = conflicts(evaluation, "draft")
    assert [conflict.memory_id for conflict in found] == met
    assert all(conflict.field is ContestedField.PATH for conflict in found)
    for choice in (0, -1):
        chosen = {conflict.memory_id: conflict.resolutions[choice].state for conflict in found}
        settled = judge(drafts, current, base=base, confirmed={DraftId("draft"): chosen})
        assert settled.blockers == []


def test_states_that_were_to_resolve_conflicts_collide_with_each_other() -> None:
    draft = a_draft("first", create(NEW, "a.md"), create(NEWER, "a.md"), base=THEN)
    for paths in (("b.md", "b.md"), ("b.md", "B.md"), ("b.md", "b.md/c"), ("b.md", "a.md"), ("a.md", "a.md")):
        chosen = {memory_id: a_state(path) for memory_id, path in zip((NEW, NEWER), paths, strict=True)}
        evaluation = judge([draft], {ONE: a_state("a.md")}, base={}, confirmed={FIRST: chosen})
        assert set(codes(evaluation)) == {"path_collision"}
        assert evaluation.needs_reconciliation == set()


def test_where_nothing_else_stands_a_draft_that_needs_reconciliation_anyway_still_collides_with_itself() -> None:
    base, current = {ONE: a_state("one.md", text="was\n")}, {ONE: a_state("one.md", text="is\n")}
    draft = a_draft("first", edit(ONE), create(NEW, "a.md"), create(NEWER, "a.md"), base=THEN)
    evaluation = judge([draft], current, base=base)
    assert sorted(codes(evaluation)) == ["path_collision", "reconciliation_required"]
    assert [conflict.memory_id for conflict in conflicts(evaluation, "first")] == [ONE]


@pytest.mark.parametrize("ids", [("prv_1", "prv_2", "prv_3"), ("prv_1", "prv_3", "prv_2"), ("prv_3", "prv_1", "prv_2")])
def test_of_three_drafts_at_one_path_each_but_the_first_is_asked_whatever_their_ids(ids: Sequence[str]) -> None:
    drafts = [a_draft(str(number), create(MemoryId(each), "a.md")) for number, each in enumerate(ids)]
    evaluation = judge(drafts, {})
    assert evaluation.needs_reconciliation == {"1", "2"}
    for number in ("1", "2"):
        (conflict,) = conflicts(evaluation, number)
        assert conflict.other == Other(DraftId("0"), MemoryId(ids[0]))


def test_what_a_later_draft_was_to_leave_in_the_way_is_a_collision_of_what_was_chosen() -> None:
    base = {ONE: a_state("one.md")}
    drafts = [a_draft("first", create(NEW, "x.md"), base=THEN), a_draft("second", rename(ONE, "y.md"), base=THEN)]
    current = {ONE: a_state("x.md")}
    evaluation = judge(drafts, current, base=base, confirmed={SECOND: {ONE: a_state("x.md")}})
    assert set(codes(evaluation)) == {"path_collision"}


def test_two_memories_of_one_draft_at_one_path_collide() -> None:
    problem = only(judge([a_draft("first", create(NEW, "a.md"), create(NEWER, "A.md"))], {}))
    assert problem.code == "path_collision"
    assert problem.context["draft_id"] == "first"


@pytest.mark.parametrize("paths", [("a.md", "A.md"), ("b", "b/c"), ("b/c", "b"), ("z.md", "z.md")])
def test_two_drafts_that_meet_at_a_path_need_reconciliation_of_the_later_one(paths: tuple[str, str]) -> None:
    evaluation = judge([a_draft("first", create(NEW, paths[0])), a_draft("second", create(NEWER, paths[1]))], {})
    assert only(evaluation).code == "reconciliation_required"
    assert only(evaluation).context == {"draft_id": "second", "memory_id": NEWER, "candidates": []}
    (conflict,) = conflicts(evaluation, "second")
    assert (conflict.other, conflict.paths) == (Other(FIRST, NEW), (paths[1], paths[0]))


def test_a_path_belongs_to_the_draft_that_moved_a_memory_there_last() -> None:
    beside_what_it_edits = [
        a_draft("first", create(NEW, "a.md")),
        a_draft("second", edit(NEW), create(NEWER, "a.md")),
    ]
    (conflict,) = conflicts(judge(beside_what_it_edits, {}), "second")
    assert (conflict.memory_id, conflict.other) == (NEWER, Other(FIRST, NEW))
    edited_later = [
        a_draft("first", create(NEW, "a.md"), create(NEWER, "a.md")),
        a_draft("second", edit(NEW), edit(NEWER)),
    ]
    problem = only(judge(edited_later, {}))
    assert (problem.code, problem.context["draft_id"]) == ("path_collision", "first")


def test_a_memory_that_a_draft_puts_back_where_current_has_it_is_placed_by_nobody() -> None:
    drafts = [a_draft("first", rename(ONE, "x.md")), a_draft("second", rename(ONE, "one.md"), create(NEW, "one.md"))]
    overlaid = ProposedDraft(SECOND, NOW, drafts[1].operations, {ONE: a_state("x.md")})
    (conflict,) = conflicts(judge([drafts[0], overlaid], {ONE: a_state("one.md")}), "second")
    assert (conflict.memory_id, conflict.other) == (NEW, Other(FIRST, ONE))


@pytest.mark.parametrize("way", [edit(ONE), describe(ONE, "about")])
def test_what_an_earlier_draft_edits_is_a_sibling_in_the_way_and_what_a_later_one_edits_is_current(
    way: DraftOperation,
) -> None:
    current = {ONE: a_state("one.md")}
    earlier = judge([a_draft("first", way), a_draft("second", create(NEW, "one.md"))], current)
    (conflict,) = conflicts(earlier, "second")
    assert (conflict.code, conflict.other) == (ConflictCode.PATH_OCCUPIED, Other(FIRST, ONE))
    later = only(judge([a_draft("first", create(NEW, "one.md")), a_draft("second", way)], current))
    assert (later.code, later.context["draft_id"]) == ("path_collision", "first")
    same = only(judge([a_draft("first", way, create(NEW, "one.md"))], current))
    assert (same.code, same.context["draft_id"]) == ("path_collision", "first")


def test_two_drafts_meet_also_where_a_memory_of_current_stands_between_them() -> None:
    drafts = [a_draft("first", create(NEW, "a")), a_draft("second", create(NEWER, "a/b"), edit(ONE))]
    evaluation = judge(drafts, {ONE: a_state("a/b")})
    assert codes(evaluation) == ["path_collision", "reconciliation_required"]
    found = [(conflict.memory_id, conflict.other) for conflict in conflicts(evaluation, "second")]
    assert found == [(NEWER, Other(FIRST, NEW)), (NEWER, Other(None, ONE))]


def test_a_memory_that_moved_in_and_is_edited_in_the_same_draft_is_a_conflict() -> None:
    base, current = {ONE: a_state("one.md")}, {ONE: a_state("moved.md")}
    evaluation = judge([a_draft("first", edit(ONE), create(NEW, "moved.md"), base=THEN)], current, base=base)
    (conflict,) = conflicts(evaluation, "first")
    assert (conflict.code, conflict.memory_id, conflict.other) == (ConflictCode.PATH_OCCUPIED, NEW, Other(None, ONE))


def test_a_memory_whose_existence_is_contested_is_in_nobodys_way_yet() -> None:
    base = {ONE: a_state("one.md")}
    drafts = [a_draft("first", edit(ONE), base=THEN), a_draft("second", create(NEW, "one.md"))]
    evaluation = judge(drafts, {}, base=base)
    assert [conflict.code for conflict in conflicts(evaluation, "first")] == [ConflictCode.EDIT_DELETED_UPSTREAM]
    assert conflicts(evaluation, "second") == []
    kept = {FIRST: {ONE: a_state("one.md", text="edited\n")}}
    assert len(conflicts(judge(drafts, {}, base=base, confirmed=kept), "second")) == 1


def test_a_state_that_was_to_resolve_a_conflict_collides_where_it_is_put() -> None:
    base = {ONE: a_state("one.md", text="was\n"), TWO: a_state("two.md")}
    current = {ONE: a_state("one.md", text="is\n"), TWO: a_state("two.md")}
    drafts = [a_draft("first", edit(ONE), base=THEN)]
    problem = only(judge(drafts, current, base=base, confirmed={FIRST: {ONE: a_state("two.md")}}))
    assert (problem.code, problem.context["draft_id"]) == ("path_collision", "first")
    beside = [a_draft("zero", create(NEW, "new.md")), *drafts]
    problem = only(judge(beside, current, base=base, confirmed={FIRST: {ONE: a_state("new.md")}}))
    assert (problem.code, problem.context["draft_id"]) == ("path_collision", "first")


def test_a_confirmed_state_elsewhere_settles_a_path() -> None:
    drafts = [a_draft("first", create(NEW, "a.md"), base=THEN)]
    for state in (None, a_state("b.md")):
        evaluation = judge(drafts, {ONE: a_state("a.md")}, base={}, confirmed={FIRST: {NEW: state}})
        assert evaluation.blockers == []
        assert evaluation.final_states == {final_id(NEW): state}


def test_no_offered_path_is_taken_by_current_or_by_the_review() -> None:
    drafts = [
        a_draft("first", create(NEWER, "a-2.md")),
        a_draft("second", create(NEW, "a.md"), base=THEN),
    ]
    evaluation = judge(drafts, {ONE: a_state("a.md"), TWO: a_state("A-3.md")}, base={TWO: a_state("A-3.md")})
    (conflict,) = conflicts(evaluation, "second")
    offered = {resolution.name: resolution.state for resolution in conflict.resolutions}
    assert offered == {"drop": None, "move": a_state("a-4.md", text="new\n")}


CYCLE = [rename(ONE, "2.md"), rename(TWO, "3.md"), rename(THREE, "1.md")]
CHAIN = [delete(ONE), rename(TWO, "1.md"), rename(THREE, "2.md"), create(NEW, "3.md")]


@pytest.mark.parametrize("operations", [CYCLE, CHAIN])
@pytest.mark.parametrize("base", [NOW, THEN])
def test_swaps_cycles_and_chains_within_and_across_drafts_are_clean(
    operations: Sequence[DraftOperation], base: int
) -> None:
    current = {ONE: a_state("1.md"), TWO: a_state("2.md"), THREE: a_state("3.md")}
    assert judge([a_draft("only", *operations, base=base)], current).blockers == []
    split = [a_draft(str(number), operation, base=base) for number, operation in enumerate(operations)]
    assert judge(split, current).blockers == []


def test_a_file_may_become_a_folder_in_one_review() -> None:
    drafts = [a_draft("first", rename(ONE, "a/index.md")), a_draft("second", create(NEW, "a/b.md"))]
    assert judge(drafts, {ONE: a_state("a")}).blockers == []
