"""What a restore brings back: a Memory as it was when it was deleted (publication.md §2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.errors import TargetMissing
from models.identifiers import MemoryId
from models.rules.folding import Action, DraftOperation, fold_what_holds
from models.rules.states import MemoryState, State


@dataclass(frozen=True, slots=True)
class Restoring:
    """What restores may bring back in a Draft.

    Args:
        base: the Memories that exist where the Draft starts.
        published: the Memories that were ever published by then, each as it was last.
    """

    base: Mapping[MemoryId, MemoryState]
    published: Mapping[MemoryId, MemoryState]

    def complete(self, restore: DraftOperation, before: Sequence[DraftOperation], index: int) -> DraftOperation:
        """A restore with path, body and description, each as it was where the restore leaves it alone.

        Args:
            restore: as it was sent, normalized.
            before: the operations on the same Memory that come before it in the Draft.
            index: its place, for a refusal.

        Raises:
            TargetMissing: nothing of this id was published by then.
        """
        memory_id = restore.memory_id
        last = self.published.get(memory_id)
        if last is None:
            raise TargetMissing(f"{memory_id} was never published.", index=index, memory_id=memory_id)
        was = as_deleted(before, self.base.get(memory_id)) or last
        return DraftOperation(
            Action.RESTORE,
            memory_id,
            path=was.path if restore.path is None else restore.path,
            body=restore.body or was.body,
            description=was.description if restore.description is None else restore.description,
        )


def as_deleted(operations: Sequence[DraftOperation], base: State) -> State:
    """What the operations on one Memory had made of it when the last of them deleted it; None when none did."""
    deleted_at = max((at for at, each in enumerate(operations) if each.action is Action.DELETE), default=None)
    if deleted_at is None:
        return None
    memory_id = operations[deleted_at].memory_id
    present = {} if base is None else {memory_id: base}
    return fold_what_holds(operations[:deleted_at], present).get(memory_id, base)
