"""Folders, and `canonry import` run on them as people run it: as a process that knows a server and a token."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.client import Client

LIMIT_S = 120


def a_folder(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below the folder; those that are there already stay."""
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def import_words(folder: Path, *words: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-P", "-m", "canonry", "import", str(folder), *words]


def import_environment(who: Client, **variables: str) -> dict[str, str]:
    """The variables that name the server and the token, and none of those who run the tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CANONRY_")}
    return inherited | {"CANONRY_URL": who.base_url, "CANONRY_TOKEN": who.token or ""} | variables


def import_folder(who: Client, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, which has the exit code; the token is in nothing that it says."""
    done = subprocess.run(
        import_words(folder, *words),
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


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The failure that a command ended with, after whatever progress it told."""
    *_, last = done.stderr.splitlines()
    assert last.startswith("canonry import: "), done.stderr
    return last.removeprefix("canonry import: ")
