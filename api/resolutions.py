"""Candidates that requests name, and the resolved states that they bring."""

from collections.abc import Mapping, Sequence

from activities.requests import ResolvedState, pack
from api.calls import Read
from api.mentions import Mentions
from models.errors import NotFound
from models.identifiers import CandidateId, DraftId, MemoryId
from models.schemas.reconciliation import ResolvedStateInput
from models.store.candidates import read_candidates


def require_candidates(call: Read, named: Mapping[str, tuple[DraftId, Mentions]]) -> None:
    """Find the candidates that are named beside Drafts, before the rest of the body is judged.

    Args:
        call: who asks.
        named: by the field that holds it: whose candidate it has to be, and the object that names it, or none.

    Raises:
        NotFound: a Draft has no such candidate.
    """
    wanted = {field: (draft_id, mentions.id("candidate_id")) for field, (draft_id, mentions) in named.items()}
    candidate_ids = {CandidateId(candidate_id) for _, candidate_id in wanted.values() if candidate_id is not None}
    found = read_candidates(call.connection, call.principal.org_id, candidate_ids) if candidate_ids else {}
    for field, (draft_id, candidate_id) in wanted.items():
        candidate = None if candidate_id is None else found.get(CandidateId(candidate_id))
        if candidate_id is not None and (candidate is None or candidate.draft_id != draft_id):
            raise NotFound("The Draft has no such candidate.", field=field)


def packed(states: Sequence[ResolvedStateInput] | None) -> str | None:
    """What a request says of the Memories with a conflict, as it is stored; None where it says nothing."""
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
