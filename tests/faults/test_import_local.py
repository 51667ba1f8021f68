"""`canonry import` without a server that it is told of: the stack on the data folder, started where it does not run."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from canonry.embedded.ports import free_port
from canonry.embedded.processes import is_running
from tests.import_command import a_folder, import_words, one_sentence
from tests.stack import a_reachable_folder

PROJECT = ("--project", "Notes", "--create-project")
LIMIT_S = 90


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder with notes, beside which nothing runs yet."""
    folder = a_root()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def served_root() -> Iterator[Path]:
    """A folder with notes, beside which `canonry up` serves."""
    folder = a_root()
    command = [*import_words(folder)[:4], "up", "--data", str(folder / "data"), "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as up:
        assert up.stdout is not None
        while "Ctrl-C stops it." not in up.stdout.readline():
            assert up.poll() is None
        yield folder
        assert up.poll() is None
        up.terminate()
    shutil.rmtree(folder)


def a_root() -> Path:
    folder = a_reachable_folder()
    a_folder(folder / "notes", {"a.md": "# A\n"})
    return folder


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("CANONRY_")}


def words(root: Path, *more: str) -> list[str]:
    return import_words(root / "notes", "--data", str(root / "data"), *PROJECT, *more)


def run(root: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(root, *more), capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment()
    )


def processes_of(root: Path) -> list[psutil.Process]:
    """Whatever serves the data folder: it is named in a command line or in an environment."""
    return [process for process in psutil.process_iter() if _serves(process, str(root / "data"))]


def _serves(process: psutil.Process, data: str) -> bool:
    try:
        return is_running(process.pid) and (
            any(data in word for word in process.cmdline()) or process.environ().get("CANONRY_DATA") == data
        )
    except psutil.Error:  # it is ending, or somebody else's
        return False


def test_where_nothing_runs_everything_is_started_for_the_time_of_the_command(root: Path) -> None:
    done = run(root, "--merge")

    assert (done.returncode, "is merged" in done.stdout) == (0, True), done.stderr
    assert (root / "data" / "owner.token").read_text().strip() not in done.stdout + done.stderr
    assert processes_of(root) == []


def test_ctrl_c_stops_what_was_started_and_is_no_success(root: Path) -> None:
    child = subprocess.Popen(
        words(root),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    while len(processes_of(root)) < 3:
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=LIMIT_S)

    assert (child.returncode, "Traceback" in errors) == (130, False), errors
    assert processes_of(root) == []


def test_a_canonry_up_on_the_folder_is_used_and_goes_on(served_root: Path) -> None:
    done = run(served_root, "--merge")

    assert (done.returncode, "is merged" in done.stdout) == (0, True), done.stderr
    assert "Stopping" not in done.stderr


def test_a_data_folder_without_the_owner_s_token_is_one_sentence(served_root: Path) -> None:
    token = served_root / "data" / "owner.token"
    kept = token.rename(served_root / "kept")
    try:
        done = run(served_root)
    finally:
        kept.rename(token)

    assert done.returncode == 1
    assert "CANONRY_TOKEN" in one_sentence(done)
