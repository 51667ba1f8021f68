"""What a file of an import changes, where the commit that it was taken from is known (publication.md §6).

Three states of a Memory are compared field by field: at the base, published now, and in the file. What the file says as
the base did is no change, so what others have published since stays. What both have changed, each in another way, is
left to a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from models.errors import ReconciliationRequired
from models.identifiers import CommitId
from models.rules.import_plans import ImportReport, StagedFile
from models.rules.states import MemoryState, State

V = TypeVar("V")

SHOWN_DIGITS = 12  # of a commit


@dataclass(frozen=True, slots=True)
class Compared:
    """The file with what is published now wherever it changes nothing, and the fields that both have changed."""

    file: StagedFile
    conflicts: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Field(Generic[V]):
    name: str
    ours: V
    was: V | None
    now: V

    @property
    def value(self) -> V:
        return self.now if self.ours == self.was else self.ours

    @property
    def conflicting(self) -> bool:
        return self.was not in (self.ours, self.now) and self.ours != self.now


def compare(file: StagedFile, was: State, now: MemoryState) -> Compared:
    """What the file makes of a Memory that exists now; what existed at no base has been made by both since."""
    body = now.body if file.body is None else file.body
    text = _Field("text", body, None if was is None else was.body, now.body)
    description = _Field("description", file.description, None if was is None else was.description, now.description)
    path = _Field("path", file.path, None if was is None else was.path, now.path)
    given = file.description is not None
    conflicts = [
        field.name for field in (text, description, path) if field.conflicting and (field is not description or given)
    ]
    merged = replace(file, path=path.value, body=text.value, description=description.value if given else None)
    return Compared(merged, conflicts)


def changes_nothing(file: StagedFile, was: MemoryState, now: MemoryState) -> bool:
    """Whether a Memory stays as it is published: each field is as the base was, or as it is now."""
    compared = compare(file, was, now)
    return not compared.conflicts and says_as(compared.file, now)


def says_as(file: StagedFile, was: MemoryState) -> bool:
    """Whether the file is as the Memory was at the base, or is now, in all that it says."""
    return (file.path, file.body) == (was.path, was.body) and file.description in (None, was.description)


def changed_fields(was: MemoryState, now: MemoryState) -> list[str]:
    """What of a Memory has changed since the base."""
    return [
        name
        for name, before, after in (
            ("text", was.body, now.body),
            ("description", was.description, now.description),
            ("path", was.path, now.path),
        )
        if before != after
    ]


def changed_by_both(file: StagedFile, commit_id: CommitId, fields: Sequence[str]) -> ImportReport:
    """The report of a file whose fields others have changed as well."""
    return _report(
        file.file_path,
        f"{file.path} was changed here and, {_since(commit_id)}, by others: its {_listed(fields)}; export again and"
        " carry your change over.",
    )


def deleted_by_others(file: StagedFile, commit_id: CommitId) -> ImportReport:
    """The report of a changed file whose Memory is deleted."""
    return _report(
        file.file_path,
        f"{file.path} was changed here and, {_since(commit_id)}, deleted by others; export again and carry your change"
        " over.",
    )


def changed_by_others(file_path: str, path: str, commit_id: CommitId, fields: Sequence[str]) -> ImportReport:
    """The report of a Memory that a mirror does not delete."""
    return _report(
        file_path,
        f"{path} was deleted here and, {_since(commit_id)}, changed by others: its {_listed(fields)}; export again and"
        " delete it then.",
    )


def _report(file_path: str, detail: str) -> ImportReport:
    return ImportReport(file_path, ReconciliationRequired.code, detail)


def _since(commit_id: CommitId) -> str:
    return f"since commit {commit_id[:SHOWN_DIGITS]}"


def _listed(fields: Sequence[str]) -> str:
    *most, last = fields
    return f"{', '.join(most)} and {last}" if most else last
