"""Paths that a Review's result would take twice, among its Drafts or with Current (publication.md §1, §4).

Looked at over the final state of the whole Review: what it moves away or deletes is in nobody's way.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from models.errors import PathCollision
from models.identifiers import DraftId, MemoryId, final_id
from models.rules.conflicts import Comparison, Conflict, ConflictCode, ContestedField, Other
from models.rules.evaluation import Confirmed, Evaluation, Surroundings
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
    placed, standing = _placed_and_standing(evaluation, surroundings, confirmed)
    among_placed = [_among_placed(evaluation, collision) for collision in collisions_within(placed)]
    with_standing = [_with_standing(evaluation, collision) for collision in collisions_with(placed, standing)]
    siblings = {each for each in (*among_placed, *with_standing) if each.sibling not in (None, each.draft_id)}
    moved_in = {
        each for each in with_standing if each.other_id in surroundings.changed_since.get(each.base_version, ())
    }

    first = sorted(with_standing, key=lambda each: (each not in siblings, each not in moved_in))
    meetings = [*among_placed, *_one_a_memory(first)]
    open_to_choice = [each for each in meetings if each.sibling != each.draft_id and not _was_chosen(each, confirmed)]
    evaluation.needs_reconciliation |= {each.draft_id for each in open_to_choice if each in siblings | moved_in}
    conflicts = [each for each in open_to_choice if each.draft_id in evaluation.needs_reconciliation]
    _add_conflicts(evaluation, surroundings, conflicts)
    left = set(meetings).difference(conflicts)
    return [_problem(each) for each in meetings if each in left]


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
    return meeting.memory_id in confirmed.get(meeting.draft_id, ())


def _among_placed(evaluation: Evaluation, collision: Collision[MemoryId]) -> _Meeting:
    """Of two Drafts the later one placed its Memory in the way."""
    order, movers = list(evaluation.reconciliations), evaluation.moved_by
    later, earlier = sorted(collision.occupants, key=lambda memory_id: -order.index(movers[memory_id].draft_id))
    return replace(_meeting(evaluation, collision, memory_id=later), sibling=movers[earlier].draft_id)


def _with_standing(evaluation: Evaluation, collision: Collision[MemoryId]) -> _Meeting:
    """A Memory that an earlier Draft touched is there by that Draft as well."""
    meeting = _meeting(evaluation, collision, memory_id=collision.occupants[0])
    order, touching = list(evaluation.reconciliations), evaluation.first_touched_by.get(meeting.other_id)
    if touching is not None and order.index(touching.draft_id) < order.index(meeting.draft_id):
        return replace(meeting, sibling=touching.draft_id)
    return meeting


def _meeting(evaluation: Evaluation, collision: Collision[MemoryId], *, memory_id: MemoryId) -> _Meeting:
    draft = evaluation.moved_by[memory_id]
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
