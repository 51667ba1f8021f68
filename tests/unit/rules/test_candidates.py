"""What a candidate is bound to: an equal tuple gives the same one (publication.md §3)."""

from dataclasses import replace

import pytest

from models.identifiers import CommitId, DraftId, MemoryId
from models.rules.candidates import MadeFor, Sibling, binding_of, candidate_id_of, in_order_among
from models.rules.hashes import body_of
from models.rules.states import MemoryState

A, B = MemoryId("mem_a"), MemoryId("mem_b")
DRAFT = DraftId("drf_1")
STATE = MemoryState("a.md", "", body_of("text\n"))
FIRST, SECOND, THIRD = (Sibling(DraftId(f"drf_{number}"), number) for number in range(3))
MADE_FOR = MadeFor(
    draft_version=3,
    base_commit_id=CommitId("base"),
    base_version=1,
    current_commit_id=CommitId("current"),
    current_version=2,
    siblings=(FIRST,),
)


def test_equal_tuples_have_equal_bindings_in_whatever_order_the_memories_come() -> None:
    assert binding_of(MADE_FOR, {A: STATE, B: None}, []) == binding_of(replace(MADE_FOR), {B: None, A: STATE}, [])


@pytest.mark.parametrize(
    "moved",
    [
        replace(MADE_FOR, draft_version=4),
        replace(MADE_FOR, base_commit_id=None),
        replace(MADE_FOR, base_version=2),
        replace(MADE_FOR, current_commit_id=CommitId("later")),
        replace(MADE_FOR, current_version=3),
        replace(MADE_FOR, siblings=()),
        replace(MADE_FOR, siblings=(Sibling(FIRST.draft_id, 9),)),
        replace(MADE_FOR, built_on=(SECOND,)),
        replace(MADE_FOR, siblings=(), built_on=(FIRST,)),
    ],
)
def test_whatever_moves_is_another_binding(moved: MadeFor) -> None:
    assert binding_of(moved, {A: STATE}, []) != binding_of(MADE_FOR, {A: STATE}, [])


@pytest.mark.parametrize(
    "current",
    [
        {},
        {A: None},
        {B: STATE},
        {A: replace(STATE, path="b.md")},
        {A: replace(STATE, description="said")},
        {A: replace(STATE, body=body_of("other\n"))},
    ],
)
def test_another_state_of_what_plays_current_is_another_binding(current: dict[MemoryId, MemoryState | None]) -> None:
    assert binding_of(MADE_FOR, current, []) != binding_of(MADE_FOR, {A: STATE}, [])


def test_other_conflicts_are_another_binding() -> None:
    found = [binding_of(MADE_FOR, {A: STATE}, conflicts) for conflicts in ([], [{"code": "a"}], [{"code": "b"}])]
    assert len(set(found)) == 3


def test_a_candidate_is_named_by_its_draft_and_binding() -> None:
    name = candidate_id_of(DRAFT, "binding")
    assert name.startswith("cnd_")
    assert candidate_id_of(DRAFT, "binding") == name
    assert name not in (candidate_id_of(DRAFT, "other"), candidate_id_of(DraftId("drf_2"), "binding"))


@pytest.mark.parametrize(
    ("siblings", "before", "holds"),
    [
        ((), (FIRST,), True),
        ((FIRST,), (FIRST, SECOND), True),
        ((FIRST, THIRD), (FIRST, SECOND, THIRD), True),
        ((FIRST,), (), False),
        ((SECOND, FIRST), (FIRST, SECOND), False),
        ((FIRST,), (Sibling(FIRST.draft_id, 9),), False),
    ],
)
def test_the_drafts_it_was_made_after_stand_before_it_in_their_order(
    siblings: tuple[Sibling, ...], before: tuple[Sibling, ...], *, holds: bool
) -> None:
    assert in_order_among(siblings, before) == holds
