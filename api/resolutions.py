"""Resolved states as they are stored with the command that brings them."""

from collections.abc import Sequence

from activities.requests import ResolvedState, pack
from models.identifiers import MemoryId
from models.schemas.reconciliation import ResolvedStateInput


def packed(states: Sequence[ResolvedStateInput] | None) -> str | None:
    """What a request says of the Memories with a conflict; None where it says nothing."""
    if states is None:
        return None
    return pack(
        [
            ResolvedState(
                memory_id=MemoryId(state.memory_id),
                exists=state.exists,
                path=state.path,
                description=state.description,
                content=state.content,
            )
            for state in states
        ]
    )
