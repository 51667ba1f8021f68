"""Every outcome of reconciliation-table.md as data: what Current did, what the Draft did, and what comes of it.

Nothing of the product is imported: the rules and the API are driven by the same cases.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tests.reconciliation_sentences import the_sentences
from tests.reconciliation_steps import (
    DESCRIBE_OURS,
    DESCRIBE_THEIRS,
    EDIT_OURS,
    EDIT_THEIRS,
    TAKEN,
    P,
    Q,
    Step,
    create,
    delete,
    related,
    rename,
)
from tests.reconciliation_verdicts import (
    BOTH_CREATED,
    CLEAN,
    COLLIDES,
    CONFIRM,
    CREATED_AT_OCCUPIED,
    DELETE_EDITED,
    DELETE_RENAMED,
    DESCRIPTION_BOTH_CHANGED,
    EDIT_DELETED,
    PATH_BOTH_RENAMED,
    RENAME_DELETED,
    RENAMED_TO_OCCUPIED,
    Case,
    Verdict,
    a_case,
    conflict,
)

RELATIONS: Final = ("same", "other", "case", "normal form")


ROWS: Final[Mapping[str, tuple[Step, ...]]] = {
    "nothing": (),
    "edit body": (EDIT_THEIRS,),
    "edit description": (DESCRIBE_THEIRS,),
    "rename": (rename("M", Q),),
    "delete": (delete("M"),),
    "create": (create("N", Q),),
}
COLUMNS: Final[Mapping[str, Step]] = {
    "edit body": EDIT_OURS,
    "edit description": DESCRIBE_OURS,
    "delete": delete("M"),
}


ONE_MEMORY: Final[Mapping[tuple[str, str], Verdict]] = {
    ("nothing", "edit body"): CLEAN,
    ("nothing", "edit description"): CLEAN,
    ("nothing", "delete"): CLEAN,
    ("edit body", "edit body"): CONFIRM,
    ("edit body", "edit description"): CONFIRM,
    ("edit body", "delete"): conflict(DELETE_EDITED),
    ("edit description", "edit body"): CONFIRM,
    ("edit description", "edit description"): conflict(DESCRIPTION_BOTH_CHANGED),
    ("edit description", "delete"): conflict(DELETE_EDITED),
    ("rename", "edit body"): CONFIRM,
    ("rename", "edit description"): CONFIRM,
    ("rename", "delete"): conflict(DELETE_RENAMED),
    ("delete", "edit body"): conflict(EDIT_DELETED),
    ("delete", "edit description"): conflict(EDIT_DELETED),
    ("delete", "delete"): CLEAN,
    ("create", "edit body"): CLEAN,
    ("create", "edit description"): CLEAN,
    ("create", "delete"): CLEAN,
}
"""Current's change of M (or what it created) against a change of M that has nothing to do with another path."""

EVERYWHERE: Final = dict.fromkeys(RELATIONS, CLEAN)
TAKEN_BUT_ELSEWHERE: Final[Mapping[str, Verdict]] = {
    relation: CLEAN if relation == "other" else conflict(CREATED_AT_OCCUPIED) for relation in RELATIONS
}

RENAMES: Final[Mapping[tuple[str, str], Mapping[str, Verdict]]] = {
    ("nothing", "p"): EVERYWHERE,
    ("nothing", "q"): EVERYWHERE,
    ("nothing", "taken"): {relation: CLEAN if relation == "other" else COLLIDES for relation in RELATIONS},
    ("edit body", "q"): dict.fromkeys(RELATIONS, CONFIRM),
    ("edit body", "p"): dict.fromkeys(RELATIONS, CONFIRM),
    ("edit description", "q"): dict.fromkeys(RELATIONS, CONFIRM),
    ("rename", "q"): {
        "same": CLEAN,
        "other": conflict(PATH_BOTH_RENAMED),
        "case": conflict(replace(PATH_BOTH_RENAMED, equivalent=True)),
        "normal form": CLEAN,
    },
    ("delete", "q"): dict.fromkeys(RELATIONS, conflict(RENAME_DELETED)),
    ("create", "q"): {
        relation: CLEAN if relation == "other" else conflict(RENAMED_TO_OCCUPIED) for relation in RELATIONS
    },
}
"""By what Current did and the path that the Draft's rename of M has to do with, in each relation."""

CREATES: Final[Mapping[tuple[str, str], Mapping[str, Verdict]]] = {
    ("nothing", "p"): {relation: CLEAN if relation == "other" else COLLIDES for relation in RELATIONS},
    ("edit body", "p"): TAKEN_BUT_ELSEWHERE,
    ("edit description", "p"): TAKEN_BUT_ELSEWHERE,
    ("rename", "p"): EVERYWHERE,
    ("rename", "q"): TAKEN_BUT_ELSEWHERE,
    ("delete", "p"): EVERYWHERE,
    ("create", "p"): {relation: CLEAN if relation == "other" else COLLIDES for relation in RELATIONS},
    ("create", "q"): {relation: CLEAN if relation == "other" else conflict(BOTH_CREATED) for relation in RELATIONS},
}
"""The same of what the Draft creates."""

_PATHS: Final = {"p": P, "q": Q, "taken": TAKEN}


def the_cases() -> Iterator[Case]:
    """All of them."""
    yield from the_grid()
    yield from the_sentences()


def the_grid() -> Iterator[Case]:
    """Row by column, in every relation of paths that has a meaning."""
    for (row, column), verdict in ONE_MEMORY.items():
        yield a_case(f"{row} x {column}", ROWS[row], (COLUMNS[column],), verdict)
    for (row, place), verdicts in RENAMES.items():
        for relation, verdict in verdicts.items():
            step = rename("M", related(_PATHS[place], relation))
            yield a_case(f"{row} x rename, {relation} as {place}", ROWS[row], (step,), verdict)
    for (row, place), verdicts in CREATES.items():
        for relation, verdict in verdicts.items():
            step = create("X", related(_PATHS[place], relation), "Ours.\n")
            yield a_case(f"{row} x create, {relation} as {place}", ROWS[row], (step,), verdict)
