"""Re-expression: a confirmed result as operations against the new base (publication.md §3, `rebase`)."""

from collections.abc import Collection, Iterator, Mapping

from models.identifiers import MemoryId, is_provisional
from models.rules.folding import Action, DraftOperation
from models.rules.states import MemoryState, State


def express(
    result: Mapping[MemoryId, State], *, current: Mapping[MemoryId, State], created: Collection[MemoryId]
) -> list[DraftOperation]:
    """The operations that make the result of what plays Current, and name every Memory of it but dropped creates.

    Args:
        result: the confirmed state of every Memory that the Draft touches, in the order in which they are first named.
        current: what those Memories are now: Current with the earlier Drafts of the Review; missing: absent.
        created: the ids that the Draft creates, provisional or carried by an import.
    """
    operations: list[DraftOperation] = []
    for memory_id, after in result.items():
        before = current.get(memory_id)
        if before is None:
            operations += _from_nothing(memory_id, after, creates=memory_id in created or is_provisional(memory_id))
        elif after is None:
            operations.append(DraftOperation(Action.DELETE, memory_id))
        else:
            operations += _changed(memory_id, before, after)
    return operations


def _from_nothing(memory_id: MemoryId, after: State, *, creates: bool) -> Iterator[DraftOperation]:
    if after is not None:
        yield DraftOperation(
            Action.CREATE if creates else Action.RESTORE,
            memory_id,
            path=after.path,
            body=after.body,
            description=after.description,
        )
    elif not creates:
        # Deleted on both sides: named still, since the touched set is part of what was approved.
        yield DraftOperation(Action.DELETE, memory_id)


def _changed(memory_id: MemoryId, before: MemoryState, after: MemoryState) -> Iterator[DraftOperation]:
    if before.path != after.path:
        yield DraftOperation(Action.RENAME, memory_id, new_path=after.path)
    edited = (before.body, before.description) != (after.body, after.description)
    if edited or before == after:
        yield DraftOperation(
            Action.UPDATE,
            memory_id,
            body=None if before.body == after.body else after.body,
            # Without any difference the description is repeated: an update changes something or other.
            description=None if edited and before.description == after.description else after.description,
        )
