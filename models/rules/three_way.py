"""Three-way comparison of one Memory, field by field (reconciliation-table.md, "One Memory").

Base is where the Draft started, Current what is there now or what an earlier Draft of the Review made of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from models.errors import OperationInvalid
from models.identifiers import BlobId, MemoryId
from models.rules.bodies import accept_body
from models.rules.conflicts import Conflict, ConflictCode, ContestedField, Other
from models.rules.hashes import body_of
from models.rules.paths import path_key
from models.rules.states import Body, MemoryState, State
from models.rules.text_merge import Hunk, Merge, merge

Read = Callable[[BlobId], str]
"""The text of a Body by its blob id; asked only where three bodies differ."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What comes of a Memory: each field as it merged, the Draft's where it is contested.

    `texts` has the text that merging made, if it made one, and `merge` how far it came with contested bodies.
    """

    proposed: State
    conflicts: tuple[Conflict, ...] = ()
    texts: Mapping[BlobId, str] = field(default_factory=dict)
    merge: Merge | None = None


def three_way(memory_id: MemoryId, *, base: State, current: State, draft: State, read: Read) -> Reconciled:
    """Bring two changes of a Memory together; the conflicts come without resolutions, and as if with the organization.

    Args:
        memory_id: the Memory that is compared.
        base: its state before both changes; None: it did not exist, or was archived.
        current: what the other side made of it.
        draft: what the Draft made of it.
        read: gives the texts of the three states.
    """
    if draft in (base, current):
        return Reconciled(current)
    if current == base:
        return Reconciled(draft)
    sides = _Sides(memory_id, base, current, draft)
    if current is None or draft is None:
        return Reconciled(draft, (sides.existence_conflict(),))
    return _field_by_field(sides, current, draft, read)


def texts_of(base: State, current: State, draft: State, read: Read) -> tuple[str, str, str]:
    """The texts of three states; a Memory that does not exist has no lines."""
    base_text, current_text, draft_text = (
        "" if state is None else read(state.body.blob_id) for state in (base, current, draft)
    )
    return base_text, current_text, draft_text


@dataclass(frozen=True, slots=True)
class _Sides:
    memory_id: MemoryId
    base: State
    current: State
    draft: State

    def conflict(
        self,
        code: ConflictCode,
        contested: ContestedField,
        *,
        hunks: tuple[Hunk, ...] = (),
        equivalent: bool | None = None,
    ) -> Conflict:
        return Conflict(
            code=code,
            memory_id=self.memory_id,
            field=contested,
            base=self.base,
            current=self.current,
            draft=self.draft,
            other=Other(None, self.memory_id),
            hunks=hunks,
            equivalent=equivalent,
        )

    def existence_conflict(self) -> Conflict:
        """One side deleted what the other changed: one record, however many fields that were."""
        if self.draft is None:
            edited = _is_edited(self.base, self.current)
            code = ConflictCode.DELETE_EDITED_UPSTREAM if edited else ConflictCode.DELETE_RENAMED_UPSTREAM
        else:
            edited = _is_edited(self.base, self.draft)
            code = ConflictCode.EDIT_DELETED_UPSTREAM if edited else ConflictCode.RENAME_DELETED_UPSTREAM
        return self.conflict(code, ContestedField.EXISTENCE)


def _is_edited(base: State, changed: State) -> bool:
    if base is None or changed is None:
        return True
    return (base.description, base.body) != (changed.description, changed.body)


def _field_by_field(sides: _Sides, current: MemoryState, draft: MemoryState, read: Read) -> Reconciled:
    base = sides.base
    path, path_conflicts = _path(sides, current, draft)
    before = "" if base is None else base.description
    description = _unless_both(before, current.description, draft.description)
    description_conflicts = (
        (sides.conflict(ConflictCode.DESCRIPTION_BOTH_CHANGED, ContestedField.DESCRIPTION),)
        if description is None
        else ()
    )
    bodies = _bodies(sides, current, draft, read)
    proposed = MemoryState(path, draft.description if description is None else description, bodies.body)
    conflicts = (*path_conflicts, *description_conflicts, *bodies.conflicts)
    return Reconciled(proposed, conflicts, bodies.texts, bodies.merge)


def _path(sides: _Sides, current: MemoryState, draft: MemoryState) -> tuple[str, tuple[Conflict, ...]]:
    path = _unless_both(None if sides.base is None else sides.base.path, current.path, draft.path)
    if path is not None:
        return path, ()
    equivalent = True if path_key(current.path) == path_key(draft.path) else None
    conflict = sides.conflict(ConflictCode.PATH_BOTH_RENAMED, ContestedField.PATH, equivalent=equivalent)
    return draft.path, (conflict,)


def _unless_both(base: str | None, current: str, draft: str) -> str | None:
    """The one change of an atomic value, or the same change on both sides; None: two changes."""
    if base == draft:
        return current
    return draft if current in (base, draft) else None


@dataclass(frozen=True, slots=True)
class _Bodies:
    body: Body
    conflicts: tuple[Conflict, ...] = ()
    texts: Mapping[BlobId, str] = field(default_factory=dict)
    merge: Merge | None = None


def _bodies(sides: _Sides, current: MemoryState, draft: MemoryState, read: Read) -> _Bodies:
    before = None if sides.base is None else sides.base.body
    if before == draft.body:
        return _Bodies(current.body)
    if current.body in (before, draft.body):
        return _Bodies(draft.body)
    merged = merge(*texts_of(sides.base, current, draft, read))
    if merged.hunks:
        overlap = sides.conflict(ConflictCode.BODY_OVERLAP, ContestedField.BODY, hunks=merged.hunks)
        return _Bodies(draft.body, (overlap,), merge=merged)
    text = accepted_text(merged.text)
    if text is None:
        too_complex = sides.conflict(ConflictCode.BODY_TOO_COMPLEX, ContestedField.BODY)
        return _Bodies(draft.body, (too_complex,), merge=merged)
    body = body_of(text)
    return _Bodies(body, texts={} if body in (current.body, draft.body) else {body.blob_id: text})


def accepted_text(text: str | None) -> str | None:
    """A merged text as a body is stored; None where none came of it, or it would break the limits of a body."""
    try:
        return None if text is None else accept_body(text)
    except OperationInvalid:
        return None
