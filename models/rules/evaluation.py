"""What a Review's evaluation takes and gives: its Drafts, what they meet, and the outcome (publication.md §4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from models.errors import DraftEmpty, Problem
from models.identifiers import DraftId, MemoryId, ProjectId, final_id
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import result_hash
from models.rules.states import MemoryState, State


@dataclass(frozen=True, slots=True)
class ProposedDraft:
    """One Draft of a Review: its operations and the organization version it started from."""

    draft_id: DraftId
    base_version: int
    operations: Sequence[DraftOperation]

    @property
    def creates(self) -> set[MemoryId]:
        """The ids, provisional or carried, that its creates name."""
        return {operation.memory_id for operation in self.operations if operation.action is Action.CREATE}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the Drafts meet; only what they touch or probe needs to be in it.

    Args:
        version: the organization's version now.
        current: touched Memories that are active now.
        bases: by base version, touched Memories that were active then.
        selected: touched Memories that the project's selection holds.
        occupants: paths of active Memories at, above or below the paths of the result.
        changed_since: by base version, the occupants that Current created, moved or edited since.
        taken: final ids of what the Drafts create that are a Memory's already, active or archived.
    """

    version: int
    current: Mapping[MemoryId, MemoryState]
    bases: Mapping[int, Mapping[MemoryId, MemoryState]]
    selected: Collection[MemoryId]
    occupants: Mapping[MemoryId, str]
    changed_since: Mapping[int, Collection[MemoryId]]
    taken: Collection[MemoryId] = ()


@dataclass(slots=True)
class Evaluation:
    """The outcome: final states by provisional or existing id, which Drafts gave them, and every blocker.

    `current` has the touched Memories that are active now, `created` the final ids of what the Drafts create.
    `placed_by` is the Draft that a Memory has its final path from: the last one that moved it, else the first one that
    touched it.
    """

    current: Mapping[MemoryId, MemoryState] = field(default_factory=dict)
    states: dict[MemoryId, State] = field(default_factory=dict)
    bases: dict[MemoryId, State] = field(default_factory=dict)
    created: set[MemoryId] = field(default_factory=set)
    first_touched_by: dict[MemoryId, ProposedDraft] = field(default_factory=dict)
    last_touched_by: dict[MemoryId, ProposedDraft] = field(default_factory=dict)
    placed_by: dict[MemoryId, ProposedDraft] = field(default_factory=dict)
    blockers: list[Problem] = field(default_factory=list)
    empty: list[DraftEmpty] = field(default_factory=list)
    needs_reconciliation: set[DraftId] = field(default_factory=set)

    @property
    def final_states(self) -> dict[MemoryId, State]:
        """The final states by the ids they will have once merged."""
        return {final_id(memory_id): state for memory_id, state in self.states.items()}

    @property
    def changed(self) -> dict[MemoryId, State]:
        """Those of the final states that differ from Current."""
        final = self.final_states
        return {memory_id: state for memory_id, state in final.items() if state != self.current.get(memory_id)}

    def result_hash(self, project_id: ProjectId) -> str:
        """The hash that approvals bind to."""
        return result_hash(self.final_states, project_id, self.created)

    def creates(self, memory_id: MemoryId) -> bool:
        """Whether the Drafts create it: under a provisional id, or under a final one that an import carries."""
        return final_id(memory_id) in self.created
