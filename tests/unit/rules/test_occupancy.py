from collections.abc import Mapping
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import MemoryId
from models.rules.folding import Action, DraftOperation
from models.rules.occupancy import Collision, collisions_with, collisions_within, in_the_way, probe_keys
from models.rules.paths import ancestor_keys, path_key
from models.rules.states import MemoryState, State
from tests.unit.rules.examples import a_state, fold, many

Pair = frozenset[MemoryId]


def an_id(number: int) -> MemoryId:
    return MemoryId(f"mem_{number}")


def standing(*paths: str | None) -> dict[MemoryId, State]:
    return {an_id(number): None if path is None else a_state(path) for number, path in enumerate(paths)}


def after_renames(base: Mapping[MemoryId, MemoryState], *moves: tuple[MemoryId, str]) -> dict[MemoryId, State]:
    return fold([DraftOperation(Action.RENAME, memory_id, new_path=path) for memory_id, path in moves], base)


def cannot_coexist(one: str, other: str) -> bool:
    ours, theirs = path_key(one), path_key(other)
    return ours == theirs or ours in ancestor_keys(theirs) or theirs in ancestor_keys(ours)


def pairs_by_brute_force(paths: Mapping[MemoryId, str]) -> set[Pair]:
    return {frozenset(pair) for pair in combinations(paths, 2) if cannot_coexist(*(paths[each] for each in pair))}


def connected(pairs: set[Pair]) -> set[Pair]:
    """Who collides with whom, directly or over others."""
    groups: set[Pair] = set()
    for pair in pairs:
        touching = {group for group in groups if group & pair}
        groups = (groups - touching) | {pair.union(*touching)}
    return groups


def pairs_of(found: list[Collision[MemoryId]]) -> set[Pair]:
    return {frozenset(collision.occupants) for collision in found}


def paths_of(states: Mapping[MemoryId, State]) -> dict[MemoryId, str]:
    return {memory_id: state.path for memory_id, state in states.items() if state is not None}


def crowded_paths() -> st.SearchStrategy[str]:
    segments = st.sampled_from(["a", "A", "b", "a b", "a-b", "a.b", "é", "e\u0301", "ß", "ss"])
    return st.lists(segments, min_size=1, max_size=3).map("/".join)


def crowded_states() -> st.SearchStrategy[dict[MemoryId, State]]:
    return st.lists(st.none() | crowded_paths(), max_size=8).map(lambda paths: standing(*paths))


@given(crowded_states())
@many
def test_every_collision_reported_is_one_and_nothing_that_collides_is_left_out(states: dict[MemoryId, State]) -> None:
    expected = pairs_by_brute_force(paths_of(states))
    found = collisions_within(states)
    assert pairs_of(found) <= expected
    assert connected(pairs_of(found)) == connected(expected)
    assert len(found) < max(len(states), 1)


@given(crowded_states(), st.lists(crowded_paths(), max_size=8))
@many
def test_every_collision_with_current_is_found_when_neither_side_collides_within_itself(
    states: dict[MemoryId, State], occupied: list[str]
) -> None:
    ours, theirs = without_collisions(paths_of(states)), without_collisions(numbered_from(100, occupied))
    expected = {(one, other) for one in ours for other in theirs if cannot_coexist(ours[one], theirs[other])}
    found = collisions_with({memory_id: states[memory_id] for memory_id in ours}, theirs)
    assert {collision.occupants for collision in found} == expected
    assert len(found) == len(expected)


@given(crowded_states(), st.lists(crowded_paths(), max_size=8))
@many
def test_a_collision_with_current_is_found_whatever_else_collides(
    states: dict[MemoryId, State], occupied: list[str]
) -> None:
    ours, theirs = paths_of(states), numbered_from(100, occupied)
    expected = {(one, other) for one in ours for other in theirs if cannot_coexist(ours[one], theirs[other])}
    found = {collision.occupants for collision in collisions_with(states, theirs)}
    assert found <= expected
    assert bool(found) is bool(expected)


def numbered_from(first: int, paths: list[str]) -> dict[MemoryId, str]:
    return {an_id(number): path for number, path in enumerate(paths, start=first)}


def without_collisions(paths: Mapping[MemoryId, str]) -> dict[MemoryId, str]:
    kept: dict[MemoryId, str] = {}
    for memory_id, path in paths.items():
        if not any(cannot_coexist(path, other) for other in kept.values()):
            kept[memory_id] = path
    return kept


@given(st.integers(2, 5), st.data())
@many
def test_any_permutation_of_paths_among_their_memories_is_free_of_collisions(size: int, data: st.DataObject) -> None:
    paths = [f"folder/{number}.md" for number in range(size)]
    base = {an_id(number): a_state(path) for number, path in enumerate(paths)}
    target = data.draw(st.sampled_from(list(permutations(paths))))
    order = data.draw(st.permutations(range(size)))
    moved = after_renames(base, *((an_id(number), target[number]) for number in order))
    assert collisions_within(moved) == []
    assert collisions_with(moved, paths_of(dict(base))) == []


