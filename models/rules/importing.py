"""What an import comes to: staged files against what the organization publishes now (publication.md §6).

Pure: equal inputs give an equal plan, in an order that depends on paths only. A file that cannot be taken is reported
and left out; the Memory that it may stand for then stays as it is, neither moved nor deleted, and all else goes on.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from models.errors import DuplicateId, MemoryNotSelected, OperationInvalid, PathCollision
from models.identifiers import MemoryId
from models.rules.import_collisions import left_out
from models.rules.import_operations import Aim, plan_of_aims
from models.rules.import_plans import ImportPlan, ImportReport, Library, StagedFile
from models.rules.paths import path_key
from models.rules.states import Body, MemoryState

DELETED_DETAIL = "its id belongs to a deleted Memory; restore it"


def plan_files(files: Sequence[StagedFile], library: Library, *, prefix: str = "", mirror: bool = False) -> ImportPlan:
    """Plan what makes the project's published Memory say what the files say.

    Args:
        files: all that is staged, each path once, reported ones included.
        library: what is published.
        prefix: the folder that the files stand in; "" is the root.
        mirror: whether selected Memories under the prefix that no file names are deleted.

    Raises:
        OperationInvalid: more operations than a Review holds (`rule` `too_many`).
    """
    reports = {file.file_path: file.report for file in files if file.report is not None}
    reports |= _duplicate_ids(files, reports)
    aims, refused = _aims([file for file in files if file.file_path not in reports], files, library)
    reports |= refused
    deletions = _Deletions(_absent(files, library, prefix) if mirror else {})
    for file in files:
        if file.file_path in reports:
            deletions.spare(file)
    aims = _with_moves(aims, deletions)
    collided = _collisions(aims, deletions, library)
    reports |= collided
    taken = sorted((aim for aim in aims if aim.file.file_path not in collided), key=lambda aim: aim.file.path)
    return plan_of_aims(taken, deletions.states, reports)


def _duplicate_ids(files: Iterable[StagedFile], reported: Collection[str]) -> dict[str, ImportReport]:
    times = Counter(file.memory_id for file in files if file.memory_id is not None)
    return {
        file.file_path: ImportReport(
            file.file_path, DuplicateId.code, f"{file.memory_id} is the id of more than one file."
        )
        for file in files
        if file.memory_id is not None and times[file.memory_id] > 1 and file.file_path not in reported
    }


def _aims(
    readable: Iterable[StagedFile], files: Iterable[StagedFile], library: Library
) -> tuple[list[Aim], dict[str, ImportReport]]:
    """The file's Memory by its id, else the one at its path unless another file names that one by its id."""
    claimed = {file.memory_id for file in files if file.memory_id is not None}
    at_key = {
        path_key(state.path): memory_id for memory_id, state in library.states.items() if memory_id not in claimed
    }
    aims: list[Aim] = []
    refused: dict[str, ImportReport] = {}
    for file in readable:
        target = at_key.get(path_key(file.path)) if file.memory_id is None else file.memory_id
        before = None if target is None else library.states.get(target)
        report = _refusal(file, target, before, library)
        if report is not None:
            refused[file.file_path] = report
        elif file.body is not None:
            aims.append(Aim(file, file.body, None if before is None else target, before))
    return aims, refused


def _refusal(
    file: StagedFile, target: MemoryId | None, before: MemoryState | None, library: Library
) -> ImportReport | None:
    if before is None:
        deleted = file.memory_id in library.archived
        return ImportReport(file.file_path, OperationInvalid.code, DELETED_DETAIL) if deleted else None
    if target in library.selected:
        return None
    detail = f"{target} at {before.path} is not in the project's selection."
    return ImportReport(file.file_path, MemoryNotSelected.code, detail)


def _absent(files: Iterable[StagedFile], library: Library, prefix: str) -> dict[MemoryId, MemoryState]:
    """The selected Memories under the prefix that no file names, by its id or, without one, by its path."""
    folder = f"{path_key(prefix)}/" if prefix else ""
    ids = {file.memory_id for file in files}
    keys = {path_key(file.path) for file in files if file.memory_id is None}
    beneath = {memory_id: path_key(library.states[memory_id].path) for memory_id in library.selected}
    return {
        memory_id: library.states[memory_id]
        for memory_id, key in sorted(beneath.items())
        if key.startswith(folder) and memory_id not in ids and key not in keys
    }


class _Deletions:
    """The Memories that a mirror deletes; a file that is left out spares those that it may stand for."""

    def __init__(self, states: Mapping[MemoryId, MemoryState]) -> None:
        self.states = dict(states)
        self._at_key = {path_key(state.path): memory_id for memory_id, state in states.items()}
        self.with_body: dict[Body, list[MemoryId]] = defaultdict(list)
        for memory_id, state in states.items():
            self.with_body[state.body].append(memory_id)

    def spare(self, file: StagedFile) -> list[str]:
        """Keep the Memory at the file's path and, of a file without an id, those that say the same; their paths."""
        kept = {self._at_key.get(path_key(file.path))}
        if file.memory_id is None and file.body is not None:
            kept.update(self.with_body.get(file.body, ()))
        return [self.states.pop(memory_id).path for memory_id in kept if memory_id in self.states]


def _with_moves(aims: Sequence[Aim], deletions: _Deletions) -> list[Aim]:
    """One absent Memory and one new file without an id that say the same: the Memory has moved there."""
    new = [aim for aim in aims if aim.before is None and aim.file.memory_id is None]
    times = Counter(aim.body for aim in new)
    moved: dict[str, Aim] = {}
    for aim in new:
        absent = [memory_id for memory_id in deletions.with_body.get(aim.body, ()) if memory_id in deletions.states]
        if times[aim.body] == 1 and len(absent) == 1:
            moved[aim.file.file_path] = replace(aim, target=absent[0], before=deletions.states.pop(absent[0]))
    return [moved.get(aim.file.file_path, aim) for aim in aims]


def _collisions(aims: Sequence[Aim], deletions: _Deletions, library: Library) -> dict[str, ImportReport]:
    """The files that cannot stand where they are to; `deletions` loses what they spare."""
    by_file = {aim.file.file_path: aim for aim in aims}
    touched = {aim.target for aim in aims} | set(deletions.states)
    standing = {memory_id: state.path for memory_id, state in library.states.items() if memory_id not in touched}

    def gives_back(file_path: str) -> Iterator[str]:
        aim = by_file[file_path]
        if aim.before is not None:
            yield aim.before.path
        yield from deletions.spare(aim.file)

    found = left_out({file_path: aim.file.path for file_path, aim in by_file.items()}, standing, gives_back)
    return {file_path: _collision_report(by_file[file_path].file, others) for file_path, others in found.items()}


MAX_NAMED = 5


def _collision_report(file: StagedFile, others: Sequence[str]) -> ImportReport:
    named = ", ".join(sorted(set(others))[:MAX_NAMED])
    more = len(set(others)) - MAX_NAMED
    others_too = f" and {more} more" if more > 0 else ""
    detail = f"{file.path} cannot stand beside {named}{others_too}."
    return ImportReport(file.file_path, PathCollision.code, detail)
