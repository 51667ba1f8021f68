"""How each Draft of a Review stands to what plays Current for it, and whether that needs a person (publication.md §3).

Nobody is asked where the result stays equal on Current, nor where it goes together cleanly with what earlier Drafts of
the same Review make of the same Memories.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from models.errors import ReconciliationRequired
from models.identifiers import BlobId, DraftId, MemoryId, is_provisional
from models.rules.conflicts import Comparison, Conflict, ConflictCode, ContestedField, Other, Reconciliation
from models.rules.currency import stays_equal
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.states import MemoryState, State
from models.rules.three_way import Read, three_way

EDITS = (ContestedField.BODY, ContestedField.DESCRIPTION)


class Standing:
    """A Draft in its Review: where its operations start, and what plays Current for what they name.

    Args:
        evaluation: the Review up to the Draft before this one.
        draft: this one.
        surroundings: what all of them meet.
    """

    def __init__(self, evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> None:
        self.draft = draft
        self.surroundings = surroundings
        self._evaluation = evaluation
        self.named = list(dict.fromkeys(operation.memory_id for operation in draft.operations))
        self.overlay = {
            memory_id: state
            for memory_id, state in draft.overlay.items()
            if not is_provisional(memory_id) or evaluation.creates(memory_id) or memory_id in surroundings.elsewhere
        }
        # Not what it creates itself: where such an id is taken, what is proposed under it is shown all the same.
        met = [memory_id for memory_id in self.named if memory_id not in draft.creates]
        self.base = _present((memory_id, self._base(memory_id)) for memory_id in met)
        self.current = _present((memory_id, self._current(memory_id)) for memory_id in met)

    def _base(self, memory_id: MemoryId) -> State:
        if memory_id in self.overlay:
            return self.overlay[memory_id]
        if self._evaluation.creates(memory_id):
            return self._evaluation.states.get(memory_id)
        if memory_id in self.surroundings.elsewhere:
            return self.surroundings.elsewhere[memory_id]
        return self.organization_base.get(memory_id)

    def _current(self, memory_id: MemoryId) -> State:
        if memory_id in self._evaluation.states:
            return self._evaluation.states[memory_id]
        if memory_id in self.surroundings.elsewhere:
            return self.surroundings.elsewhere[memory_id]
        return self.surroundings.current.get(memory_id)

    @property
    def organization_base(self) -> Mapping[MemoryId, MemoryState]:
        """What was active at the Draft's base, whatever earlier Drafts make of it."""
        return self.surroundings.bases.get(self.draft.base_version, {})

    def record_changes(self, memory_id: MemoryId, state: State) -> None:
        """Note what this Draft changes of a Memory, for the Drafts after it."""
        before = self.current.get(memory_id)
        published = self.surroundings.current.get(memory_id)
        if state is None or (published is not None and state.path == published.path):
            self._evaluation.moved_by.pop(memory_id, None)
        elif before is None or before.path != state.path:
            self._evaluation.moved_by[memory_id] = self.draft
        changes = self._evaluation.changed_by.setdefault(memory_id, {})
        for contested in _differing(before, state):
            # The latest comes last, whichever field it is.
            changes.pop(contested, None)
            changes[contested] = self.draft.draft_id


def _present(states: Iterable[tuple[MemoryId, State]]) -> dict[MemoryId, MemoryState]:
    return {memory_id: state for memory_id, state in states if state is not None}


def _differing(before: State, after: State) -> Iterator[ContestedField]:
    if (before is None) != (after is None):
        yield ContestedField.EXISTENCE
    for contested in (ContestedField.PATH, *EDITS):
        if getattr(before, contested.value, None) != getattr(after, contested.value, None):
            yield contested


def text_reader(evaluation: Evaluation, surroundings: Surroundings) -> Read:
    """Reads the text of a body, also of one that merging made."""

    def read(blob_id: BlobId) -> str:
        return evaluation.texts[blob_id] if blob_id in evaluation.texts else surroundings.read(blob_id)

    return read


