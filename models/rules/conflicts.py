"""What reconciliation finds: conflict records and their machine-applicable resolutions (reconciliation-table.md)."""

from dataclasses import dataclass, field
from enum import StrEnum

from models.identifiers import DraftId, MemoryId
from models.rules.states import State
from models.rules.text_merge import Hunk, Merge

ENGINE = "diff3-lines/1"
"""The merge rules and their version; a change of what they answer is another version."""


class ConflictCode(StrEnum):
    """Every way in which two changes need a person."""

    BODY_OVERLAP = "body.overlap"
    BODY_TOO_COMPLEX = "body.too_complex"
    DESCRIPTION_BOTH_CHANGED = "description.both_changed"
    PATH_BOTH_RENAMED = "path.both_renamed"
    PATH_OCCUPIED = "path.occupied"
    PATH_BOTH_CREATED = "path.both_created"
    DELETE_EDITED_UPSTREAM = "delete.edited_upstream"
    DELETE_RENAMED_UPSTREAM = "delete.renamed_upstream"
    EDIT_DELETED_UPSTREAM = "edit.deleted_upstream"
    RENAME_DELETED_UPSTREAM = "rename.deleted_upstream"


class ContestedField(StrEnum):
    """Which field of the Memory a record is about."""

    EXISTENCE = "existence"
    PATH = "path"
    DESCRIPTION = "description"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Other:
    """Who is on the other side: an earlier Draft, or, with None, what Current changed since the base.

    `memory_id` is the Memory that stands there: the same one, or the one whose path is contested.
    """

    draft_id: DraftId | None
    memory_id: MemoryId


@dataclass(frozen=True, slots=True)
class Resolution:
    """A proposal by name, with the state of the Memory that it settles, whole; None: it does not exist."""

    name: str
    state: State


@dataclass(frozen=True, slots=True)
class Conflict:
    """One record: a field of a Memory that two sides changed, with the three states it had.

    `paths` are the proposed path and the one in its way, of `path.occupied` and `path.both_created`; `identical` says
    of the latter that the texts are equal, `equivalent` of `path.both_renamed` that only case or normal form differ.
    """

    code: ConflictCode
    memory_id: MemoryId
    field: ContestedField
    base: State
    current: State
    draft: State
    other: Other
    hunks: tuple[Hunk, ...] = ()
    paths: tuple[str, str] | None = None
    identical: bool | None = None
    equivalent: bool | None = None
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A touched Memory in its four states; `proposed` counts only where no conflict names the Memory.

    `merge` is how the bodies went together, where they are contested.
    """

    memory_id: MemoryId
    base: State
    current: State
    draft: State
    proposed: State
    merge: Merge | None = None


@dataclass(slots=True)
class Reconciliation:
    """How one Draft stands to what plays Current for it.

    Args:
        draft_id: the Draft.
        comparisons: every Memory that it touches, in the order in which they are first named.
        conflicts: in the order of `comparisons`; empty when it is clean.
        asking: the Memories that bringing it up to date would not leave as the Draft has them.
    """

    draft_id: DraftId
    comparisons: list[Comparison] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    asking: list[MemoryId] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nobody has to choose anything."""
        return not self.conflicts
