"""Path owners: whose approval the paths of a glob need (publication.md §4).

`*` stays within a segment, `**` crosses segments, `**/` also stands for no folder at all; every other character stands
for itself. Globs are matched on path keys, so that case and normal form do not matter.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from models.identifiers import UserId
from models.rules.paths import path_key

MAX_GLOB_CHARACTERS = 512

_UNKNOWN_TO_PATHS = frozenset('<>:"|?\\')  # no path holds one, so a glob with one would protect nothing
_PARTS = re.compile(r"(?:(?<=/)|^)\*\*+/|\*\*+|\*|[^*]")


@dataclass(frozen=True, slots=True)
class PathOwners:
    """Users, one of whom has to approve what touches a path of the glob."""

    glob: str
    users: tuple[UserId, ...]


def broken_glob_rule(glob: str) -> str | None:
    """The first rule that a glob breaks, or None; a glob that could match no path protects nothing and is refused."""
    if not glob:
        return "empty"
    if len(glob) > MAX_GLOB_CHARACTERS:
        return "too_long"
    if glob.startswith("/"):
        return "absolute"
    if not all(glob.split("/")):
        return "empty_segment"
    return "forbidden_character" if _UNKNOWN_TO_PATHS.intersection(glob) else None


def pattern_of(glob: str) -> str:
    """The regular expression of the path keys that a glob matches; PostgreSQL and Python read it alike.

    Python needs `re.DOTALL`, as PostgreSQL's `.` matches everything.
    """
    return f"^{_unanchored(glob)}$"


def pattern_of_any(globs: Iterable[str]) -> str:
    """The regular expression of the path keys that at least one of the globs matches."""
    return f"^(?:{'|'.join(_unanchored(glob) for glob in globs)})$"


def globs_of(owners: Iterable[PathOwners], user_id: UserId) -> list[str]:
    """The globs whose paths a user owns."""
    return [entry.glob for entry in owners if user_id in entry.users]


def uncovered(touched: Sequence[PathOwners], approvers: Collection[UserId]) -> list[str]:
    """The globs among those touched that none of their users has approved."""
    return [entry.glob for entry in touched if not set(entry.users).intersection(approvers)]


def _unanchored(glob: str) -> str:
    return "".join(map(_expression, _PARTS.findall(path_key(glob))))


def _expression(part: str) -> str:
    if part == "*":
        return "[^/]*"
    if part.startswith("**"):
        return "(?:.*/)?" if part.endswith("/") else ".*"
    # A backslash before a letter or digit would mean something else; PostgreSQL takes it before any other sign.
    return part if part.isalnum() or not part.isascii() else f"\\{part}"
