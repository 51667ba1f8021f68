from pathlib import Path

import pytest

from docs.reference.generate import FOLDER, GENERATED, WHAT_TO_DO
from models.errors import BY_CODE

BY_HAND = {"hashes.md", "markdown-files.md", "ranking.md", "generate.py"}


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_reference_says_what_the_code_says_now(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == GENERATED[name](), f"run `python docs/reference/generate.py`: {name} is out of date"


def test_every_problem_code_says_what_to_do_and_no_other_does() -> None:
    assert set(WHAT_TO_DO) == set(BY_CODE)


def test_every_file_of_the_reference_is_written_by_hand_or_generated() -> None:
    files = {path.name for path in Path(FOLDER).iterdir() if path.is_file()}
    assert files == BY_HAND | set(GENERATED)
