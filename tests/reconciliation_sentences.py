"""What reconciliation-table.md says below its table, and its row "the same change", as data."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.reconciliation_steps import (
    ARCHIVED,
    DESCRIBE_OURS,
    DESCRIBE_THEIRS,
    EDIT_OURS,
    EDIT_THEIRS,
    ELSEWHERE,
    LINES,
    OVERLAPPING_LINES,
    TAKEN,
    THEIR_LINES,
    THIRD,
    P,
    Q,
    Step,
    create,
    delete,
    related,
    rename,
    restore,
    update,
)
from tests.reconciliation_verdicts import (
    BODY_OVERLAP,
    BOTH_CREATED,
    CLEAN,
    COLLIDES,
    CONFIRM,
    CREATED_AT_OCCUPIED,
    DELETE_EDITED,
    DESCRIPTION_BOTH_CHANGED,
    EDIT_DELETED,
    PATH_BOTH_RENAMED,
    RENAMED_TO_OCCUPIED,
    Case,
    Record,
    Verdict,
    a_case,
    conflict,
)


def the_sentences() -> Iterator[Case]:
    """What the lines below the table say, and the row "the same change"."""
    for name, current, draft, verdict in _SENTENCES:
        yield a_case(name, current, draft, verdict)


_EDIT_AND_RENAME: Final = (EDIT_OURS, rename("M", ELSEWHERE))
_INSIDE: Final = f"{Q}/inside.md"
_SENTENCES: Final[tuple[tuple[str, tuple[Step, ...], tuple[Step, ...], Verdict], ...]] = (
    ("the same edit of a body", (EDIT_OURS,), (EDIT_OURS,), CLEAN),
    ("the same description", (DESCRIBE_OURS,), (DESCRIBE_OURS,), CLEAN),
    (
        "the same document under two ids",
        (create("N", Q),),
        (create("X", Q),),
        conflict(replace(BOTH_CREATED, identical=True)),
    ),
    ("edits of the same lines", (EDIT_THEIRS,), (update("M", content=OVERLAPPING_LINES),), conflict(BODY_OVERLAP)),
    (
        "edits of lines next to each other",
        (update("M", content=LINES.replace("Test.\n", "Test all.\n")),),
        (update("M", content=LINES.replace("Test.\n\n", "Test.\n---\n")),),
        conflict(BODY_OVERLAP),
    ),
    (
        "a body on both sides, a description on one",
        (EDIT_THEIRS, DESCRIBE_THEIRS),
        (EDIT_OURS,),
        CONFIRM,
    ),
    (
        "every field on both sides",
        (update("M", content=THEIR_LINES, description="Theirs"), rename("M", Q)),
        (update("M", content=OVERLAPPING_LINES, description="Ours"), rename("M", ELSEWHERE)),
        Verdict((PATH_BOTH_RENAMED, DESCRIPTION_BOTH_CHANGED, BODY_OVERLAP), asks=True),
    ),
    (
        "a cleared description against another one",
        (DESCRIBE_THEIRS,),
        (update("M", description=""),),
        conflict(DESCRIPTION_BOTH_CHANGED),
    ),
    ("a cleared description against an edit of the body", (EDIT_THEIRS,), (update("M", description=""),), CONFIRM),
    ("edit and rename against a delete", (delete("M"),), _EDIT_AND_RENAME, conflict(EDIT_DELETED)),
    ("delete against edit and rename", _EDIT_AND_RENAME, (delete("M"),), conflict(DELETE_EDITED)),
    ("edit and rename against a rename", (rename("M", Q),), (EDIT_OURS, rename("M", Q)), CLEAN),
    ("a path that differs only in case, of one id", (EDIT_THEIRS,), (rename("M", related(P, "case")),), CONFIRM),
    ("a rename that leaves only the case to differ", (rename("M", related(P, "case")),), (EDIT_OURS,), CONFIRM),
    ("create and rename, and nothing upstream", (), (create("X", Q), rename("X", ELSEWHERE)), CLEAN),
    ("create and delete comes to nothing", (), (create("X", Q), delete("X"), EDIT_OURS), CLEAN),
    ("a file where Current has a folder", (create("N", _INSIDE),), (create("X", Q),), conflict(CREATED_AT_OCCUPIED)),
    (
        "a file inside what Current has as a file",
        (create("N", Q),),
        (create("X", _INSIDE),),
        conflict(CREATED_AT_OCCUPIED),
    ),
    (
        "a rename into what Current has as a file",
        (create("N", Q),),
        (rename("M", _INSIDE),),
        conflict(RENAMED_TO_OCCUPIED),
    ),
    ("a rename to where Current moved another", (rename("O", Q),), (rename("M", Q),), conflict(RENAMED_TO_OCCUPIED)),
    (
        "a rename to the path of what Current edited",
        (update("O", description="Edited"),),
        (rename("M", TAKEN),),
        conflict(RENAMED_TO_OCCUPIED),
    ),
    ("a rename to a path that Current freed", (rename("O", Q),), (rename("M", TAKEN),), CLEAN),
    ("a create at a path that Current's delete freed", (delete("O"),), (create("X", TAKEN),), CLEAN),
    ("a swap inside one Draft", (), (rename("M", TAKEN), rename("O", P)), CLEAN),
    ("a swap that Current edited halfway", (EDIT_THEIRS,), (rename("M", TAKEN), rename("O", P)), CONFIRM),
    (
        "a swap whose half Current moved",
        (rename("O", Q),),
        (rename("M", TAKEN), rename("O", P)),
        conflict(replace(PATH_BOTH_RENAMED, memory="O")),
    ),
    ("the same swap on both sides", (rename("M", TAKEN), rename("O", P)), (rename("O", P), rename("M", TAKEN)), CLEAN),
    ("a chain of renames", (), (rename("O", Q), rename("M", TAKEN), create("X", P)), CLEAN),
    ("a cycle of three", (), (rename("M", TAKEN), rename("O", THIRD), rename("T", P)), CLEAN),
    ("a path freed by a delete of the Draft", (), (delete("O"), rename("M", TAKEN)), CLEAN),
    (
        "a delete that frees a path, against an edit",
        (update("O", description="Edited"),),
        (delete("O"), rename("M", TAKEN)),
        conflict(replace(DELETE_EDITED, memory="O", resolutions=("move", "delete"))),
    ),
    ("a restore", (), (restore("A"),), CLEAN),
    ("a restore elsewhere, with other texts", (), (restore("A", Q, content="Ours.\n", description="Ours"),), CLEAN),
    ("a restore against the same restore", (restore("A"),), (restore("A"),), CLEAN),
    (
        "a restore against one elsewhere",
        (restore("A", Q),),
        (restore("A"),),
        conflict(replace(PATH_BOTH_RENAMED, memory="A")),
    ),
    (
        "a restore against one with another description",
        (restore("A", description="Theirs"),),
        (restore("A"),),
        conflict(replace(DESCRIPTION_BOTH_CHANGED, memory="A")),
    ),
    (
        "a restore against one with another body",
        (restore("A", content="Theirs.\n"),),
        (restore("A"),),
        conflict(replace(BODY_OVERLAP, memory="A")),
    ),
    (
        "a restore where Current created",
        (create("N", ARCHIVED),),
        (restore("A"),),
        conflict(replace(CREATED_AT_OCCUPIED, memory="A")),
    ),
    ("a restore where somebody stands", (), (restore("A", TAKEN),), COLLIDES),
    (
        "an edit against a delete whose path was taken",
        (delete("M"), create("N", P)),
        (EDIT_OURS,),
        conflict(EDIT_DELETED),
    ),
    (
        "a rename to a taken path, and a description on both sides",
        (DESCRIBE_THEIRS, create("N", Q)),
        (DESCRIBE_OURS, rename("M", Q)),
        Verdict((DESCRIPTION_BOTH_CHANGED, RENAMED_TO_OCCUPIED), asks=True),
    ),
    (
        "a taken path of a Draft that is asked for another reason",
        (EDIT_THEIRS,),
        (EDIT_OURS, create("X", TAKEN)),
        Verdict((CREATED_AT_OCCUPIED,), asks=True, needs_current=True),
    ),
    (
        "two that Current met one each",
        (EDIT_THEIRS, delete("O")),
        (update("M", content=OVERLAPPING_LINES), update("O", description="Ours")),
        Verdict((BODY_OVERLAP, replace(EDIT_DELETED, memory="O")), asks=True),
    ),
)


@dataclass(frozen=True)
class Series:
    """Drafts of one Review, on one base.

    Args:
        name: what it shows.
        drafts: in the order of the Review.
        records: the conflicts of the last Draft.
        code: the problem of a Review that is refused for another reason than a conflict.
    """

    name: str
    drafts: tuple[tuple[Step, ...], ...]
    records: tuple[Record, ...] = ()
    code: str | None = None


THE_SERIES: Final = (
    Series("a swap across two Drafts", ((rename("M", TAKEN),), (rename("O", P),))),
    Series("a cycle across three Drafts", ((rename("M", TAKEN),), (rename("O", THIRD),), (rename("T", P),))),
    Series("a chain, its end first", ((rename("O", Q),), (rename("M", TAKEN),), (create("X", P),))),
    Series("a chain, its end last", ((create("X", P),), (rename("M", TAKEN),), (rename("O", Q),))),
    Series("a path that a later Draft frees by a delete", ((create("X", TAKEN),), (delete("O"),))),
    Series("a path that an earlier Draft freed by a delete", ((delete("O"),), (create("X", TAKEN),))),
    Series(
        "what an earlier Draft creates is edited and renamed",
        ((create("X", Q),), (update("X", content="Newer.\n"),), (rename("X", ELSEWHERE),)),
    ),
    Series("what an earlier Draft creates is deleted", ((create("X", Q), EDIT_OURS), (delete("X"),))),
    Series("what no earlier Draft creates", ((EDIT_OURS,), (update("X", content="Newer.\n"),)), code="target_missing"),
    Series(
        "three Drafts that edit apart",
        ((EDIT_THEIRS,), (EDIT_OURS,), (update("M", content=LINES.replace("Build.", "Build all.")),)),
    ),
    Series(
        "the third against the first",
        ((EDIT_THEIRS,), (DESCRIBE_OURS,), (update("M", content=OVERLAPPING_LINES),)),
        (BODY_OVERLAP,),
    ),
    Series("the same path from two Drafts", ((create("N", Q),), (create("X", Q, "Ours.\n"),)), (BOTH_CREATED,)),
)
