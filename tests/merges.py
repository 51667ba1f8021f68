"""Three-way merges to compare with git's: seeded ones, and what `git merge-file` makes of them."""

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

MOST_LINES = 24
MOST_EDITS = 4
MOST_LINES_OF_AN_EDIT = 3
SHARED = 8
"""New lines that both sides may insert, so that some of their changes are equal."""

MAX_CONFLICTS = 127
"""`git merge-file` exits with the number of conflicts, or this; above it is an error."""


@dataclass(frozen=True)
class Sides:
    """A text and what two sides made of it."""

    base: str
    current: str
    draft: str


class Dice:
    """Choices that are the same on every Python: of `Random`, only `random()` promises that for a seed."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)  # noqa: S311  (cases, not secrets)

    def below(self, number: int) -> int:
        return int(self._random.random() * number)


def of_distinct_lines(seed: str) -> Sides:
    """No line stands twice in the base; both sides replace, insert, delete and move lines, some of them alike."""
    dice = Dice(seed)
    base = [f"line {number}\n" for number in range(dice.below(MOST_LINES + 1))]
    current, draft = (_edited(base, _new_lines(side, dice), dice) for side in ("current", "draft"))
    return Sides("".join(base), "".join(current), "".join(draft))


def of_repeated_lines(seed: str, alphabet: int) -> Sides:
    """Every line is one of a few."""
    dice = Dice(seed)

    def any_line() -> str:
        return f"{chr(ord('a') + dice.below(alphabet))}\n"

    base = [any_line() for _ in range(dice.below(MOST_LINES + 1))]
    current, draft = (_edited(base, any_line, dice) for _ in range(2))
    return Sides("".join(base), "".join(current), "".join(draft))


def _new_lines(side: str, dice: Dice) -> Callable[[], str]:
    shared = [f"shared {number}\n" for number in range(SHARED)]
    own: Iterator[str] = (f"{side} {number}\n" for number in range(MOST_EDITS * MOST_LINES_OF_AN_EDIT))
    return lambda: shared.pop(dice.below(len(shared))) if shared and dice.below(5) < 2 else next(own)


def _edited(base: list[str], new_line: Callable[[], str], dice: Dice) -> list[str]:
    lines = list(base)
    for _ in range(dice.below(MOST_EDITS + 1)):
        start, number = dice.below(len(lines) + 1), 1 + dice.below(MOST_LINES_OF_AN_EDIT)
        action = dice.below(4)
        taken = lines[start : start + number]
        if action:
            del lines[start : start + number]
        if action == 1:
            start = dice.below(len(lines) + 1)
            lines[start:start] = taken
        elif action != 2:
            lines[start:start] = [new_line() for _ in range(number)]
    return lines


def merged_by_git(sides: Sides, folder: Path) -> str | None:
    """What `git merge-file` merges; None with conflicts. The files go into `folder`."""
    write_sides(sides, folder)
    return git_merge_file(folder)


def write_sides(sides: Sides, folder: Path) -> None:
    for name, text in (("base", sides.base), ("current", sides.current), ("draft", sides.draft)):
        (folder / name).write_bytes(text.encode())


def git_merge_file(folder: Path) -> str | None:
    """Merge the files that `write_sides` wrote."""
    ran = subprocess.run(
        ["git", "merge-file", "-p", "current", "base", "draft"],  # noqa: S607  (whichever git is installed)
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert ran.returncode <= MAX_CONFLICTS, ran.stderr
    return None if ran.returncode else ran.stdout.decode()