def compare(
    evaluation: Evaluation,
    standing: Standing,
    states: Mapping[MemoryId, State],
    confirmed: Mapping[MemoryId, State] | None,
) -> dict[MemoryId, State]:
    """What a Draft makes of each Memory that it touches; how it stands is noted in `evaluation.reconciliations`.

    That is what both sides come to, or, where they conflict, the state that resolves it or else the Draft's own.

    Args:
        evaluation: the Review up to the Draft before this one.
        standing: this one.
        states: the fold of its operations.
        confirmed: the states that resolve its conflicts; None: its candidate is not confirmed.
    """
    draft = standing.draft
    reconciliation = Reconciliation(draft.draft_id)
    evaluation.reconciliations[draft.draft_id] = reconciliation
    resolved = {} if confirmed is None else confirmed
    results: dict[MemoryId, State] = {}
    for memory_id, state in states.items():
        comparison, conflicts = _compare_one(evaluation, standing, memory_id, state)
        reconciliation.comparisons.append(comparison)
        reconciliation.conflicts.extend(conflicts)
        settled = state if conflicts else comparison.proposed
        results[memory_id] = resolved.get(memory_id, settled)
    reconciliation.asking = [
        comparison.memory_id for comparison in reconciliation.comparisons if _is_changing(standing, comparison)
    ]
    unresolved = any(conflict.memory_id not in resolved for conflict in reconciliation.conflicts)
    if unresolved or (reconciliation.asking and confirmed is None):
        evaluation.needs_reconciliation.add(draft.draft_id)
    return results


def _compare_one(
    evaluation: Evaluation, standing: Standing, memory_id: MemoryId, state: State
) -> tuple[Comparison, list[Conflict]]:
    base, current = standing.base.get(memory_id), standing.current.get(memory_id)
    read = text_reader(evaluation, standing.surroundings)
    merged = three_way(memory_id, base=base, current=current, draft=state, read=read)
    evaluation.texts.update(merged.texts)
    changes = evaluation.changed_by.get(memory_id, {})
    creator = standing.surroundings.creators.get(memory_id)
    conflicts = [
        replace(conflict, other=Other(_last_change(conflict, changes) or creator, memory_id))
        for conflict in merged.conflicts
    ]
    return Comparison(memory_id, base, current, state, merged.proposed, merged.merge), conflicts


def _last_change(conflict: Conflict, changes: dict[ContestedField, DraftId]) -> DraftId | None:
    """The earlier Draft that changed last what a conflict is about; None: none of the Review did."""
    about = _ABOUT.get(conflict.code, (conflict.field,))
    return next((changes[contested] for contested in reversed(changes) if contested in about), None)


_ABOUT = {
    ConflictCode.DELETE_EDITED_UPSTREAM: EDITS,
    ConflictCode.DELETE_RENAMED_UPSTREAM: (ContestedField.PATH,),
}


def _is_changing(standing: Standing, comparison: Comparison) -> bool:
    """Whether a Memory's state would not be the Draft's any more, leaving aside what siblings do to it cleanly."""
    memory_id = comparison.memory_id
    if memory_id in standing.overlay or memory_id in standing.surroundings.elsewhere:
        # The Draft was made, or confirmed, upon just this state of an earlier Draft's.
        return comparison.current != comparison.base and comparison.proposed != comparison.draft
    if memory_id in standing.draft.creates:
        return False
    return not stays_equal(
        draft=comparison.draft,
        base=standing.organization_base.get(memory_id),
        current=standing.surroundings.current.get(memory_id),
    )


def confirmation_needed(evaluation: Evaluation) -> Iterator[ReconciliationRequired]:
    """For each Draft that a person has to bring up to date, in order, the blocker that says so."""
    for draft_id, reconciliation in evaluation.reconciliations.items():
        if draft_id in evaluation.needs_reconciliation:
            yield _confirmation_needed(draft_id, reconciliation)


def _confirmation_needed(draft_id: DraftId, reconciliation: Reconciliation) -> ReconciliationRequired:
    contradicted = [conflict.memory_id for conflict in reconciliation.conflicts]
    return ReconciliationRequired(
        "The Draft's changes meet others that contradict them."
        if contradicted
        else "Bringing the Draft up to date changes its result.",
        draft_id=draft_id,
        memory_id=[*contradicted, *reconciliation.asking][0],
        candidates=[],
    )
