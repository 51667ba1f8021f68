"""Folding: the ordered operations of a Draft become the final state of every Memory they name (publication.md §2)."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from models.errors import DuplicateId, TargetMissing
from models.identifiers import MemoryId
from models.rules.states import Body, MemoryState, State


class Action(StrEnum):
    """What an operation does to its Memory."""

    CREATE = "create"
    UPDATE = "update"
    RENAME = "rename"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class DraftOperation:
    """One accepted operation: its target resolved to an id, its path and texts already normalized.

    `create` carries `path`, `body` and perhaps `description`; `update` carries `body`, `description` or both;
    `rename` carries `new_path`; `delete` carries nothing.
    """

    action: Action
    memory_id: MemoryId
    path: str | None = None
    new_path: str | None = None
    body: Body | None = None
    description: str | None = None


def fold(operations: Sequence[DraftOperation], base: Mapping[MemoryId, MemoryState]) -> dict[MemoryId, State]:
    """The final state of every Memory the operations name, in the order they are first named.

    Args:
        operations: in their order, which is part of their meaning.
        base: what was active at the Draft's base and, in a Review, what earlier Drafts made.

    Raises:
        TargetMissing: an operation's target does not exist at that point (`index`, `memory_id`).
        DuplicateId: a create names an id that is known already (`index`, `memory_id`).
    """
    states: dict[MemoryId, State] = {}
    for index, operation in enumerate(operations):
        apply(states, base, operation, index)
    return states


def fold_what_holds(
    operations: Iterable[DraftOperation], base: Mapping[MemoryId, MemoryState]
) -> dict[MemoryId, State]:
    """The fold without the operations whose target has gone, or whose id was given away, since they were accepted."""
    states: dict[MemoryId, State] = {}
    for index, operation in enumerate(operations):
        with suppress(TargetMissing, DuplicateId):
            apply(states, base, operation, index)
    return states


def apply(
    states: dict[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> None:
    """Bring `states`, the fold so far, one operation further; a refused operation leaves it as it was.

    Raises:
        TargetMissing: the target does not exist at this point.
        DuplicateId: a create names an id that is known already, deleted or not.
    """
    if operation.action is Action.CREATE:
        states[operation.memory_id] = _created(states, base, operation, index)
    else:
        states[operation.memory_id] = _changed(_target(states, base, operation, index), operation)


def net_changes(states: Mapping[MemoryId, State], base: Mapping[MemoryId, MemoryState]) -> dict[MemoryId, State]:
    """Those of the final states that differ from the base."""
    return {memory_id: state for memory_id, state in states.items() if state != base.get(memory_id)}


def resolve_path(path: str, states: Mapping[MemoryId, State], base_at_path: MemoryId | None) -> MemoryId | None:
    """Who stands at an accepted path in the fold so far; None if nobody does.

    What the Draft put there goes before the base's occupant, and of several the one it named last:
    a path may be taken twice halfway through a swap.

    Args:
        path: compared as it is, in NFC.
        states: the fold so far.
        base_at_path: the Memory that the base, or an earlier Draft of the Review, has at this path.
    """
    for memory_id in reversed(list(states)):
        state = states[memory_id]
        if state is not None and state.path == path:
            return memory_id
    return None if base_at_path in states else base_at_path


def _created(
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> MemoryState:
    memory_id = operation.memory_id
    if memory_id in states or memory_id in base:
        raise DuplicateId(f"{memory_id} is the id of another Memory.", index=index, memory_id=memory_id)
    if operation.path is None or operation.body is None:
        raise ValueError("a create carries a path and a body")
    return MemoryState(path=operation.path, description=operation.description or "", body=operation.body)


def _target(
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> MemoryState:
    memory_id = operation.memory_id
    state = states[memory_id] if memory_id in states else base.get(memory_id)
    if state is None:
        raise TargetMissing(f"{memory_id} does not exist at this point of the Draft.", index=index, memory_id=memory_id)
    return state


def _changed(state: MemoryState, operation: DraftOperation) -> State:
    if operation.action is Action.DELETE:
        return None
    if operation.action is Action.RENAME:
        if operation.new_path is None:
            raise ValueError("a rename carries a new path")
        return replace(state, path=operation.new_path)
    return replace(
        state,
        body=state.body if operation.body is None else operation.body,
        description=state.description if operation.description is None else operation.description,
    )
