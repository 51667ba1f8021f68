"""`canonry export` run as people run it, and what it wrote."""

import subprocess
from pathlib import Path

from canonry.documents.manifest import MANIFEST, Manifest
from tests.client import Client
from tests.import_command import run_as


def export(who: Client, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, which has the exit code."""
    return run_as(who, "export", folder, *words, code=code)


def refusal(who: Client, folder: Path, *words: str) -> str:
    """The sentence with which the command fails; it leaves nothing beside the folder."""
    beside = sorted(folder.parent.iterdir()) if folder.parent.is_dir() else []
    done = export(who, folder, *words, code=1)
    assert done.stdout == ""
    assert (sorted(folder.parent.iterdir()) if folder.parent.is_dir() else []) == beside
    *_, last = done.stderr.splitlines()
    assert last.startswith("canonry export: "), done.stderr
    return last.removeprefix("canonry export: ")


def files(folder: Path) -> dict[str, str]:
    """The texts of all files but git's own, by path."""
    return {
        str(file.relative_to(folder)): file.read_bytes().decode()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".git" not in file.relative_to(folder).parts
    }


def manifest(folder: Path) -> Manifest:
    return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
