"""What an author's Drafts make of what is published: laid over it one after the other (publication.md §5).

Each Draft is folded over its own base, and shows its result whole; where two change one Memory, the later one is seen.
Nothing is merged: that is what reconciliation asks its author about.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.identifiers import DraftId, MemoryId, is_provisional
from models.rules.folding import DraftOperation, fold_what_holds
from models.rules.states import MemoryState, State


@dataclass(frozen=True, slots=True)
class OverlaidDraft:
    """A Draft with what it starts from; `base` leaves out what other Drafts create."""

    draft_id: DraftId
    version: int
    operations: Sequence[DraftOperation]
    base: Mapping[MemoryId, MemoryState]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A state that a Draft gives a Memory; None: it deletes it."""

    state: State
    draft_id: DraftId
    draft_version: int


def lay_over(drafts: Iterable[OverlaidDraft]) -> dict[MemoryId, Proposed]:
    """What Drafts, in the order they were made, change of what is published; what they leave as it was is not named."""
    proposed: dict[MemoryId, Proposed] = {}
    for draft in drafts:
        base = {**draft.base, **_made_by_earlier(draft, proposed)}
        for memory_id, state in fold_what_holds(draft.operations, base, converging=True).items():
            if state != base.get(memory_id):
                proposed[memory_id] = Proposed(state, draft.draft_id, draft.version)
    return proposed


def _made_by_earlier(draft: OverlaidDraft, proposed: Mapping[MemoryId, Proposed]) -> dict[MemoryId, MemoryState]:
    """The present states of what earlier Drafts create and this one goes on with."""
    named = {operation.memory_id for operation in draft.operations if is_provisional(operation.memory_id)}
    return {
        memory_id: earlier.state
        for memory_id in named
        if (earlier := proposed.get(memory_id)) is not None and earlier.state is not None
    }
