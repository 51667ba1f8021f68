import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.txt", "requirements-dev.txt")


def entries(lock: str) -> list[str]:
    """Each requirement with its hashes, on one line."""
    text = (ROOT / lock).read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_file_and_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text()
    for foreign in ("file:", "://", "--index", "--extra-index", "-i ", "--find-links", "--trusted-host", " @ ", "-e "):
        assert foreign not in text


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_is_exact_and_hashed(lock: str) -> None:
    assert len(entries(lock)) > 30
    for entry in entries(lock):
        assert re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", entry), (
            entry
        )


@pytest.mark.parametrize(("lock", "groups"), [("requirements.txt", []), ("requirements-dev.txt", ["dev"])])
def test_every_declared_dependency_is_locked_at_an_admitted_version(lock: str, groups: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [
        *project["project"]["dependencies"],
        *(each for g in groups for each in project["dependency-groups"][g]),
    ]
    locked = {canonicalize_name(name): version for name, version in (_pin(entry) for entry in entries(lock))}
    for requirement in map(Requirement, declared):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_both_locks_agree() -> None:
    run, develop = (dict(_pin(entry) for entry in entries(lock)) for lock in LOCKS)
    assert {name: develop.get(name) for name in run} == run


def _pin(entry: str) -> tuple[str, str]:
    found = re.match(r"([\w.-]+)(?:\[.*?\])?==(\S+)", entry)
    assert found is not None, entry
    return found[1], found[2]
