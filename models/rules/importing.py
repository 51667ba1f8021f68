"""What an import comes to: staged files against what the organization publishes now (publication.md §6).

Pure: equal inputs give an equal plan, in an order that depends on paths only. A file that cannot be taken is reported
and left out; the Memory that it may stand for then stays as it is, neither moved nor deleted, and all else goes on.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from models.errors import DuplicateId, MemoryNotSelected, PathCollision
from models.identifiers import MemoryId
from models.rules.import_bases import changed_by_both, changes_nothing, compare, deleted_by_others, says_as
from models.rules.import_collisions import left_out
from models.rules.import_deletions import Deletions, absent
from models.rules.import_operations import Aim, plan_of_aims
from models.rules.import_plans import Base, ImportPlan, ImportReport, Library, StagedFile
from models.rules.import_targets import Targets, memories_at, targets_of
from models.rules.paths import path_key
from models.rules.states import MemoryState

REMOVE_ID = "remove the `id:` line from the copy"
SELECT_IT = "select it first (PUT /v1/api/projects/{id}/org-selections)"


def plan_files(files: Sequence[StagedFile], library: Library, *, prefix: str = "", mirror: bool = False) -> ImportPlan:
    """Plan what makes the project's published Memory say what the files say.

    Args:
        files: all that is staged, each path once, reported ones included.
        library: what is published, and the base where it is known.
        prefix: the folder that the files stand in; "" is the root.
        mirror: whether selected Memories under the prefix that no file names are deleted; with a base, those of it.

    Raises:
        OperationInvalid: more operations than a Review holds (`rule` `too_many`).
    """
    reports = {file.file_path: file.report for file in files if file.report is not None}
    reports |= _duplicate_ids(files, reports)
    targets = targets_of(files, library)
    found = _aims([file for file in files if file.file_path not in reports], targets, library)
    reports |= found.reports
    deletions = Deletions(absent(files, targets, library, prefix) if mirror else {}, library)
    for file in files:
        if file.file_path in reports:
            deletions.spare(file)
    _follow_moves(found, deletions, library)
    reports |= found.reports
    reports |= deletions.spare_changed(prefix, taken={file.file_path for file in files})
    collided = _collisions(found.aims, deletions, library)
    reports |= collided
    taken = sorted((aim for aim in found.aims if aim.file.file_path not in collided), key=lambda aim: aim.file.path)
    return plan_of_aims(taken, deletions.states, reports, settled=found.settled)


def _duplicate_ids(files: Iterable[StagedFile], reported: Collection[str]) -> dict[str, ImportReport]:
    times = Counter(file.memory_id for file in files if file.memory_id is not None)
    return {
        file.file_path: ImportReport(
            file.file_path, DuplicateId.code, f"{file.memory_id} is the id of more than one file; {REMOVE_ID}."
        )
        for file in files
        if file.memory_id is not None and times[file.memory_id] > 1 and file.file_path not in reported
    }


@dataclass(slots=True)
class _Found:
    """What the files come to: aims, reports of those that are left out, and how many need nothing."""

    aims: list[Aim] = field(default_factory=list)
    reports: dict[str, ImportReport] = field(default_factory=dict)
    settled: int = 0

    def add(self, file: StagedFile, outcome: Aim | ImportReport | None) -> None:
        if isinstance(outcome, Aim):
            self.aims.append(outcome)
        elif outcome is None:
            self.settled += 1
        else:
            self.reports[file.file_path] = outcome


def _aims(readable: Iterable[StagedFile], targets: Targets, library: Library) -> _Found:
    named = set(targets.values())
    unnamed = memories_at(library.states, without=named)
    found = _Found()
    for file in readable:
        target = targets[file.file_path]
        before = None if target is None else library.states.get(target)
        if target is None or before is None:
            outcome = _new(file, target, unnamed.get(path_key(file.path)), library)
        elif target not in library.selected:
            outcome = _not_selected(file, target, before, library.base)
        else:
            outcome = _changed(file, target, before, library.base)
        found.add(file, outcome)
    return found


def _new(
    file: StagedFile, target: MemoryId | None, standing: MemoryId | None, library: Library
) -> Aim | ImportReport | None:
    """A file whose Memory is not there: new, or deleted and now restored; `standing`: who is there and is not named."""
    base = library.base
    was = None if base is None or target is None else base.states.get(target)
    if base is not None and was is not None:
        return None if says_as(file, was) else deleted_by_others(file, base.commit_id)
    if file.memory_id in library.archived:
        return replace(_aim(file), restores=True)
    if standing is not None:
        detail = (
            f"the id {file.memory_id} in the file is unknown here, and {file.path} is the place of {standing}: correct"
            " or remove the id"
        )
        return ImportReport(file.file_path, PathCollision.code, detail)
    return _aim(file)


def _not_selected(file: StagedFile, target: MemoryId, before: MemoryState, base: Base | None) -> ImportReport | None:
    """A file whose Memory the project may not change, or at whose path such a one stands; None: it changes nothing."""
    was = None if base is None else base.states.get(target)
    if was is not None and changes_nothing(file, was, before):
        return None
    if file.memory_id is None and (was is None or path_key(was.path) != path_key(file.path)):
        detail = (
            f"{file.path} is another document's path in this organization, which this project does not use; import"
            f" under another path (--prefix) or select it ({target}) to change it."
        )
        return ImportReport(file.file_path, PathCollision.code, detail)
    detail = f"{target} at {before.path} is not in the project's selection; {SELECT_IT}."
    return ImportReport(file.file_path, MemoryNotSelected.code, detail)


def _changed(file: StagedFile, target: MemoryId, before: MemoryState, base: Base | None) -> Aim | ImportReport | None:
    """What a file makes of its Memory; None: nothing, and others have moved it."""
    if base is None:
        return _aim(file, target, before)
    compared = compare(file, base.states.get(target), before)
    if compared.conflicts:
        return changed_by_both(file, base.commit_id, compared.conflicts)
    aim = _aim(compared.file, target, before)
    stays = not (aim.moves or aim.takes_content or aim.takes_description)
    return None if stays and compared.file.path != file.path else aim


def _aim(file: StagedFile, target: MemoryId | None = None, before: MemoryState | None = None) -> Aim:
    if file.body is None:
        raise AssertionError("a file without a text is reported")
    return Aim(file, file.body, target, before)


def _follow_moves(found: _Found, deletions: Deletions, library: Library) -> None:
    """One absent Memory and one new file without an id that say the same: the Memory has moved there."""
    new = [aim for aim in found.aims if aim.before is None and aim.file.memory_id is None]
    times = Counter(aim.body for aim in new)
    moved: dict[str, MemoryId] = {}
    for aim in new:
        says_it = deletions.saying(aim.body)
        if times[aim.body] == 1 and len(says_it) == 1:
            moved[aim.file.file_path] = says_it[0]
    stay = [aim for aim in found.aims if aim.file.file_path not in moved]
    gone = [aim for aim in found.aims if aim.file.file_path in moved]
    found.aims = stay
    for aim in gone:
        target = moved[aim.file.file_path]
        found.add(aim.file, _changed(aim.file, target, deletions.states.pop(target), library.base))


def _collisions(aims: Sequence[Aim], deletions: Deletions, library: Library) -> dict[str, ImportReport]:
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
    detail = f"{file.path} cannot stand beside {named}{others_too}; rename one of them."
    return ImportReport(file.file_path, PathCollision.code, detail)
