"""A Review's Drafts, evaluated in order against Current: final states, and all that is in the way (publication.md §4).

The results of the earlier Drafts play Current for the next. Nothing here is written; submit, publication and
mergeability all ask this one question.
"""

from collections.abc import Iterator, Mapping, Sequence

from models.errors import DraftEmpty, DuplicateId, MemoryNotSelected, Problem
from models.identifiers import MemoryId, final_id
from models.rules.bodies import accept_description
from models.rules.currency import keeps_result
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation, fold_what_holds
from models.rules.paths import accept_path
from models.rules.review_places import meetings, occupied, reconciliation_required
from models.rules.states import MemoryState, State


def evaluate(drafts: Sequence[ProposedDraft], surroundings: Surroundings) -> Evaluation:
    """Fold the Drafts in order and name every blocker, each with its `draft_id`."""
    evaluation = Evaluation(current=surroundings.current)
    for draft in drafts:
        _take_draft(evaluation, draft, surroundings)
    evaluation.blockers.extend(meetings(evaluation, [draft.draft_id for draft in drafts]))
    evaluation.blockers.extend(occupied(evaluation, surroundings))
    return evaluation


def _take_draft(evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> None:
    duplicates = _duplicates(evaluation, draft, surroundings)
    known = _known_to(evaluation, draft, surroundings)
    evaluation.created |= {final_id(memory_id) for memory_id in draft.creates}
    states, refused = _fold(draft, known)
    evaluation.blockers.extend([*duplicates, *refused])
    if not duplicates and not refused:
        _judge_draft(evaluation, draft, states, surroundings)
    base = surroundings.bases.get(draft.base_version, {})
    for memory_id, state in states.items():
        before = evaluation.states.get(memory_id)
        if before is None or state is None or before.path != state.path:
            evaluation.placed_by[memory_id] = draft
        evaluation.states[memory_id] = state
        evaluation.bases.setdefault(memory_id, base.get(memory_id))
        evaluation.first_touched_by.setdefault(memory_id, draft)
        evaluation.last_touched_by[memory_id] = draft


def _duplicates(evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> list[Problem]:
    """Creates under an id that is a Memory's already, or that an earlier Draft of the Review gives to what it creates.

    A provisional id is compared by what it becomes.
    """
    return [
        DuplicateId(
            f"{operation.memory_id} is the id of another Memory.",
            index=index,
            memory_id=operation.memory_id,
            draft_id=draft.draft_id,
        )
        for index, operation in enumerate(draft.operations)
        if operation.action is Action.CREATE
        and (evaluation.creates(operation.memory_id) or final_id(operation.memory_id) in surroundings.taken)
    ]


def _known_to(evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> dict[MemoryId, MemoryState]:
    """What a Draft's operations find: what stood at its base, and what earlier Drafts create.

    Not what it creates itself: where such an id is taken, what is proposed under it is shown all the same.
    """
    base = surroundings.bases.get(draft.base_version, {})
    known: dict[MemoryId, MemoryState] = {}
    for memory_id in {operation.memory_id for operation in draft.operations} - draft.creates:
        made = evaluation.states.get(memory_id) if evaluation.creates(memory_id) else None
        state = made or base.get(memory_id)
        if state is not None:
            known[memory_id] = state
    return known


def _fold(draft: ProposedDraft, base: Mapping[MemoryId, MemoryState]) -> tuple[dict[MemoryId, State], list[Problem]]:
    """The fold, leaving out what is refused: a Review whose Drafts lost a sibling still shows what is left."""
    refused: list[Problem] = []
    states = fold_what_holds(draft.operations, base, refused, check=_check_syntax)
    for problem in refused:
        problem.context["draft_id"] = draft.draft_id
    # Named is touched: the result hash covers it, even where nothing came of it.
    untouched = {operation.memory_id: base.get(operation.memory_id) for operation in draft.operations}
    return {**untouched, **states}, refused


def _check_syntax(operation: DraftOperation) -> None:
    if operation.path is not None:
        accept_path(operation.path)
    if operation.new_path is not None:
        accept_path(operation.new_path, field="new_path")
    if operation.description is not None:
        accept_description(operation.description)


def _judge_draft(
    evaluation: Evaluation, draft: ProposedDraft, states: Mapping[MemoryId, State], surroundings: Surroundings
) -> None:
    base = surroundings.bases.get(draft.base_version, {})
    if all(state == _before(evaluation, memory_id, surroundings) for memory_id, state in states.items()):
        evaluation.empty.append(DraftEmpty("The Draft's result equals Current.", draft_id=draft.draft_id))
    existing = [memory_id for memory_id in states if not evaluation.creates(memory_id)]
    evaluation.blockers.extend(_unselected(draft, existing, base, surroundings))
    conflicts = [
        *_overlaps(evaluation, draft, existing),
        *_changed_upstream(draft, {memory_id: states[memory_id] for memory_id in existing}, base, surroundings),
    ]
    if conflicts:
        evaluation.needs_reconciliation.add(draft.draft_id)
        evaluation.blockers.extend(conflicts)


def _changed_upstream(
    draft: ProposedDraft,
    states: Mapping[MemoryId, State],
    base: Mapping[MemoryId, MemoryState],
    surroundings: Surroundings,
) -> list[Problem]:
    """Existing Memories whose final state would not stay equal on Current (publication.md §3)."""
    if draft.base_version == surroundings.version:
        return []
    return [
        reconciliation_required(draft, "Current changed what this Draft changes.", memory_id=memory_id)
        for memory_id in sorted(keeps_result(states=states, base=base, current=surroundings.current))
    ]


def _before(evaluation: Evaluation, memory_id: MemoryId, surroundings: Surroundings) -> State:
    if memory_id in evaluation.states:
        return evaluation.states[memory_id]
    return surroundings.current.get(memory_id)


def _unselected(
    draft: ProposedDraft,
    existing: Sequence[MemoryId],
    base: Mapping[MemoryId, MemoryState],
    surroundings: Surroundings,
) -> Iterator[Problem]:
    for memory_id in existing:
        deleted_upstream = memory_id in base and memory_id not in surroundings.current
        if memory_id not in surroundings.selected and not deleted_upstream:
            yield MemoryNotSelected(
                f"{memory_id} is not in the project's selection.", memory_id=memory_id, draft_id=draft.draft_id
            )


def _overlaps(evaluation: Evaluation, draft: ProposedDraft, existing: Sequence[MemoryId]) -> list[Problem]:
    """Existing Memories that an earlier Draft of the Review changes as well."""
    earlier = {
        memory_id: evaluation.last_touched_by[memory_id].draft_id
        for memory_id in existing
        if memory_id in evaluation.last_touched_by
    }
    return [
        reconciliation_required(
            draft,
            "An earlier Draft of this Review changes the same Memory.",
            memory_id=memory_id,
            other={"draft_id": draft_id},
        )
        for memory_id, draft_id in earlier.items()
    ]
