"""Which files of an import stand in each other's way, or in that of what is published (publication.md §1, §6).

A file that is left out gives places back: its Memory stays where it was, and perhaps another one is not deleted. What
wanted such a place is left out in turn. Each step looks up the places that were given back only, so that a chain of
renames that ends at an occupied path costs as little as any other import.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from models.identifiers import MemoryId
from models.rules.occupancy import collisions_among
from models.rules.paths import ancestor_keys, path_key

GivesBack = Callable[[str], Iterable[str]]

_FILE, _MEMORY = "file", "memory"


def left_out(
    wanted: Mapping[str, str], standing: Mapping[MemoryId, str], gives_back: GivesBack
) -> dict[str, list[str]]:
    """The files that cannot be taken, each with paths in its way; those that remain collide with nothing.

    Args:
        wanted: by file, the path where it is to stand.
        standing: the paths of Memories that neither move nor go; they do not collide with each other.
        gives_back: the paths that Memories stand at after all when a file is left out; asked once a file.
    """
    out = _at_first(wanted, standing)
    if not out:
        return out
    waiting = _Waiting({file: path for file, path in wanted.items() if file not in out})
    leaving = list(out)
    while leaving:
        for path in gives_back(leaving.pop()):
            for file in waiting.take_colliding(path_key(path)):
                out[file] = [path]
                leaving.append(file)
    return out


def _at_first(wanted: Mapping[str, str], standing: Mapping[MemoryId, str]) -> dict[str, list[str]]:
    memories = {(_MEMORY, str(memory_id)): path for memory_id, path in standing.items()}
    files = {(_FILE, file): path for file, path in wanted.items()}
    found: dict[str, list[str]] = defaultdict(list)
    for collision in collisions_among(memories | files):
        (kind, one), (other_kind, other) = collision.occupants
        if kind == _FILE:
            found[one].append(collision.other_path)
        if other_kind == _FILE:
            found[other].append(collision.path)
    return dict(found)


class _Waiting:
    """The files that still stand, in folder order: whatever lies at or in a folder is one run of them."""

    def __init__(self, wanted: Mapping[str, str]) -> None:
        places = sorted((_folder_order(path_key(path)), file) for file, path in wanted.items())
        self._keys = [key for key, _ in places]
        self._files = [file for _, file in places]
        self._next = list(range(len(places) + 1))  # to the next one that still stands, in few steps

    def take_colliding(self, key: str) -> Iterator[str]:
        """Take out the files at a path key, inside it as a folder, or at a folder that it lies in."""
        for folder in ancestor_keys(key):
            yield from self._take(_folder_order(folder), within=False)
        yield from self._take(_folder_order(key), within=True)

    def _take(self, key: str, *, within: bool) -> Iterator[str]:
        position = self._standing(bisect_left(self._keys, key))
        while position < len(self._keys):
            found = self._keys[position]
            if found != key and not (within and found.startswith(key + "\0")):
                return
            self._next[position] = position + 1
            yield self._files[position]
            position = self._standing(position)

    def _standing(self, position: int) -> int:
        while self._next[position] != position:
            self._next[position] = self._next[self._next[position]]
            position = self._next[position]
        return position


def _folder_order(key: str) -> str:
    # NUL sorts before every character of a path, so nothing comes between a folder and what lies in it.
    return key.replace("/", "\0")
