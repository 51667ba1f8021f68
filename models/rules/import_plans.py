"""What goes into the plan of an import and what comes out: values only (publication.md §6)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from models.identifiers import CommitId, MemoryId
from models.rules.folding import Action
from models.rules.states import Body, MemoryState


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Why a staged file is left out; `path` is the file's, below the prefix."""

    path: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A staged file; `path` is where its Memory is to stand, `file_path` the same below the prefix.

    `description` is None where none was given. `body` is None where it was reported when it was staged.
    """

    file_path: str
    path: str
    memory_id: MemoryId | None = None
    description: str | None = None
    body: Body | None = None
    report: ImportReport | None = None


@dataclass(frozen=True, slots=True)
class Base:
    """What the files were taken from; of it, too, only what they name or stand at, or what a mirror might delete.

    Args:
        commit_id: a commit of the organization or of the project.
        states: Memories that the organization had then.
        exported: those of them that an export of the commit holds: of a project's commit, what it selected then.
    """

    commit_id: CommitId
    states: Mapping[MemoryId, MemoryState]
    exported: Collection[MemoryId]


@dataclass(frozen=True, slots=True)
class Library:
    """What the files meet; only what they name, stand at, above or below, or would delete needs to be in it.

    Args:
        states: active Memories of the organization.
        selected: those of them that the project selects.
        archived: ids that files name and that belong to deleted Memories.
        base: what the files were taken from; None: unknown, and whatever differs from what is published is a change.
    """

    states: Mapping[MemoryId, MemoryState]
    selected: Collection[MemoryId]
    archived: Collection[MemoryId] = ()
    base: Base | None = None


@dataclass(frozen=True, slots=True)
class PlannedOperation:
    """A draft operation: `memory_id` is its target, or the id that a create carries; `path` where it comes to stand.

    `file_path` names the staged file whose text (`takes_content`) or description (`takes_description`) it takes; a
    create takes both, and an empty description where none was given; a restore takes the text.
    """

    action: Action
    memory_id: MemoryId | None = None
    path: str | None = None
    file_path: str | None = None
    takes_content: bool = False
    takes_description: bool = False


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """The same for people: at which path, from which path, of which Memory."""

    action: Action
    path: str
    from_path: str | None
    memory_id: MemoryId | None


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many changes of each kind, and how many files need none.

    What is restored is created; a Memory that moves and changes counts in both.
    """

    created: int
    updated: int
    renamed: int
    deleted: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What there is to do, in order; the operations of one Memory stand together and belong into one Draft.

    They come first, in pairs (`rename`, `update`), so that batches of an even number never part one.
    """

    operations: Sequence[PlannedOperation]
    changes: Sequence[PlannedChange]
    reports: Sequence[ImportReport]
    counts: ImportCounts
