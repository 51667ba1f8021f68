"""Paths that a Review's result would take twice, among its Drafts or with Current (publication.md §1, §4).

Looked at over the final state of the whole Review: what it moves away or deletes is in nobody's way.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from models.errors import PathCollision
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.conflicts import Comparison, Conflict, ConflictCode, ContestedField, Other
from models.rules.evaluation import Confirmed, Evaluation, Surroundings
from models.rules.occupancy import collisions_within, in_the_way
from models.rules.paths import path_key
from models.rules.states import State


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A Memory that a Draft placed, and another one in its way.

    `sibling` is the earlier Draft that placed the other one, or touched it where Current has it; None: it is there by
    Current alone, or by the same Draft. `moved_in`: Current put it there since the Draft's base.
    """

    draft_id: DraftId
    base_version: int
    memory_id: MemoryId
    path: str
    other_id: MemoryId
    other_path: str
    sibling: DraftId | None = None
    moved_in: bool = False

    @property
    def memory_ids(self) -> tuple[MemoryId, MemoryId]:
        return self.memory_id, self.other_id


def judge_places(evaluation: Evaluation, surroundings: Surroundings, confirmed: Confirmed) -> list[PathCollision]:
    """Make a conflict of every path that two Drafts take, or that was taken while a Draft fell behind.

    Returns:
        The other ones: taken twice by one Draft and by nobody else, by a state that was to resolve a conflict, or from
        what stood there when the Draft began.
    """
    placed, standing = _placed_and_standing(evaluation, surroundings, confirmed)
    with_siblings = list(_with_siblings(evaluation, placed))
    with_standing = list(_with_standing(evaluation, surroundings, placed, standing))
    changing = [each for each in with_standing if each.sibling or each.moved_in]
    asking = [each for each in (*with_siblings, *changing) if not _was_chosen(each, confirmed)]
    evaluation.needs_reconciliation |= {each.draft_id for each in asking}

    conflicts = [
        each
        for each in (*with_siblings, *with_standing)
        if each.draft_id in evaluation.needs_reconciliation and not _was_chosen(each, confirmed)
    ]
    _add_conflicts(evaluation, surroundings, conflicts)
    open_to_choice = {each.memory_id for each in conflicts}
    within = [each for each in _within_drafts(evaluation, placed) if open_to_choice.isdisjoint(each.memory_ids)]
    left = set(conflicts)
    return [_problem(each) for each in (*with_siblings, *within, *with_standing) if each not in left]


def _placed_and_standing(
    evaluation: Evaluation, surroundings: Surroundings, confirmed: Confirmed
) -> tuple[dict[MemoryId, State], dict[MemoryId, str]]:
    """What the Drafts moved or created, and the paths of what is left where Current has it.

    A Memory whose existence is contested stands nowhere until somebody has chosen.
    """
    contested = {
        conflict.memory_id
        for draft_id, reconciliation in evaluation.reconciliations.items()
        for conflict in reconciliation.conflicts
        if conflict.field is ContestedField.EXISTENCE and conflict.memory_id not in confirmed.get(draft_id, ())
    }
    there = {memory_id: state for memory_id, state in evaluation.states.items() if memory_id not in contested}
    placed = {memory_id: state for memory_id, state in there.items() if memory_id in evaluation.moved_by}
    left = {memory_id: state.path for memory_id, state in there.items() if state and memory_id not in placed}
    untouched = {
        memory_id: path for memory_id, path in surroundings.occupants.items() if memory_id not in evaluation.states
    }
    return placed, untouched | left


def _was_chosen(meeting: _Meeting, confirmed: Confirmed) -> bool:
    """Whether a confirmed state brought it about: the Draft's own, or a later Draft's for what stands there."""
    if meeting.memory_id in confirmed.get(meeting.draft_id, ()):
        return True
    return meeting.sibling is None and any(meeting.other_id in states for states in confirmed.values())


