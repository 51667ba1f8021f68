"""The page on the launcher names a test for every event, and each of them exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "launcher.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")


def test_every_event_names_a_test() -> None:
    tables = [
        table.splitlines()[2:] for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE) if "| event |" in table
    ]
    rows = [row for table in tables for row in table]
    assert len(rows) > 30
    assert [row for row in rows if NAMED.search(row) is None] == []


def test_every_named_test_exists() -> None:
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(PAGE)
        if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert missing == []
