from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import DraftId, MemoryId
from models.rules.bodies import MAX_BODY_BYTES
from models.rules.conflicts import (
    Comparison,
    Conflict,
    ConflictCode,
    ContestedField,
    Other,
    Reconciliation,
)
from models.rules.hashes import body_of
from models.rules.occupancy import collisions_with, collisions_within
from models.rules.resolutions import offer_resolutions
from models.rules.states import MemoryState, State
from models.rules.three_way import three_way
from tests.unit.rules.examples import a_few, a_state, free_beside

M, ANOTHER = MemoryId("mem_1"), MemoryId("mem_2")
BASE = a_state("base.md", description="base", text="one\n\ntwo\n\nthree\n")
Sides = tuple[State, State, State]
TEXTS = {
    body_of(text).blob_id: text
    for text in (
        "one\n\ntwo\n\nthree\n",
        "text\n",
        "ONE\n\ntwo\n\nthree\n",
        "1\n\ntwo\n\nTHREE\n",
        "one\n",
    )
}


def edited(text: str, state: MemoryState = BASE) -> MemoryState:
    TEXTS[body_of(text).blob_id] = text
    return replace(state, body=body_of(text))


def reconcile(
    memories: Mapping[MemoryId, Sides],
    *,
    taken: Collection[MemoryId] = (),
    code: ConflictCode = ConflictCode.PATH_OCCUPIED,
) -> Reconciliation:
    """The comparisons of one Draft; those `taken` stand at another Memory's path besides."""
    reconciliation = Reconciliation(DraftId("drf_1"))
    for memory_id, (base, current, draft) in memories.items():
        merged = three_way(memory_id, base=base, current=current, draft=draft, read=TEXTS.__getitem__)
        reconciliation.comparisons.append(Comparison(memory_id, base, current, draft, merged.proposed, merged.merge))
        reconciliation.conflicts += merged.conflicts
        if memory_id in taken:
            reconciliation.conflicts.append(
                Conflict(
                    code, memory_id, ContestedField.PATH, base, current, draft, Other(None, MemoryId("mem_occupant"))
                )
            )
    return reconciliation


def final_states(reconciliation: Reconciliation) -> dict[MemoryId, State]:
    """What it comes to: as proposed, or, where it is contested, the Draft's own states."""
    contested = {conflict.memory_id for conflict in reconciliation.conflicts}
    return {
        comparison.memory_id: comparison.draft if comparison.memory_id in contested else comparison.proposed
        for comparison in reconciliation.comparisons
    }


def offered(
    memories: Mapping[MemoryId, Sides],
    *,
    current: Collection[str] = (),
    taken: Collection[MemoryId] = (),
    final: Mapping[MemoryId, State] | None = None,
) -> list[dict[str, State]]:
    """By conflict, its resolutions' states by name; `current` has paths of Memories that the Review does not touch."""
    reconciliation = reconcile(memories, taken=taken)
    standing = {MemoryId(f"mem_c{number}"): path for number, path in enumerate(current)}
    offer_resolutions(
        [reconciliation],
        final=final_states(reconciliation) | dict(final or {}),
        free_among=free_beside(standing),
        read=TEXTS.__getitem__,
        texts=TEXTS,
    )
    return [
        {resolution.name: resolution.state for resolution in conflict.resolutions}
        for conflict in reconciliation.conflicts
    ]


def the_only(conflicts: list[dict[str, State]]) -> dict[str, State]:
    (resolutions,) = conflicts
    return resolutions


def test_overlapping_bodies_offer_each_side_and_both_in_either_order() -> None:
    theirs, ours = "ONE\n\ntwo\n\nthree\n", "1\n\ntwo\n\nTHREE\n"
    resolutions = the_only(offered({M: (BASE, edited(theirs), edited(ours))}))
    assert {name: TEXTS[state.body.blob_id] for name, state in resolutions.items() if state} == {
        "keep_current": "ONE\n\ntwo\n\nTHREE\n",
        "keep_draft": ours,
        "both_current_first": "ONE\n1\n\ntwo\n\nTHREE\n",
        "both_draft_first": "1\nONE\n\ntwo\n\nTHREE\n",
    }


