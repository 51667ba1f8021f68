"""What merging three texts costs, against `git merge-file`, and against libgit2 where the pygit2 wheel is installed.

git's call is shown with the start of its process, which is what merging three empty files takes, and without it.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.libgit2 import libgit2_merge
from bench.measuring import Comparison, Schedule, Timing, interleaved, table, timed
from models.rules.alignment import lines_of
from models.rules.text_merge import merge
from tests.merges import Sides, git_merge_file, write_sides

FULL = Schedule(rounds=9, repeats=9, warm_up=3)
QUICK = Schedule(rounds=1, repeats=1, warm_up=1)
AT_MOST = 2.0

ROOT = Path(__file__).resolve().parents[1]
MARKDOWN = ("*.md", "docs/**/*.md", "canonry/demo/**/*.md", "tests/data/corpus/**/*.md")
REAL_BYTES, REPEATED_BYTES = 200_000, 32_000
REPEATED = ("- [ ] to do\n", "- [x] done\n", "\n", "---\n")
FEW, ONE_IN = 3, 10
OURS, GIT, START, LIBGIT2 = "ours", "git merge-file", "the start of a process", "libgit2 in process"


@dataclass(frozen=True)
class Document:
    """Three versions of a text, edited in places that do not touch."""

    name: str
    sides: Sides


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: too short to mean anything")
    print(table(measure_text_merges(QUICK if parser.parse_args().quick else FULL)), end="\n\n", flush=True)


def measure_text_merges(schedule: Schedule) -> list[Comparison]:
    """Ours against git's, on each document."""
    with tempfile.TemporaryDirectory() as folder:
        return [comparison for document in _documents() for comparison in _measure(document, Path(folder), schedule)]


def _measure(document: Document, folder: Path, schedule: Schedule) -> Iterator[Comparison]:
    sides, nothing = document.sides, Sides("", "", "")
    whole, empty = _files(sides, folder / "whole"), _files(nothing, folder / "empty")
    subjects: dict[str, Timing] = {
        OURS: lambda: timed(lambda: merge(sides.base, sides.current, sides.draft)),
        GIT: lambda: timed(lambda: git_merge_file(whole)),
        START: lambda: timed(lambda: git_merge_file(empty)),
    }
    in_process = libgit2_merge()
    if in_process is not None:
        texts = (sides.base.encode(), sides.current.encode(), sides.draft.encode())
        subjects[LIBGIT2] = lambda: timed(lambda: in_process(*texts))
    medians = interleaved(subjects, schedule)
    without_start = [max(git - start, 0.01) for git, start in zip(medians[GIT], medians[START], strict=True)]
    yield Comparison(document.name, medians[OURS], GIT, medians[GIT], AT_MOST)
    yield Comparison(document.name, medians[OURS], f"{GIT}, less {START}", without_start)
    if in_process is not None:
        yield Comparison(document.name, medians[OURS], LIBGIT2, medians[LIBGIT2])


def _files(sides: Sides, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    write_sides(sides, folder)
    return folder


def _documents() -> Iterator[Document]:
    choice = Random(FEW)  # noqa: S311  (any sample will do, the same in every run)
    texts = {
        f"{REPEATED_BYTES:,} bytes of four repeated lines": _cut(
            choice.choices(REPEATED, k=REPEATED_BYTES), REPEATED_BYTES
        ),
        f"{REAL_BYTES:,} bytes of real Markdown": _cut(_real_lines() * 2, REAL_BYTES),
    }
    for name, lines in texts.items():
        for extent, number in (("3 edits", FEW), ("a tenth of the lines edited", len(lines) // ONE_IN)):
            yield Document(f"{name}, {extent} a side", _edited(lines, number, choice))


def _cut(lines: Sequence[str], size: int) -> list[str]:
    taken, total = list[str](), 0
    for line in lines:
        total += len(line.encode())
        if total > size:
            break
        taken.append(line)
    return taken


def _real_lines() -> list[str]:
    """The lines of all Markdown in this repository, 185 KB."""
    paths = sorted(path for pattern in MARKDOWN for path in ROOT.glob(pattern))
    return [line for path in paths for line in lines_of(path.read_bytes().decode(errors="replace"))]


def _edited(lines: Sequence[str], number: int, choice: Random) -> Sides:
    """Both sides replace lines, each other ones, with a line between any two."""
    places = choice.sample(range(0, len(lines), 2), 2 * number)
    current, draft = list(lines), list(lines)
    for position, place in enumerate(places):
        (current if position % 2 else draft)[place] = f"edit {place}\n"
    return Sides("".join(lines), "".join(current), "".join(draft))


if __name__ == "__main__":
    main()
