"""Paths that a Review's result would take twice, among its Drafts or with Current (publication.md §1, §4).

Looked at over the final state of the whole Review: what it moves away or deletes is in nobody's way.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from models.errors import PathCollision
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.conflicts import Comparison, Conflict, ConflictCode, ContestedField, Other
from models.rules.evaluation import Confirmed, Evaluation, ProposedDraft, Surroundings
from models.rules.occupancy import Collision, collisions_with, collisions_within
from models.rules.paths import path_key
from models.rules.states import State


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A Memory that a Draft placed, and another one in its way.

    `sibling` is the Draft that placed the other one, or an earlier one that touched it where Current has it; None: it
    is there by Current alone.
    """

    draft_id: DraftId
    base_version: int
    memory_id: MemoryId
    path: str
    other_id: MemoryId
    other_path: str
    sibling: DraftId | None = None


def judge_places(evaluation: Evaluation, surroundings: Surroundings, confirmed: Confirmed) -> list[PathCollision]:
    """Make a conflict of every path that two Drafts take, or that was taken while a Draft fell behind.

    Returns:
        The other ones: taken twice by one Draft, by a state that was to resolve a conflict, or from what stood there
        when the Draft began.
    """
    states = _settled(evaluation, confirmed)
    touched = [_among_touched(evaluation, collision) for collision in collisions_within(states)]
    of_one_draft = [each for each in touched if each.sibling == each.draft_id]
    of_siblings = [each for each in touched if each.sibling not in (None, each.draft_id)]
    with_current = [each for each in touched if each.sibling is None]
    with_current += [_with_current(evaluation, each) for each in collisions_with(states, surroundings.occupants)]
    moved_in = [each for each in with_current if each.other_id in surroundings.changed_since.get(each.base_version, ())]
    named = [*of_siblings, *_one_a_memory([*moved_in, *with_current])]
    unanswered = [each for each in named if each.memory_id not in confirmed.get(each.draft_id, ())]
    asking = {*of_siblings, *moved_in}
    evaluation.needs_reconciliation |= {each.draft_id for each in unanswered if each in asking}
    conflicts = [each for each in unanswered if each.draft_id in evaluation.needs_reconciliation]
    _add_conflicts(evaluation, surroundings, conflicts)
    left = set(named).difference(conflicts)
    return [_problem(each) for each in (*of_one_draft, *(each for each in named if each in left))]


def _settled(evaluation: Evaluation, confirmed: Confirmed) -> dict[MemoryId, State]:
    """The final states; a Memory whose existence is contested stands nowhere until somebody has chosen."""
    contested = {
        conflict.memory_id
        for draft_id, reconciliation in evaluation.reconciliations.items()
        for conflict in reconciliation.conflicts
        if conflict.field is ContestedField.EXISTENCE and conflict.memory_id not in confirmed.get(draft_id, ())
    }
    return evaluation.states | dict.fromkeys(contested)


def _among_touched(evaluation: Evaluation, collision: Collision[MemoryId]) -> _Meeting:
    """Of two that Drafts placed, the later Draft placed its own in the way; else the one that placed any did."""
    order = list(evaluation.reconciliations)
    movers = evaluation.moved_by
    one, other = sorted(
        collision.occupants,
        key=lambda memory_id: order.index(movers[memory_id].draft_id) if memory_id in movers else -1,
        reverse=True,
    )
    meeting = _meeting(movers.get(one, evaluation.first_touched_by[one]), collision, memory_id=one)
    sibling = movers.get(other, evaluation.first_touched_by[other]).draft_id
    if other in movers or order.index(sibling) < order.index(meeting.draft_id):
        return replace(meeting, sibling=sibling)
    return meeting


def _with_current(evaluation: Evaluation, collision: Collision[MemoryId]) -> _Meeting:
    memory_id = collision.occupants[0]
    placing = evaluation.moved_by.get(memory_id, evaluation.first_touched_by[memory_id])
    return _meeting(placing, collision, memory_id=memory_id)