def _with_siblings(evaluation: Evaluation, placed: Mapping[MemoryId, State]) -> Iterator[_Meeting]:
    """Of every Memory that stands where an earlier Draft placed one, the meeting with the earliest."""
    order, paths = _order_of(evaluation), _paths(placed)
    turns = {memory_id: order[evaluation.moved_by[memory_id].draft_id] for memory_id in paths}
    earliest: dict[str, MemoryId] = {}
    for memory_id in sorted(paths, key=turns.__getitem__):
        earliest.setdefault(path_key(paths[memory_id]), memory_id)
    standing = {memory_id: paths[memory_id] for memory_id in earliest.values()}
    met = {key: min(found, key=turns.__getitem__) for key, found in in_the_way(list(paths.values()), standing).items()}
    for memory_id, path in paths.items():
        other_id = met[path_key(path)]
        if turns[other_id] < turns[memory_id]:
            sibling = evaluation.moved_by[other_id].draft_id
            yield replace(_meeting(evaluation, memory_id, path, other_id, paths[other_id]), sibling=sibling)


def _with_standing(
    evaluation: Evaluation,
    surroundings: Surroundings,
    placed: Mapping[MemoryId, State],
    standing: Mapping[MemoryId, str],
) -> Iterator[_Meeting]:
    """Of every Memory that stands where Current has others, one meeting, however many there are.

    First with one that an earlier Draft touched, which is there by that Draft as well, then with one that has changed
    since the base.
    """
    order, paths = _order_of(evaluation), _paths(placed)
    met = in_the_way(list(paths.values()), standing)
    touched_by = {memory_id: draft.draft_id for memory_id, draft in evaluation.first_touched_by.items()}
    for memory_id, path in paths.items():
        found = met[path_key(path)]
        if not found:
            continue
        draft = evaluation.moved_by[memory_id]
        turn, changed = order[draft.draft_id], surroundings.changed_since.get(draft.base_version, ())
        touched = next((one for one in found if one in touched_by and order[touched_by[one]] < turn), None)
        moved_in = next((one for one in found if one in changed), None)
        other_id = touched or moved_in or found[0]
        yield replace(
            _meeting(evaluation, memory_id, path, other_id, standing[other_id]),
            sibling=None if touched is None else touched_by[touched],
            moved_in=touched is None and moved_in is not None,
        )


def _within_drafts(evaluation: Evaluation, placed: Mapping[MemoryId, State]) -> Iterator[_Meeting]:
    """What single Drafts placed in each other's way."""
    of_drafts: dict[DraftId, dict[MemoryId, State]] = {}
    for memory_id, state in placed.items():
        of_drafts.setdefault(evaluation.moved_by[memory_id].draft_id, {})[memory_id] = state
    for states in of_drafts.values():
        for collision in collisions_within(states):
            memory_id, other_id = collision.occupants
            yield _meeting(evaluation, memory_id, collision.path, other_id, collision.other_path)


def _order_of(evaluation: Evaluation) -> dict[DraftId, int]:
    return {draft_id: number for number, draft_id in enumerate(evaluation.reconciliations)}


def _paths(states: Mapping[MemoryId, State]) -> dict[MemoryId, str]:
    return {memory_id: state.path for memory_id, state in states.items() if state is not None}


def _meeting(evaluation: Evaluation, memory_id: MemoryId, path: str, other_id: MemoryId, other_path: str) -> _Meeting:
    draft = evaluation.moved_by[memory_id]
    return _Meeting(draft.draft_id, draft.base_version, memory_id, path, other_id, other_path)


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


@dataclass(frozen=True, slots=True)
class _Others:
    """What stands in the way: its states now, and by base version those that stood then."""

    now: Mapping[MemoryId, State]
    then: Mapping[int, Collection[MemoryId]]

    @classmethod
    def of(cls, evaluation: Evaluation, surroundings: Surroundings, meetings: Collection[_Meeting]) -> "_Others":
        then = {(meeting.other_id, meeting.base_version) for meeting in meetings}
        untouched = {meeting.other_id for meeting in meetings} - evaluation.states.keys()
        now = {(memory_id, surroundings.version) for memory_id in untouched}
        states = surroundings.each_at(then | now)
        return cls(now={**states.get(surroundings.version, {}), **evaluation.states}, then=states)


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
