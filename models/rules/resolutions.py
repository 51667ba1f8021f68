"""Resolutions: what a person may choose instead of a conflict, ready to be applied (reconciliation-table.md)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from models.identifiers import BlobId, MemoryId
from models.rules.conflicts import Conflict, ConflictCode, Reconciliation, Resolution
from models.rules.contests import Contest
from models.rules.free_paths import FreeAmong, Places
from models.rules.states import MemoryState, State
from models.rules.text_merge import Side
from models.rules.three_way import Read


def offer_resolutions(
    reconciliations: Sequence[Reconciliation],
    *,
    final: Mapping[MemoryId, State],
    free_among: FreeAmong,
    read: Read,
    texts: dict[BlobId, str],
) -> None:
    """Give every conflict of a Review's Drafts its resolutions.

    A resolution settles its Memory whole: what else is contested about it follows the same side. Whichever is chosen
    for each Memory, the result collides neither with Current nor within itself.

    Args:
        reconciliations: of the Drafts in order, complete but for the resolutions.
        final: the final state of every Memory that the Review touches.
        free_among: those of several paths that collide with no active Memory of Current, leaving out those that the
            Review touches.
        read: gives the text of any body in the comparisons, also of those that merging made.
        texts: takes the texts that the resolutions are made of.
    """
    if all(reconciliation.clean for reconciliation in reconciliations):
        return
    sides = [_sides_of(reconciliation, read, texts) for reconciliation in reconciliations]
    places = _places([each for of_draft in sides for each in of_draft.values()], final, free_among)
    for reconciliation, of_draft in zip(reconciliations, sides, strict=True):
        reconciliation.conflicts = [
            replace(conflict, resolutions=_resolutions(conflict, of_draft[conflict.memory_id], places))
            for conflict in reconciliation.conflicts
        ]


@dataclass(frozen=True, slots=True)
class _Sides:
    """A contested Memory as it would be if all followed one side, wherever it then stands."""

    contest: Contest
    current: State
    draft: State

    @property
    def memory_id(self) -> MemoryId:
        return self.contest.memory_id

    @property
    def returns(self) -> bool:
        """Whether anything may stand at the Draft's path by now: it is taken, or the Memory was deleted meanwhile."""
        return self.contest.path_is_taken or self.current is None


def _sides_of(reconciliation: Reconciliation, read: Read, texts: dict[BlobId, str]) -> dict[MemoryId, _Sides]:
    conflicts: dict[MemoryId, list[Conflict]] = {}
    for conflict in reconciliation.conflicts:
        conflicts.setdefault(conflict.memory_id, []).append(conflict)
    sides: dict[MemoryId, _Sides] = {}
    for comparison in reconciliation.comparisons:
        if about := conflicts.get(comparison.memory_id):
            contest = Contest(comparison, about, read, texts)
            sides[comparison.memory_id] = _Sides(contest, contest.on_side(Side.CURRENT), contest.on_side(Side.DRAFT))
    return sides


def _places(sides: Sequence[_Sides], final: Mapping[MemoryId, State], free_among: FreeAmong) -> Places:
    """Where all stand by the Drafts' own states, then where they could stay: both go before what is only free."""
    homeless = {each.memory_id for each in sides if each.contest.path_is_taken}
    standing = {memory_id: state.path for memory_id, state in final.items() if state and memory_id not in homeless}
    places = Places(free_among, standing)
    places.foresee((each.draft.path, each.memory_id) for each in sides if each.draft is not None and each.returns)
    for each in sides:
        if each.current is not None and places.is_kept(each.current.path, each.memory_id):
            places.keep(each.current.path, each.memory_id)
    return places


def _resolutions(conflict: Conflict, sides: _Sides, places: Places) -> tuple[Resolution, ...]:
    found: dict[str, State] = {}
    for name, state in _OFFERS[conflict.code](sides, places):
        found.setdefault(name, state)
    return tuple(Resolution(name, state) for name, state in found.items())


_Offers = Iterator[tuple[str, State]]


def _of_delete(sides: _Sides, places: Places) -> _Offers:
    yield from _named("keep_current", _staying(sides, places), sides.current)
    yield "delete", None


def _of_deleted(sides: _Sides, places: Places) -> _Offers:
    yield "drop", None
    if (restored := _as_drafted(sides, places)) is not None:
        yield "restore", restored


def _of_taken_path(sides: _Sides, places: Places) -> _Offers:
    if sides.current is None:
        yield "drop", None
    else:
        yield from _named("keep_current", _staying(sides, places), sides.current)
    if (moved := _as_drafted(sides, places)) is not None:
        yield "move", moved


def _of_both_renamed(sides: _Sides, places: Places) -> _Offers:
    yield from _named("keep_current", _staying(sides, places), sides.current)
    yield from _named("keep_draft", _as_drafted(sides, places), sides.draft)


def _of_text(sides: _Sides, places: Places) -> _Offers:
    """Of a description or a body, whatever path it has then."""
    if (current := _staying(sides, places)) is not None:
        yield "keep_current", current
    if (draft := _as_drafted(sides, places)) is not None:
        yield "keep_draft", draft


def _of_overlap(sides: _Sides, places: Places) -> _Offers:
    yield from _of_text(sides, places)
    draft = _as_drafted(sides, places)
    for name, current_first in (("both_current_first", True), ("both_draft_first", False)):
        body = sides.contest.body_of_both(current_first=current_first)
        if draft is not None and body is not None:
            yield name, replace(draft, body=body)


_OFFERS: Mapping[ConflictCode, Callable[[_Sides, Places], _Offers]] = {
    ConflictCode.BODY_OVERLAP: _of_overlap,
    ConflictCode.BODY_TOO_COMPLEX: _of_text,
    ConflictCode.DESCRIPTION_BOTH_CHANGED: _of_text,
    ConflictCode.PATH_BOTH_RENAMED: _of_both_renamed,
    ConflictCode.PATH_OCCUPIED: _of_taken_path,
    ConflictCode.PATH_BOTH_CREATED: _of_taken_path,
    ConflictCode.DELETE_EDITED_UPSTREAM: _of_delete,
    ConflictCode.DELETE_RENAMED_UPSTREAM: _of_delete,
    ConflictCode.EDIT_DELETED_UPSTREAM: _of_deleted,
    ConflictCode.RENAME_DELETED_UPSTREAM: _of_deleted,
}


def _named(name: str, offered: MemoryState | None, wanted: State) -> _Offers:
    """An offer by its name, or as a `move` if it had to leave the path that the name means."""
    if offered is not None:
        yield ("move" if wanted is not None and offered.path != wanted.path else name), offered


def _staying(sides: _Sides, places: Places) -> MemoryState | None:
    """The side of Current, where it stands unless the Review puts another Memory there."""
    return _placed(sides.memory_id, sides.current, places, is_free=places.is_kept)


def _as_drafted(sides: _Sides, places: Places) -> MemoryState | None:
    """The side of the Draft, at its own path unless that is taken."""
    return _placed(sides.memory_id, sides.draft, places, is_free=places.is_free if sides.returns else places.is_kept)


def _placed(
    memory_id: MemoryId, state: State, places: Places, *, is_free: Callable[[str, MemoryId], bool]
) -> MemoryState | None:
    if state is None:
        return None
    path = state.path if is_free(state.path, memory_id) else places.next_free(state.path, memory_id)
    if path is None:
        return None
    places.keep(path, memory_id)
    return replace(state, path=path)
