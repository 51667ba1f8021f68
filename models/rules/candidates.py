"""What a candidate is bound to, and how it is named: what is equal gives the same one (publication.md §3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from models.identifiers import CandidateId, CommitId, DraftId, MemoryId
from models.rules.conflicts import ENGINE
from models.rules.hashes import JsonValue, canonical_json
from models.rules.states import State


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another Draft that one is compared after, at a version."""

    draft_id: DraftId
    draft_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor:
    """What a candidate is made for; when any of it moves, the candidate is stale.

    `siblings` are the Drafts before this one in its Review; `built_on` those that are no part of it, but create what an
    open Draft changes.
    """

    draft_version: int
    base_commit_id: CommitId | None
    base_version: int
    current_commit_id: CommitId | None
    current_version: int
    siblings: tuple[Sibling, ...] = ()
    built_on: tuple[Sibling, ...] = ()


def binding_of(made_for: MadeFor, current: Mapping[MemoryId, State], conflicts: Sequence[JsonValue]) -> str:
    """The hash of what a candidate is made for, of what plays Current for what the Draft touches, and of its conflicts.

    States of Current move alone where a resolution, confirmed in the same submission, changes what an earlier Draft
    makes. Conflicts move alone where that or a later Draft takes or leaves a path: what was handed out stays as it is.
    """
    states: list[JsonValue] = [
        [memory_id, None if state is None else [state.path, state.description, state.body.content_hash]]
        for memory_id, state in sorted(current.items())
    ]
    tuple_and_states: list[JsonValue] = [
        ENGINE,
        made_for.draft_version,
        made_for.base_commit_id,
        made_for.base_version,
        made_for.current_commit_id,
        made_for.current_version,
        [[sibling.draft_id, sibling.draft_version] for sibling in made_for.siblings],
        [[creator.draft_id, creator.draft_version] for creator in made_for.built_on],
        sha256(canonical_json(states)).hexdigest(),
        sha256(canonical_json(conflicts)).hexdigest(),
    ]
    return sha256(canonical_json(tuple_and_states)).hexdigest()


def candidate_id_of(draft_id: DraftId, binding: str) -> CandidateId:
    """`cnd_…`, made of the binding: whoever makes the same candidate, at once or later, names it the same."""
    return CandidateId("cnd_" + sha256(f"{draft_id}\0{binding}".encode()).hexdigest()[:32])


def in_order_among(siblings: Sequence[Sibling], before: Sequence[Sibling]) -> bool:
    """Whether the Drafts that a candidate was made after stand, at the same versions, before its Draft as well."""
    left = iter(before)
    return all(sibling in left for sibling in siblings)