def _meeting(draft: ProposedDraft, collision: Collision[MemoryId], *, memory_id: MemoryId) -> _Meeting:
    paths = dict(zip(collision.occupants, (collision.path, collision.other_path), strict=True))
    (other_id,) = set(collision.occupants) - {memory_id}
    return _Meeting(draft.draft_id, draft.base_version, memory_id, paths[memory_id], other_id, paths[other_id])


def _one_a_memory(meetings: Iterable[_Meeting]) -> Iterator[_Meeting]:
    """The first of each Memory's, however many stand in a folder there."""
    found: dict[MemoryId, _Meeting] = {}
    for meeting in meetings:
        found.setdefault(meeting.memory_id, meeting)
    return iter(found.values())


def _problem(meeting: _Meeting) -> PathCollision:
    return PathCollision(
        f"Two Memories would stand at {meeting.path}."
        if meeting.path == meeting.other_path
        else f"{meeting.path} and {meeting.other_path} cannot both stand.",
        draft_id=meeting.draft_id,
        paths=[meeting.path, meeting.other_path],
        memory_ids=[final_id(meeting.memory_id), final_id(meeting.other_id)],
    )


def _add_conflicts(evaluation: Evaluation, surroundings: Surroundings, meetings: Collection[_Meeting]) -> None:
    """Give the Drafts their conflicts over paths, each among those of its Memory."""
    others = _Others.of(evaluation, surroundings, meetings)
    for draft_id in {meeting.draft_id for meeting in meetings}:
        reconciliation = evaluation.reconciliations[draft_id]
        compared = {each.memory_id: each for each in reconciliation.comparisons}
        position = {memory_id: number for number, memory_id in enumerate(compared)}
        reconciliation.conflicts += [
            _conflict(evaluation, others, meeting, compared[meeting.memory_id])
            for meeting in meetings
            if meeting.draft_id == draft_id
        ]
        reconciliation.conflicts.sort(key=lambda conflict: position[conflict.memory_id])
        reconciliation.keeps_result = False


@dataclass(frozen=True, slots=True)
class _Others:
    """What stands in the way: its states now, and by base version those that stood then."""

    now: Mapping[MemoryId, State]
    then: Mapping[int, Collection[MemoryId]]

    @classmethod
    def of(cls, evaluation: Evaluation, surroundings: Surroundings, meetings: Collection[_Meeting]) -> "_Others":
        by_base: dict[int, set[MemoryId]] = {}
        for meeting in meetings:
            by_base.setdefault(meeting.base_version, set()).add(meeting.other_id)
        untouched = {memory_id for met in by_base.values() for memory_id in met} - evaluation.states.keys()
        return cls(
            now={**surroundings.states_at(untouched, surroundings.version), **evaluation.states},
            then={version: surroundings.states_at(met, version) for version, met in by_base.items()},
        )


def _conflict(evaluation: Evaluation, others: _Others, meeting: _Meeting, comparison: Comparison) -> Conflict:
    draft, other = comparison.draft, others.now.get(meeting.other_id)
    both_created = (
        evaluation.first_touched_by[meeting.memory_id].draft_id == meeting.draft_id
        and evaluation.creates(meeting.memory_id)
        and (evaluation.creates(meeting.other_id) or meeting.other_id not in others.then[meeting.base_version])
        and path_key(meeting.path) == path_key(meeting.other_path)
    )
    return Conflict(
        code=ConflictCode.PATH_BOTH_CREATED if both_created else ConflictCode.PATH_OCCUPIED,
        memory_id=meeting.memory_id,
        field=ContestedField.PATH,
        base=comparison.base,
        current=comparison.current,
        draft=draft,
        other=Other(meeting.sibling, meeting.other_id),
        paths=(meeting.path, meeting.other_path),
        identical=(draft and draft.body) == (other and other.body) if both_created else None,
    )
