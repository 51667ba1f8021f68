"""Re-expression: a confirmed result as operations against the new base (publication.md §3, `rebase`)."""

from collections.abc import Collection, Mapping

from models.identifiers import MemoryId
from models.rules.folding import DraftOperation
from models.rules.states import State


def express(
    result: Mapping[MemoryId, State], *, current: Mapping[MemoryId, State], created: Collection[MemoryId]
) -> list[DraftOperation]:
    """The operations that make the result of what plays Current, and name every Memory of it but dropped creates.

    Args:
        result: the confirmed state of every Memory that the Draft touches, in the order in which they are first named.
        current: what those Memories are now: Current with the earlier Drafts of the Review; missing: absent.
        created: the ids that the Draft creates, provisional or carried by an import.
    """
    raise NotImplementedError
