"""Paths that a Review's result would take twice, among its Drafts or with Current (publication.md §1, §4)."""

from collections.abc import Sequence

from models.errors import JsonValue, PathCollision, Problem, ReconciliationRequired
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.occupancy import Collision, collisions_with, collisions_within


def meetings(evaluation: Evaluation, order: Sequence[DraftId]) -> list[Problem]:
    """Two Memories of the Review in each other's way: within one Draft a collision, across two a conflict."""
    problems: list[Problem] = []
    for collision in collisions_within(evaluation.states):
        placing = {evaluation.placed_by[memory_id].draft_id: memory_id for memory_id in collision.occupants}
        if len(placing) == 1:
            problems.append(_path_collision(evaluation.placed_by[collision.occupants[0]], collision))
            continue
        earlier, later = sorted(placing, key=order.index)
        evaluation.needs_reconciliation.add(later)
        problems.append(
            reconciliation_required(
                evaluation.placed_by[placing[later]],
                f"Two Drafts of this Review meet at {collision.path}.",
                other={"draft_id": earlier},
                **_named(collision),
            )
        )
    return problems


def occupied(evaluation: Evaluation, surroundings: Surroundings) -> list[Problem]:
    """Memories of Current in the way; one is named for each proposed path, however many stand in a folder there.

    What has moved in since the base is a conflict, and so is any occupied path of a Draft that has a conflict.
    """
    met: dict[MemoryId, list[Collision[MemoryId]]] = {}
    for collision in collisions_with(evaluation.states, surroundings.occupants):
        met.setdefault(collision.occupants[0], []).append(collision)
    moved_in = {memory_id: _moved_in(evaluation, surroundings, collisions) for memory_id, collisions in met.items()}
    evaluation.needs_reconciliation |= {
        evaluation.placed_by[memory_id].draft_id for memory_id, moved in moved_in.items() if moved
    }
    return [
        _occupied_path(evaluation, evaluation.placed_by[memory_id], (moved_in[memory_id] or collisions)[0])
        for memory_id, collisions in met.items()
    ]


def _moved_in(
    evaluation: Evaluation, surroundings: Surroundings, collisions: Sequence[Collision[MemoryId]]
) -> list[Collision[MemoryId]]:
    """Those of the collisions whose occupant Current created, moved or edited since the Draft's base."""
    draft = evaluation.placed_by[collisions[0].occupants[0]]
    changed = surroundings.changed_since.get(draft.base_version, ())
    return [collision for collision in collisions if collision.occupants[1] in changed]


def _occupied_path(evaluation: Evaluation, draft: ProposedDraft, collision: Collision[MemoryId]) -> Problem:
    if draft.draft_id in evaluation.needs_reconciliation:
        return reconciliation_required(draft, f"{collision.path} is taken in Current.", **_named(collision))
    return _path_collision(draft, collision)


def _path_collision(draft: ProposedDraft, collision: Collision[MemoryId]) -> PathCollision:
    apart = collision.path != collision.other_path
    return PathCollision(
        f"{collision.path} and {collision.other_path} cannot both stand."
        if apart
        else f"Two Memories would stand at {collision.path}.",
        draft_id=draft.draft_id,
        **_named(collision),
    )


def reconciliation_required(draft: ProposedDraft, detail: str, **context: JsonValue) -> ReconciliationRequired:
    """Two changes that a person has to bring together, the later of them in this Draft."""
    return ReconciliationRequired(detail, draft_id=draft.draft_id, candidates=[], **context)


def _named(collision: Collision[MemoryId]) -> dict[str, JsonValue]:
    return {
        "paths": [collision.path, collision.other_path],
        "memory_ids": [final_id(memory_id) for memory_id in collision.occupants],
    }
