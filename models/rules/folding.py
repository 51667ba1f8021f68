"""Folding: the ordered operations of a Draft become the final state of every Memory they name (publication.md §2)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from models.errors import DuplicateId, OperationInvalid, Problem, TargetMissing
from models.identifiers import MemoryId, is_provisional
from models.rules.states import Body, MemoryState, State


class Action(StrEnum):
    """What an operation does to its Memory."""

    CREATE = "create"
    UPDATE = "update"
    RENAME = "rename"
    DELETE = "delete"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class DraftOperation:
    """One accepted operation: its target resolved to an id, its path and texts already normalized.

    `create` and `restore` carry `path`, `body` and perhaps `description`; `update` carries `body`, `description` or
    both; `rename` carries `new_path`; `delete` carries nothing.
    """

    action: Action
    memory_id: MemoryId
    path: str | None = None
    new_path: str | None = None
    body: Body | None = None
    description: str | None = None


def _nothing(_operation: DraftOperation) -> None:
    """An operation that was accepted has its form."""


def fold_what_holds(
    operations: Iterable[DraftOperation],
    base: Mapping[MemoryId, MemoryState],
    refused: list[Problem] | None = None,
    *,
    check: Callable[[DraftOperation], None] = _nothing,
    converging: bool = False,
) -> dict[MemoryId, State]:
    """The final states in the order they are first named, without the operations that are refused.

    Those are the ones whose target has gone, or whose id was given away, since they were accepted.

    Args:
        operations: in their order, which is part of their meaning.
        base: what was active at the Draft's base and, in a Review, what earlier Drafts made.
        refused: takes the refusals, each with `index`.
        check: refuses an operation by itself, by OperationInvalid.
        converging: whether the base may have moved on since the operations were accepted, under a Draft whose result
            it left equal: what is to be deleted or restored may be so already, and is not refused for it.
    """
    states: dict[MemoryId, State] = {}
    in_order = list(operations)
    done = _done_already(in_order, base) if converging else {}
    for index, operation in enumerate(in_order):
        try:
            check(operation)
            if index in done:
                states[operation.memory_id] = done[index]
            else:
                apply(states, base, operation, index)
        except (OperationInvalid, TargetMissing, DuplicateId) as problem:
            problem.context["index"] = index
            if refused is not None:
                refused.append(problem)
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
        OperationInvalid: a restore names a Memory that is active at this point.
    """
    if operation.action is Action.CREATE:
        states[operation.memory_id] = _created(states, base, operation, index)
    elif operation.action is Action.RESTORE:
        states[operation.memory_id] = _restored(states, base, operation, index)
    else:
        states[operation.memory_id] = _changed(_target(states, base, operation, index), operation)


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


def _done_already(operations: Sequence[DraftOperation], base: Mapping[MemoryId, MemoryState]) -> dict[int, State]:
    """What operations come to that have nothing left to do, by their index.

    They are those on an existing Memory that the base no longer has, up to the one that deletes it, and the restore of
    one that the base has again.
    """
    done: dict[int, State] = {}
    towards: dict[MemoryId, list[int]] = {}
    settled: set[MemoryId] = set()
    for index, operation in enumerate(operations):
        memory_id = operation.memory_id
        if memory_id in settled or is_provisional(memory_id):
            continue
        if memory_id in base or operation.action in (Action.CREATE, Action.RESTORE):
            settled.add(memory_id)
            if memory_id in base and operation.action is Action.RESTORE:
                done[index] = _placed(operation)
            continue
        towards.setdefault(memory_id, []).append(index)
        if operation.action is Action.DELETE:
            settled.add(memory_id)
            done |= dict.fromkeys(towards[memory_id])
    return done


def _so_far(states: Mapping[MemoryId, State], base: Mapping[MemoryId, MemoryState], memory_id: MemoryId) -> State:
    return states[memory_id] if memory_id in states else base.get(memory_id)


def _created(
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> MemoryState:
    memory_id = operation.memory_id
    if memory_id in states or memory_id in base:
        raise DuplicateId(f"{memory_id} is the id of another Memory.", index=index, memory_id=memory_id)
    return _placed(operation)


def _restored(
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> MemoryState:
    memory_id = operation.memory_id
    if _so_far(states, base, memory_id) is not None:
        raise OperationInvalid(
            f"{memory_id} is active at this point of the Draft.", index=index, field="memory_id", rule="active"
        )
    return _placed(operation)


def _placed(operation: DraftOperation) -> MemoryState:
    if operation.path is None or operation.body is None:
        raise ValueError("a create or restore carries a path and a body")
    return MemoryState(path=operation.path, description=operation.description or "", body=operation.body)


def _target(
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    operation: DraftOperation,
    index: int,
) -> MemoryState:
    memory_id = operation.memory_id
    state = _so_far(states, base, memory_id)
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
