"""Free paths: where a Memory may go that cannot go where it should (reconciliation-table.md, resolutions)."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import count

from models.identifiers import MemoryId
from models.rules.paths import ancestor_keys, broken_length_rule, path_key

_LONGEST_ENDING = 8


class Places:
    """The paths that stand, of Current and of a Review's result, and those that were offered to somebody.

    Args:
        is_free: whether a path collides with no active Memory of Current, leaving out those that the Review touches.
        taken: the final path of every Memory that the Review touches and that exists in the end.
    """

    def __init__(self, is_free: Callable[[str], bool], taken: Mapping[MemoryId, str]) -> None:
        self._is_free = is_free
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
        return self.is_kept(path, memory_id) and self._is_free(path)

    def next_free(self, path: str, memory_id: MemoryId) -> str | None:
        """The path itself if it is free, else the first free one of `name-2.md`, `name-3.md` and so on.

        Where a file stands in the place of a folder, it is the folder that gets the number. None: no such path has a
        form that is accepted.
        """
        if self.is_free(path, memory_id):
            return path
        segments = path.split("/")
        for depth in reversed(range(len(segments))):
            # A number here helps only if no file stands further up; a name that nobody has shows that.
            unheard_of = _numbered(segments, depth, sha256(path.encode()).hexdigest()[:8])
            if unheard_of is not None and self.is_free(unheard_of, memory_id):
                candidates = (_numbered(segments, depth, str(number)) for number in count(2))
                return next(found for found in candidates if found is not None and self.is_free(found, memory_id))
        return None


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
