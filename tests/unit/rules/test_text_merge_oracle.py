"""Agreement with `git merge-file`; where lines are repeated, every difference is a fixture with its reason."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from models.rules.text_merge import merge
from tests.merges import Sides, merged_by_git, of_distinct_lines, of_repeated_lines

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")

FEW, MOST = 60, 500  # of each alphabet; what differs is listed for most
DISTINCT = 250, 2_000
DIFFERENCES = Path(__file__).parents[2] / "data" / "text_merge" / "differences.json"


@dataclass(frozen=True)
class Difference:
    """A case in which git merges otherwise; None is a conflict. Each letter stands for a line."""

    case: int
    base: str
    current: str
    draft: str
    ours: str | None
    git: str | None


def listed(alphabet: int) -> list[Difference]:
    by_alphabet = json.loads(DIFFERENCES.read_text(encoding="utf-8"))
    return [
        Difference(**{name: value for name, value in each.items() if name != "reason"})
        for each in by_alphabet[str(alphabet)]
    ]


def differences(alphabet: int, cases: int, folder: Path) -> list[Difference]:
    found: list[Difference] = []
    for case in range(cases):
        sides = of_repeated_lines(f"{alphabet}/{case}", alphabet)
        ours, git = merged(sides), merged_by_git(sides, folder)
        if ours != git:
            base, current, draft = letters(sides.base), letters(sides.current), letters(sides.draft)
            found.append(Difference(case, base, current, draft, letters_or_none(ours), letters_or_none(git)))
    return found


def merged(sides: Sides) -> str | None:
    return merge(sides.base, sides.current, sides.draft).text


def letters(text: str) -> str:
    return text.replace("\n", "")


def letters_or_none(text: str | None) -> str | None:
    return None if text is None else letters(text)


@pytest.mark.parametrize("cases", [DISTINCT[0], pytest.param(DISTINCT[1], marks=pytest.mark.long)])
def test_documents_of_distinct_lines_are_merged_as_git_merges_them(tmp_path: Path, cases: int) -> None:
    by_seed = {f"distinct/{case}": of_distinct_lines(f"distinct/{case}") for case in range(cases)}
    assert [seed for seed, sides in by_seed.items() if merged(sides) != merged_by_git(sides, tmp_path)] == []


@pytest.mark.parametrize("cases", [FEW, pytest.param(MOST, marks=pytest.mark.long)])
@pytest.mark.parametrize("alphabet", [20, 4, 2])
def test_where_lines_are_repeated_git_differs_in_the_listed_cases_only(
    tmp_path: Path, alphabet: int, cases: int
) -> None:
    assert differences(alphabet, cases, tmp_path) == [each for each in listed(alphabet) if each.case < cases]
