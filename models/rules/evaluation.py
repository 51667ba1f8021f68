"""What a Review's evaluation takes and gives: its Drafts, what they meet, and the outcome (publication.md §4)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from models.errors import DraftEmpty, Problem
from models.identifiers import BlobId, DraftId, MemoryId, ProjectId, final_id
from models.rules.conflicts import ContestedField, Reconciliation
from models.rules.folding import Action, DraftOperation
from models.rules.free_paths import FreeAmong
from models.rules.hashes import result_hash
from models.rules.states import MemoryState, State

Confirmed = Mapping[DraftId, Mapping[MemoryId, State]]
"""By Draft whose candidate the caller confirms, the states that resolve its conflicts; of a clean one, none."""

Fits = Callable[[DraftId, Mapping[MemoryId, State]], bool]
"""Whether what plays Current for what a confirmed Draft touches is what its candidate was made from."""


@dataclass(frozen=True, slots=True)
class ProposedDraft:
    """One Draft of a Review: its operations and the organization version it started from.

    `overlay` has the Memories that it found as an earlier Draft of the Review left them, and not as its base has them.
    """

    draft_id: DraftId
    base_version: int
    operations: Sequence[DraftOperation]
    overlay: Mapping[MemoryId, State] = field(default_factory=dict)

    @property
    def creates(self) -> set[MemoryId]:
        """The ids, provisional or carried, that its creates name."""
        return self._named_by(Action.CREATE)

    @property
    def restores(self) -> set[MemoryId]:
        """The ids that its restores name."""
        return self._named_by(Action.RESTORE)

    def _named_by(self, action: Action) -> set[MemoryId]:
        return {operation.memory_id for operation in self.operations if operation.action is action}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the Drafts meet; only what they touch or probe needs to be in it.

    Args:
        version: the organization's version now.
        current: touched Memories that are active now.
        bases: by base version, Memories that were active then, of those that the Drafts of that base touch.
        selected: touched Memories that the project's selection holds.
        occupants: paths of active Memories at, above or below the paths of the result.
        changed_since: by base version, the occupants that Current created, moved or edited since.
        read: the text of a body; asked only where three bodies differ.
        free_among: those of several paths that collide with no active Memory of Current, leaving out those touched.
        each_at: by version, the states that Memories had; asked only of occupants that are in the way.
        taken: final ids of what the Drafts create that are a Memory's already, active or archived.
        elsewhere: what the author's other Drafts create; only for a Draft that is looked at before it is submitted.
        creators: the Draft that creates each of those.
    """

    version: int
    current: Mapping[MemoryId, MemoryState]
    bases: Mapping[int, Mapping[MemoryId, MemoryState]]
    selected: Collection[MemoryId]
    occupants: Mapping[MemoryId, str]
    changed_since: Mapping[int, Collection[MemoryId]]
    read: Callable[[BlobId], str]
    free_among: FreeAmong
    each_at: Callable[[Collection[tuple[MemoryId, int]]], Mapping[int, Mapping[MemoryId, MemoryState]]]
    taken: Collection[MemoryId] = ()
    elsewhere: Mapping[MemoryId, MemoryState] = field(default_factory=dict)
    creators: Mapping[MemoryId, DraftId] = field(default_factory=dict)


@dataclass(slots=True)
class Evaluation:
    """The outcome: final states by provisional or existing id, how each Draft stands, and every blocker.

    Args:
        current: the touched Memories that are active now.
        states: what the Drafts come to, by the ids that their operations name.
        bases: what was published of each of them where the first Draft that names it started from.
        results: by Draft, what it makes of each Memory that it touches, in the order in which they are first named.
        reconciliations: by Draft, in their order, how it stands to what plays Current for it.
        texts: those that merging made and that resolutions are made of, by blob id; some are in no state in the end.
        made: the final ids of what the Drafts create, whatever became of it.
        introduced: by Draft, the final ids of what it creates or restores, whatever became of it.
        first_touched_by: the first Draft that names the Memory.
        moved_by: the last Draft that gave the Memory its path; none where it stands at the path that Current has.
        changed_by: by Memory, the last Draft that changed each of its fields.
        blockers: all that is in the way, each with its `draft_id`.
        empty: the Drafts that change nothing; in the way of a submission only.
        needs_reconciliation: the Drafts that need a confirmed candidate and have none.
        outrun: the confirmed Drafts whose candidate does not fit, and is left aside, because of what is confirmed of an
            earlier one.
    """

    current: Mapping[MemoryId, MemoryState] = field(default_factory=dict)
    states: dict[MemoryId, State] = field(default_factory=dict)
    bases: dict[MemoryId, State] = field(default_factory=dict)
    results: dict[DraftId, dict[MemoryId, State]] = field(default_factory=dict)
    reconciliations: dict[DraftId, Reconciliation] = field(default_factory=dict)
    texts: dict[BlobId, str] = field(default_factory=dict)
    made: set[MemoryId] = field(default_factory=set)
    introduced: dict[DraftId, set[MemoryId]] = field(default_factory=dict)
    first_touched_by: dict[MemoryId, ProposedDraft] = field(default_factory=dict)
    moved_by: dict[MemoryId, ProposedDraft] = field(default_factory=dict)
    changed_by: dict[MemoryId, dict[ContestedField, DraftId]] = field(default_factory=dict)
    blockers: list[Problem] = field(default_factory=list)
    empty: list[DraftEmpty] = field(default_factory=list)
    needs_reconciliation: set[DraftId] = field(default_factory=set)
    outrun: list[DraftId] = field(default_factory=list)

    @property
    def final_states(self) -> dict[MemoryId, State]:
        """The final states by the ids they will have once merged."""
        return {final_id(memory_id): state for memory_id, state in self.states.items()}

    @property
    def created(self) -> set[MemoryId]:
        """The final ids of what the Drafts create or restore and that exists in the end: the project selects them."""
        final = self.final_states
        introduced = {memory_id for of_draft in self.introduced.values() for memory_id in of_draft}
        return {memory_id for memory_id in introduced if final.get(memory_id) is not None}

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
        return final_id(memory_id) in self.made

    def introduces(self, memory_id: MemoryId) -> bool:
        """Whether the Drafts create or restore it: the project selects it once they are merged."""
        return any(final_id(memory_id) in of_draft for of_draft in self.introduced.values())
