"""`canonry export` run as people run it, and what it wrote."""

import subprocess
import sys
from pathlib import Path

from canonry.documents.manifest import MANIFEST, Manifest
from tests.client import Client
from tests.import_command import LIMIT_S, import_environment


def export(who: Client, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, which has the exit code; the token is in nothing that it says or writes."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "canonry", "export", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        env=import_environment(who),
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert who.token is None or who.token not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


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
