"""Occupancy: no two Memories at one path key, none inside another (publication.md §1).

Paths are walked in folder order (a folder directly before all that lies in it), so that everything a path
collides with is on a stack of open folders: O(n log n) however many there are.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from models.identifiers import MemoryId
from models.rules.paths import ancestor_keys, path_key
from models.rules.states import State

K = TypeVar("K")
"""What stands at a path is told by: any values that can be ordered, of a Memory its id."""


@dataclass(frozen=True, slots=True)
class Collision(Generic[K]):
    """Two that no disk could hold together: equal path keys, or one the other's folder.

    `occupants` are those at `path` and at `other_path`, in this order.
    """

    path: str
    other_path: str
    occupants: tuple[K, K]


@dataclass(frozen=True, slots=True)
class _Place(Generic[K]):
    key: str
    occupant: K
    path: str
    proposed: bool = True

    def holds(self, other: "_Place[K]") -> bool:
        return other.key.startswith(self.key) and other.key[len(self.key) : len(self.key) + 1] in {"", "/"}


def collisions_within(states: Mapping[MemoryId, State]) -> list[Collision[MemoryId]]:
    """The collisions among final states, in folder order; empty exactly if there are none.

    Each Memory is named with the nearest one before it that it collides with, not with all: n Memories
    at one path make n - 1 collisions.
    """
    return collisions_among({memory_id: state.path for memory_id, state in states.items() if state is not None})


def collisions_among(paths: Mapping[K, str]) -> list[Collision[K]]:
    """The same among the paths of whatever is to stand together."""
    found: list[Collision[K]] = []
    for place, folders in _walk(_Place(path_key(path), occupant, path) for occupant, path in paths.items()):
        if folders:
            found.append(_collision(folders[-1], place))
    return found


def probe_keys(states: Mapping[MemoryId, State]) -> tuple[str, ...]:
    """The path keys to look up in Current, sorted: as themselves, as a folder, and under their ancestors."""
    return tuple(sorted({place.key for place in _places(states)}))


def collisions_with(states: Mapping[MemoryId, State], occupants: Mapping[MemoryId, str]) -> list[Collision[MemoryId]]:
    """The collisions of final states (first in each) with active Memories of Current, in folder order.

    Empty exactly if there are none, and complete if neither side collides within itself.

    Args:
        states: the final states; a Memory in them no longer stands where Current has it.
        occupants: paths of Current by id; at least those that `probe_keys` leads to.
    """
    standing = [
        _Place(path_key(path), memory_id, path, proposed=False)
        for memory_id, path in occupants.items()
        if memory_id not in states
    ]
    found: list[Collision[MemoryId]] = []
    for place, folders in _walk([*_places(states), *standing]):
        if folders and folders[-1].proposed != place.proposed:
            proposed, occupant = (place, folders[-1]) if place.proposed else (folders[-1], place)
            found.append(_collision(proposed, occupant))
    return found


def in_the_way(paths: Collection[str], standing: Mapping[K, str]) -> dict[str, list[K]]:
    """By the key of each path, whatever stands there, above or below it, in folder order."""
    placed = sorted((_as_folders(path_key(path)), occupant) for occupant, path in standing.items())
    keys = [key for key, _ in placed]

    def between(first: str, end: str) -> list[K]:
        return [occupant for _, occupant in placed[bisect_left(keys, first) : bisect_left(keys, end)]]

    found: dict[str, list[K]] = {}
    for key in {path_key(path) for path in paths}:
        folders = map(_as_folders, ancestor_keys(key))
        above = [occupant for folder in folders for occupant in between(folder, folder + "\0")]
        own = _as_folders(key)
        found[key] = above + between(own, own + "\1")
    return found


def _places(states: Mapping[MemoryId, State]) -> list[_Place[MemoryId]]:
    return [
        _Place(path_key(state.path), memory_id, state.path) for memory_id, state in states.items() if state is not None
    ]


def _walk(places: Iterable[_Place[K]]) -> Iterator[tuple[_Place[K], list[_Place[K]]]]:
    """Each place with the places before it that hold it, outermost first."""
    folders: list[_Place[K]] = []
    for place in sorted(places, key=_folder_order):
        while folders and not folders[-1].holds(place):
            folders.pop()
        yield place, folders
        folders.append(place)


def _folder_order(place: _Place[K]) -> tuple[str, K]:
    return _as_folders(place.key), place.occupant


def _as_folders(key: str) -> str:
    """NUL sorts before every character of a path, so nothing comes between a folder and what lies in it."""
    return key.replace("/", "\0")


def _collision(place: _Place[K], other: _Place[K]) -> Collision[K]:
    return Collision(place.path, other.path, (place.occupant, other.occupant))
