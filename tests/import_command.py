"""Folders, and commands run on them that know a server and a token."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from canonry.documents.folder import read_folder
from canonry.importing.survey import Survey, survey
from tests.client import Client
from tests.terminal import ran
from tests.up import an_environment


def a_folder(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below the folder; those that are there already stay."""
    folder.mkdir(exist_ok=True)
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def surveyed(folder: Path) -> Survey:
    """What the command knows of a folder before it sends anything."""
    told: list[int] = []
    return survey(lambda: read_folder(folder), told.append)


def import_environment(who: Client) -> dict[str, str]:
    """The environment of a process that knows the server and the token."""
    return an_environment(**_own(who))


def _own(who: Client) -> dict[str, str]:
    return {"CANONRY_URL": who.base_url, "CANONRY_TOKEN": who.token or ""}


def run_as(who: Client, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `canonry WORDS` in this process to its end, which has the exit code; the token is in nothing that it says."""
    told = ran(*map(str, words), **_own(who))
    done = subprocess.CompletedProcess(words, told.code, told.output, told.errors)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert who.token is None or who.token not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def import_folder(who: Client, folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `canonry import` to its end, which has the exit code."""
    return run_as(who, "import", folder, *words, code=code)


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The failure that a command ended with, after whatever progress it told."""
    *_, last = done.stderr.splitlines()
    assert last.startswith("canonry import: "), done.stderr
    return last.removeprefix("canonry import: ")
