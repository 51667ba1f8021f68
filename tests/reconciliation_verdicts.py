"""What a cell of reconciliation-table.md can say, as data; nothing of the product is imported."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from tests.reconciliation_steps import BASE, Document, Step, merged


@dataclass(frozen=True)
class Record:
    """One conflict that is expected, in the last Draft."""

    code: str
    memory: str
    field: str
    resolutions: tuple[str, ...]
    identical: bool | None = None
    equivalent: bool | None = None


@dataclass(frozen=True)
class Case:
    """One cell.

    Args:
        name: row, column and what the paths have to do with each other.
        current: what was published since the Drafts' base, or what an earlier Draft of the Review does.
        draft: what the Draft does that is judged.
        records: the conflicts, in order; none: it is clean.
        asks: whether, clean or not, a candidate has to be confirmed when `current` was published.
        collides: whether it is refused as `path_collision`, and there is nothing to confirm.
        result: what becomes of the Memories that the Draft touches, where it is clean; None: absent.
        needs_current: whether it is another case with an earlier Draft of the Review on the other side.
    """

    name: str
    current: tuple[Step, ...]
    draft: tuple[Step, ...]
    records: tuple[Record, ...] = ()
    asks: bool = False
    collides: bool = False
    result: Mapping[str, Document | None] | None = None
    needs_current: bool = False


TEXT = ("keep_current", "keep_draft")
OVERLAP = (*TEXT, "both_current_first", "both_draft_first")
STAYS_OR_MOVES = ("keep_current", "move")
DROPS_OR_MOVES = ("drop", "move")

DESCRIPTION_BOTH_CHANGED = Record("description.both_changed", "M", "description", TEXT)
BODY_OVERLAP = Record("body.overlap", "M", "body", OVERLAP)
PATH_BOTH_RENAMED = Record("path.both_renamed", "M", "path", TEXT)
DELETE_EDITED = Record("delete.edited_upstream", "M", "existence", ("keep_current", "delete"))
DELETE_RENAMED = replace(DELETE_EDITED, code="delete.renamed_upstream")
EDIT_DELETED = Record("edit.deleted_upstream", "M", "existence", ("drop", "restore"))
RENAME_DELETED = replace(EDIT_DELETED, code="rename.deleted_upstream")
CREATED_AT_OCCUPIED = Record("path.occupied", "X", "path", DROPS_OR_MOVES)
RENAMED_TO_OCCUPIED = Record("path.occupied", "M", "path", STAYS_OR_MOVES)
BOTH_CREATED = Record("path.both_created", "X", "path", DROPS_OR_MOVES, identical=False)


@dataclass(frozen=True)
class Verdict:
    """What a cell of the table says."""

    records: tuple[Record, ...] = ()
    asks: bool = False
    collides: bool = False
    needs_current: bool = False


CLEAN: Final = Verdict()
"""And the Draft is brought up to date without a word, since its result stays what it was."""
CONFIRM: Final = Verdict(asks=True)
"""Clean, but the result changes."""
COLLIDES: Final = Verdict(collides=True)


def conflict(record: Record) -> Verdict:
    return Verdict((record,), asks=True)


def a_case(name: str, current: tuple[Step, ...], draft: tuple[Step, ...], verdict: Verdict) -> Case:
    return Case(
        name,
        current,
        draft,
        records=verdict.records,
        asks=verdict.asks,
        collides=verdict.collides,
        needs_current=verdict.needs_current,
        result=None if verdict.records or verdict.collides else merged(BASE, current, draft),
    )
