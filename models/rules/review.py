"""A Review's Drafts, evaluated in order against Current: final states, and all that is in the way (publication.md §4).

The results of the earlier Drafts play Current for the next. Nothing here is written; submit, publication and
mergeability all ask this one question.
"""

from collections.abc import Iterator, Mapping, Sequence

from models.errors import (
    DraftEmpty,
    DuplicateId,
    JsonValue,
    MemoryNotSelected,
    OperationInvalid,
    PathCollision,
    Problem,
    ReconciliationRequired,
    TargetMissing,
)
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.bodies import accept_description
from models.rules.currency import keeps_result
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.folding import Action, DraftOperation, apply
from models.rules.occupancy import Collision, collisions_with, collisions_within
from models.rules.paths import accept_path
from models.rules.states import MemoryState, State


def evaluate(drafts: Sequence[ProposedDraft], surroundings: Surroundings) -> Evaluation:
    """Fold the Drafts in order and name every blocker, each with its `draft_id`."""
    evaluation = Evaluation(current=surroundings.current)
    for draft in drafts:
        _take_draft(evaluation, draft, surroundings)
    evaluation.blockers.extend(_meetings(evaluation, [draft.draft_id for draft in drafts]))
    evaluation.blockers.extend(_occupied(evaluation, surroundings))
    return evaluation


def _take_draft(evaluation: Evaluation, draft: ProposedDraft, surroundings: Surroundings) -> None:
    duplicates = _duplicates(evaluation, draft, surroundings)
    known = _known_to(evaluation, draft, surroundings)
    evaluation.created |= {final_id(memory_id) for memory_id in draft.creates}
    states, refused = _fold_what_holds(draft, known)
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


def _fold_what_holds(
    draft: ProposedDraft, base: Mapping[MemoryId, MemoryState]
) -> tuple[dict[MemoryId, State], list[Problem]]:
    """The fold, leaving out what is refused: a Review whose Drafts lost a sibling still shows what is left."""
    states: dict[MemoryId, State] = {}
    refused: list[Problem] = []
    for index, operation in enumerate(draft.operations):
        try:
            _check_syntax(operation)
            apply(states, base, operation, index)
        except (OperationInvalid, TargetMissing, DuplicateId) as problem:
            problem.context |= {"index": index, "draft_id": draft.draft_id}
            refused.append(problem)
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
        _reconciliation_required(draft, "Current changed what this Draft changes.", memory_id=memory_id)
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
        _reconciliation_required(
            draft,
            "An earlier Draft of this Review changes the same Memory.",
            memory_id=memory_id,
            other={"draft_id": draft_id},
        )
        for memory_id, draft_id in earlier.items()
    ]


def _meetings(evaluation: Evaluation, order: Sequence[DraftId]) -> list[Problem]:
    """Two Memories of the Review in each other's way: within one Draft a collision, across two a conflict."""
    problems: list[Problem] = []
    for collision in collisions_within(evaluation.states):
        placing = {evaluation.placed_by[memory_id].draft_id: memory_id for memory_id in collision.memory_ids}
        if len(placing) == 1:
            problems.append(_path_collision(evaluation.placed_by[collision.memory_ids[0]], collision))
            continue
        earlier, later = sorted(placing, key=order.index)
        evaluation.needs_reconciliation.add(later)
        problems.append(
            _reconciliation_required(
                evaluation.placed_by[placing[later]],
                f"Two Drafts of this Review meet at {collision.path}.",
                other={"draft_id": earlier},
                **_named(collision),
            )
        )
    return problems


def _occupied(evaluation: Evaluation, surroundings: Surroundings) -> list[Problem]:
    """Memories of Current in the way; one is named for each proposed path, however many stand in a folder there.

    What has moved in since the base is a conflict, and so is any occupied path of a Draft that has a conflict.
    """
    met: dict[MemoryId, list[Collision]] = {}
    for collision in collisions_with(evaluation.states, surroundings.occupants):
        met.setdefault(collision.memory_ids[0], []).append(collision)
    moved_in = {memory_id: _moved_in(evaluation, surroundings, collisions) for memory_id, collisions in met.items()}
    evaluation.needs_reconciliation |= {
        evaluation.placed_by[memory_id].draft_id for memory_id, moved in moved_in.items() if moved
    }
    return [
        _occupied_path(evaluation, evaluation.placed_by[memory_id], (moved_in[memory_id] or collisions)[0])
        for memory_id, collisions in met.items()
    ]


def _moved_in(evaluation: Evaluation, surroundings: Surroundings, collisions: Sequence[Collision]) -> list[Collision]:
    """Those of the collisions whose occupant Current created, moved or edited since the Draft's base."""
    draft = evaluation.placed_by[collisions[0].memory_ids[0]]
    changed = surroundings.changed_since.get(draft.base_version, ())
    return [collision for collision in collisions if collision.memory_ids[1] in changed]


def _occupied_path(evaluation: Evaluation, draft: ProposedDraft, collision: Collision) -> Problem:
    if draft.draft_id in evaluation.needs_reconciliation:
        return _reconciliation_required(draft, f"{collision.path} is taken in Current.", **_named(collision))
    return _path_collision(draft, collision)


def _path_collision(draft: ProposedDraft, collision: Collision) -> PathCollision:
    apart = collision.path != collision.other_path
    return PathCollision(
        f"{collision.path} and {collision.other_path} cannot both stand."
        if apart
        else f"Two Memories would stand at {collision.path}.",
        draft_id=draft.draft_id,
        **_named(collision),
    )


def _reconciliation_required(draft: ProposedDraft, detail: str, **context: JsonValue) -> ReconciliationRequired:
    return ReconciliationRequired(detail, draft_id=draft.draft_id, candidates=[], **context)


def _named(collision: Collision) -> dict[str, JsonValue]:
    return {
        "paths": [collision.path, collision.other_path],
        "memory_ids": [final_id(memory_id) for memory_id in collision.memory_ids],
    }
