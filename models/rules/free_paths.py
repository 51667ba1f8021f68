"""Free paths: where a Memory may go that cannot go where it should (reconciliation-table.md, resolutions)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from models.identifiers import MemoryId
from models.rules.paths import ancestor_keys, broken_length_rule, path_key

_LONGEST_ENDING = 8

NUMBERS = range(2, 1026)
"""The numbers that are tried; where all are taken, a name that nobody has heard of goes before a search without end."""

AT_ONCE = 32
"""So many paths are asked about in one look-up once the first numbers are taken."""

FIRST_NUMBERS = 4

FreeAmong = Callable[[Collection[str]], Collection[str]]
"""Those of several paths that collide with no active Memory of Current, leaving out those that the Review touches."""


class Places:
    """The paths that stand, of Current and of a Review's result, and those that were offered to somebody.

    Args:
        free_among: those of several paths that are free in Current; asked once about each path.
        taken: the final path of every Memory that the Review touches and that exists in the end.
    """

    def __init__(self, free_among: FreeAmong, taken: Mapping[MemoryId, str]) -> None:
        self._free_among = free_among
        self._free_in_current: dict[str, bool] = {}
        self._at: dict[str, set[MemoryId]] = defaultdict(set)
        self._inside: dict[str, set[MemoryId]] = defaultdict(set)
        for memory_id, path in taken.items():
            self.keep(path, memory_id)

    def keep(self, path: str, memory_id: MemoryId) -> None:
        """Take a path for a Memory, which may have several to choose from."""
        key = path_key(path)
        self._at[key].add(memory_id)
        for folder in ancestor_keys(key):
            self._inside[folder].add(memory_id)

    def is_kept(self, path: str, memory_id: MemoryId) -> bool:
        """Whether no other Memory of the Review could stand in the way there."""
        key = path_key(path)
        holders = [self._inside.get(key, set()), *(self._at.get(at, set()) for at in (key, *ancestor_keys(key)))]
        return all(holder <= {memory_id} for holder in holders)

    def is_free(self, path: str, memory_id: MemoryId) -> bool:
        """The same, and nothing of Current stands there either."""
        return bool(self._free([path], memory_id))

    def foresee(self, wanted: Iterable[tuple[str, MemoryId]]) -> None:
        """Ask in one look-up what the next free paths of many Memories will mostly need to know."""
        self._ask({candidate for path, memory_id in wanted for candidate in _first_candidates(path, memory_id)})

    def next_free(self, path: str, memory_id: MemoryId) -> str | None:
        """The path itself if it is free, else the first free one of `name-2.md`, `name-3.md` and so on.

        Where a file stands in the place of a folder, it is the folder that gets the number. After the last of `NUMBERS`
        comes a hash. None: no such path has a form that is accepted.
        """
        self.foresee([(path, memory_id)])
        if self.is_free(path, memory_id):
            return path
        segments = path.split("/")
        for depth, unheard_of in _unheard_of(path, memory_id).items():
            # A number here helps only if no file stands further up; a name that nobody has shows that.
            if self.is_free(unheard_of, memory_id):
                return self._lowest_number(segments, depth, memory_id) or unheard_of
        return None

    def _lowest_number(self, segments: Sequence[str], depth: int, memory_id: MemoryId) -> str | None:
        first = NUMBERS[:FIRST_NUMBERS]
        others = NUMBERS[FIRST_NUMBERS:]
        for numbers in (first, *(others[start : start + AT_ONCE] for start in range(0, len(others), AT_ONCE))):
            if free := self._free(_all_numbered(segments, depth, numbers), memory_id):
                return free[0]
        return None

    def _free(self, paths: Sequence[str], memory_id: MemoryId) -> list[str]:
        kept = [path for path in paths if self.is_kept(path, memory_id)]
        self._ask(kept)
        return [path for path in kept if self._free_in_current[path]]

    def _ask(self, paths: Iterable[str]) -> None:
        unknown = sorted({path for path in paths if path not in self._free_in_current})
        if unknown:
            free = set(self._free_among(unknown))
            self._free_in_current |= {path: path in free for path in unknown}


def _first_candidates(path: str, memory_id: MemoryId) -> list[str]:
    segments = path.split("/")
    numbered = _all_numbered(segments, len(segments) - 1, NUMBERS[:FIRST_NUMBERS])
    return [path, *_unheard_of(path, memory_id).values(), *numbered]


def _unheard_of(path: str, memory_id: MemoryId) -> dict[int, str]:
    """By segment, from the last, the path with a hash there."""
    segments = path.split("/")
    number = sha256(f"{memory_id}/{path}".encode()).hexdigest()[:8]
    by_depth = {depth: _numbered(segments, depth, number) for depth in reversed(range(len(segments)))}
    return {depth: found for depth, found in by_depth.items() if found is not None}


def _all_numbered(segments: Sequence[str], depth: int, numbers: Iterable[int]) -> list[str]:
    return [found for number in numbers if (found := _numbered(segments, depth, str(number))) is not None]


def _numbered(segments: Sequence[str], depth: int, number: str) -> str | None:
    """The path with `-number` at one segment, whose name loses its end where the limits ask for it.

    None: nothing of the name would be left.
    """
    stem, ending = _split(segments[depth])
    end = f"-{number}{ending}"
    while stem:
        path = "/".join([*segments[:depth], stem + end, *segments[depth + 1 :]])
        if broken_length_rule(path) is None:
            return path
        stem = stem[:-1]
    return None


def _split(name: str) -> tuple[str, str]:
    """A name and its ending, as `.md`; a name without one, or all ending, has none."""
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem and len(ending) <= _LONGEST_ENDING else (name, "")