def test_both_bodies_are_not_offered_where_they_would_be_too_long() -> None:
    half = "x" * (MAX_BODY_BYTES // 2) + "\n"
    resolutions = the_only(offered({M: (BASE, edited("a" + half), edited("b" + half))}))
    assert list(resolutions) == ["keep_current", "keep_draft"]


def test_what_was_merged_cleanly_stays_merged_whichever_side_is_kept() -> None:
    current = replace(BASE, description="theirs", path="moved.md")
    draft = edited("ours\n", replace(BASE, description="ours"))
    assert the_only(offered({M: (BASE, current, draft)})) == {
        "keep_current": replace(draft, path="moved.md", description="theirs"),
        "keep_draft": replace(draft, path="moved.md"),
    }


def test_every_record_of_a_memory_settles_all_of_them_by_one_side() -> None:
    current, draft = a_state("theirs.md", description="theirs"), a_state("ours.md", description="ours")
    for resolutions in offered({M: (BASE, current, draft)}):
        assert resolutions == {"keep_current": current, "keep_draft": draft}


@pytest.mark.parametrize("draft", [edited("ours\n"), replace(BASE, path="ours.md")])
def test_against_a_delete_a_change_is_dropped_or_restored(draft: MemoryState) -> None:
    assert the_only(offered({M: (BASE, None, draft)})) == {"drop": None, "restore": draft}


@pytest.mark.parametrize("occupied", [["base.md"], ["BASE.md"], ["base.md/inside.md"]])
def test_a_restore_goes_to_the_next_free_path_where_its_own_has_been_taken(occupied: list[str]) -> None:
    resolutions = the_only(offered({M: (BASE, None, edited("ours\n"))}, current=occupied))
    assert resolutions["restore"] == edited("ours\n", replace(BASE, path="base-2.md"))


@pytest.mark.parametrize("current", [edited("theirs\n"), replace(BASE, path="theirs.md")])
def test_a_delete_is_given_up_or_done_anyway(current: MemoryState) -> None:
    assert the_only(offered({M: (BASE, current, None)})) == {"keep_current": current, "delete": None}


def test_what_is_kept_moves_where_the_review_has_taken_its_path() -> None:
    current = edited("theirs\n")
    resolutions = the_only(offered({M: (BASE, current, None)}, final={ANOTHER: BASE}))
    assert resolutions == {"move": replace(current, path="base-2.md"), "delete": None}


def test_a_rename_to_a_taken_path_stays_or_moves_with_its_texts() -> None:
    current = replace(BASE, description="theirs")
    draft = edited("ours\n", replace(BASE, path="taken.md"))
    resolutions = the_only(offered({M: (BASE, current, draft)}, taken=[M], current=["taken.md"]))
    merged = replace(draft, description="theirs")
    assert resolutions == {
        "keep_current": replace(merged, path="base.md"),
        "move": replace(merged, path="taken-2.md"),
    }


def test_a_create_at_a_taken_path_is_dropped_or_moves() -> None:
    draft = a_state("taken.md")
    resolutions = the_only(offered({M: (None, None, draft)}, taken=[M], current=["taken.md", "taken-2.md"]))
    assert resolutions == {"drop": None, "move": a_state("taken-3.md")}


def test_two_at_one_taken_path_move_apart() -> None:
    one, other = offered(
        {M: (None, None, a_state("taken.md")), ANOTHER: (None, None, a_state("taken.md"))},
        taken=[M, ANOTHER],
        current=["taken.md"],
    )
    assert (one["move"], other["move"]) == (a_state("taken-2.md"), a_state("taken-3.md"))


fields = (
    st.sampled_from(["a.md", "b.md", "A.md", "a.md/b"]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["one\n", "text\n"]),
)
states = st.none() | st.builds(
    lambda path, description, text: a_state(path, description=description, text=text), *fields
)


@a_few
@given(
    sides=st.lists(st.tuples(states, states, states), min_size=1, max_size=3),
    current=st.sets(st.sampled_from(["a.md", "b.md", "a-2.md", "c/d.md"]), max_size=3),
)
def test_no_choice_of_resolutions_makes_two_memories_collide(sides: list[Sides], current: set[str]) -> None:
    memories = {MemoryId(f"mem_{number}"): each for number, each in enumerate(sides)}
    there = {memory_id: now for memory_id, (_, now, _) in memories.items()}
    standing = {
        MemoryId(f"mem_c{number}"): path
        for number, path in enumerate(sorted(current))
        if not collisions_with(there, {MemoryId("mem_c"): path})
    }
    final = final_states(reconcile(memories))
    taken = {
        memory_id
        for collision in [*collisions_within(final), *collisions_with(final, standing)]
        for memory_id in collision.occupants
        if memory_id in final
    }
    reconciliation = reconcile(memories, taken=taken)
    offer_resolutions(
        [reconciliation],
        final=final,
        free_among=free_beside(standing),
        read=TEXTS.__getitem__,
        texts=TEXTS,
    )
    choices: dict[MemoryId, list[State]] = {}
    for conflict in reconciliation.conflicts:
        assert conflict.resolutions
        for resolution in conflict.resolutions:
            choices.setdefault(conflict.memory_id, []).append(resolution.state)
    settled = {comparison.memory_id: [comparison.proposed] for comparison in reconciliation.comparisons} | choices
    for chosen in product(*settled.values()):
        result = dict(zip(settled, chosen, strict=True))
        assert collisions_within(result) == []
        assert collisions_with(result, standing) == []
