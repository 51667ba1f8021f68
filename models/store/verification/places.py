"""Places: paths and descriptions are as they were accepted, and no version has two Memories in each other's way.

In memory are the path keys of one version.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from sqlalchemy import RowMapping, text

from models.errors import OperationInvalid
from models.rules.bodies import accept_description
from models.rules.paths import accept_path, ancestor_keys, path_key
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

MOVES = text("""
    select from_version as version, true as opens, memory_id, path, path_key, description
    from memory_versions where org_id = :org_id
    union all
    select to_version, false, memory_id, null, path_key, null
    from memory_versions where org_id = :org_id and to_version is not null
    order by version, opens
""")


def check_places(snapshot: Snapshot) -> Iterator[Finding]:
    """Paths, keys and descriptions, and who stands where at every version of the organization."""
    standing = _Standing()
    for version, moves in groupby(snapshot.rows(MOVES), key=lambda row: row["version"]):
        arrived: list[tuple[str, str]] = []
        for row in moves:
            if not row["opens"]:
                standing.leave(row["path_key"], row["memory_id"])
                continue
            yield from _check_texts(row)
            other = standing.enter(row["path_key"], row["memory_id"])
            if other is not None:
                where = f"Memories {row['memory_id']} and {other} at version {version}"
                yield Finding("path.taken", "two Memories have one path key", where, "one", shown(row["path_key"]))
            arrived.append((row["path_key"], row["memory_id"]))
        for key, memory_id in arrived:
            other = standing.in_the_way(key)
            if other is not None:
                where = f"Memories {memory_id} and {other} at version {version}"
                yield Finding("path.folder", "one Memory is the folder of the other", where, "none", shown(key))


def check_path(path: str, where: str) -> Iterator[Finding]:
    """A stored path is one that is accepted, and as it is accepted."""
    try:
        accepted = accept_path(path)
    except OperationInvalid as refused:
        accepted = str(refused)
    if accepted != path:
        yield Finding("path.accepted", "a path is not as paths are accepted", where, shown(accepted), shown(path))


def check_description(description: str, where: str) -> Iterator[Finding]:
    """A stored description is one that is accepted, and as it is accepted."""
    try:
        accepted = accept_description(description)
    except OperationInvalid as refused:
        accepted = str(refused)
    if accepted != description:
        what = "a description is not as descriptions are accepted"
        yield Finding("description.accepted", what, where, shown(accepted), shown(description))


class _Standing:
    """Who stands at which path key at the version walked to, and how much lies in each folder."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: Counter[str] = Counter()

    def enter(self, key: str, memory_id: str) -> str | None:
        """Put a Memory at a key; whoever stands there already."""
        other = self._files.get(key)
        self._files[key] = memory_id
        self._folders.update(ancestor_keys(key))
        return other

    def leave(self, key: str, memory_id: str) -> None:
        if self._files.get(key) == memory_id:
            del self._files[key]
        for folder in ancestor_keys(key):
            self._folders[folder] -= 1
            if self._folders[folder] <= 0:
                del self._folders[folder]

    def in_the_way(self, key: str) -> str | None:
        """Somebody above the key, or the key itself where something lies in it."""
        above = (self._files[folder] for folder in ancestor_keys(key) if folder in self._files)
        return next(above, f"{self._folders[key]} others" if key in self._folders else None)


def _check_texts(row: RowMapping) -> Iterator[Finding]:
    where = f"Memory {row['memory_id']} from version {row['version']}"
    yield from check_path(row["path"], where)
    yield from check_description(row["description"], where)
    if path_key(row["path"]) != row["path_key"]:
        what = "the path key is not that of the path"
        yield Finding("path.key", what, where, shown(path_key(row["path"])), shown(row["path_key"]))
