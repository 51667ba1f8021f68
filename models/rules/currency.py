"""Currency: whether a Draft that fell behind still means the same (publication.md §3, "One rule")."""

from collections.abc import Mapping

from models.identifiers import MemoryId
from models.rules.states import Body, MemoryState, State


def keeps_result(
    *,
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, State],
    current: Mapping[MemoryId, State],
) -> set[MemoryId]:
    """The touched Memories whose final state would not stay equal on Current; empty if the Draft keeps its result.

    Whether a path of the result has been taken meanwhile is `occupancy`'s question.

    Args:
        states: the Draft's result, for every Memory it touches.
        base: where the Draft started from; an id that is missing does not exist there.
        current: the same now.
    """
    return {
        memory_id
        for memory_id, draft in states.items()
        if not _stays_equal(draft=draft, base=base.get(memory_id), current=current.get(memory_id))
    }


def _stays_equal(*, draft: State, base: State, current: State) -> bool:
    if current in (base, draft):
        return True
    if draft is None or base is None or current is None:
        return False
    return all(now in (before, ours) for before, now, ours in zip(*map(_fields, (base, current, draft)), strict=True))


def _fields(state: MemoryState) -> tuple[str, str, Body]:
    return state.path, state.description, state.body