def test_a_swap_is_free_of_collisions() -> None:
    base = {an_id(1): a_state("a"), an_id(2): a_state("b")}
    assert collisions_within(after_renames(base, (an_id(1), "b"), (an_id(2), "a"))) == []


@pytest.mark.parametrize("moves", list(permutations([(an_id(1), "b"), (an_id(2), "c"), (an_id(3), "d")])))
def test_a_chain_is_free_of_collisions_in_every_order(moves: list[tuple[MemoryId, str]]) -> None:
    base = {an_id(1): a_state("a"), an_id(2): a_state("b"), an_id(3): a_state("c")}
    moved = after_renames(base, *moves)
    assert collisions_within(moved) == []
    assert collisions_with(moved, {an_id(1): "a", an_id(2): "b", an_id(3): "c"}) == []


def test_a_path_freed_by_a_delete_may_be_taken() -> None:
    states = {an_id(1): None, an_id(2): a_state("a")}
    assert collisions_within(states) == []
    assert collisions_with(states, {an_id(1): "a"}) == []


def test_a_file_may_take_the_place_of_a_folder_that_is_emptied() -> None:
    states = {an_id(1): a_state("b/inside"), an_id(2): a_state("a")}
    assert collisions_with(states, {an_id(1): "a/inside"}) == []


def test_a_change_of_case_of_one_memory_is_free() -> None:
    assert collisions_with({an_id(1): a_state("A.md")}, {an_id(1): "a.md"}) == []


def test_two_memories_at_one_path_collide() -> None:
    assert collisions_within(standing("a", "a")) == [Collision("a", "a", (an_id(0), an_id(1)))]


def test_two_spellings_of_one_key_collide_and_both_are_named() -> None:
    assert collisions_within(standing("Straße", "STRASSE")) == [
        Collision("Straße", "STRASSE", (an_id(0), an_id(1))),
    ]


def test_a_file_collides_with_its_folder_whatever_its_case() -> None:
    assert collisions_within(standing("A/b/c", "a")) == [Collision("a", "A/b/c", (an_id(1), an_id(0)))]


@pytest.mark.parametrize("neighbour", ["a b", "a-b", "a.b", "a!", "ab", "A0"])
def test_a_name_that_only_begins_like_a_folder_does_not_hide_a_collision(neighbour: str) -> None:
    assert pairs_of(collisions_within(standing("a", neighbour, "a/c"))) == {frozenset({an_id(0), an_id(2)})}


def test_memories_in_one_folder_do_not_collide() -> None:
    assert collisions_within(standing("a/b", "a/c", "A/d", "a/b2/e")) == []


def test_a_deleted_memory_collides_with_nobody() -> None:
    assert collisions_within(standing("a", None)) == []


def test_an_occupant_at_above_or_under_a_proposed_path_collides() -> None:
    states = {an_id(1): a_state("x"), an_id(2): a_state("folder/y"), an_id(3): a_state("file")}
    occupants = {an_id(7): "X", an_id(8): "folder", an_id(9): "file/z", an_id(10): "free"}
    assert collisions_with(states, occupants) == [
        Collision("file", "file/z", (an_id(3), an_id(9))),
        Collision("folder/y", "folder", (an_id(2), an_id(8))),
        Collision("x", "X", (an_id(1), an_id(7))),
    ]


def test_the_keys_to_look_up_are_those_of_what_exists_each_once() -> None:
    assert probe_keys(standing("B/Straße", "a", "A", None)) == ("a", "b/strasse")


def test_a_hundred_thousand_memories_at_one_path_are_reported_once_each() -> None:
    crowd = standing(*["same"] * 100_000)
    assert len(collisions_within(crowd)) == 99_999


def test_in_the_way_is_all_that_stands_there_above_and_below_whatever_else_is_asked_about() -> None:
    standing = numbered_from(0, ["a", "B/c", "b/c2", "b/d/e", "b!"])
    assert in_the_way(["A", "a/x/y", "b", "b/c", "b/d", "z"], standing) == {
        "a": [an_id(0)],
        "a/x/y": [an_id(0)],
        "b": [an_id(1), an_id(2), an_id(3)],
        "b/c": [an_id(1)],
        "b/d": [an_id(3)],
        "z": [],
    }


def test_a_hundred_thousand_memories_beside_each_other_are_checked_at_once() -> None:
    apart = standing(*(f"folder {number % 300}/sub/{number}.md" for number in range(100_000)))
    occupants = numbered_from(200_000, [f"folder {number % 300}/sub/{number}.txt" for number in range(100_000)])
    assert collisions_within(apart) == []
    assert collisions_with(apart, occupants) == []
