"""Free paths: where a Memory may go that cannot go where it should."""

from collections.abc import Callable, Mapping

from models.identifiers import MemoryId


class Places:
    """The paths that stand, of Current and of a Review's result.

    Args:
        is_free: whether a path collides with no active Memory of Current, leaving out those that the Review touches.
        taken: the final path of every Memory that the Review touches and that exists in the end.
    """

    def __init__(self, is_free: Callable[[str], bool], taken: Mapping[MemoryId, str]) -> None:
        self._is_free = is_free
