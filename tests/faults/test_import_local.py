"""`canonry import` without a server that it is told of: the stack on the data folder, started where it does not run."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.import_command import a_folder, one_sentence
from tests.stack import a_reachable_folder
from tests.up import a_command, an_environment, an_up, processes_of, run

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
    up = an_up(folder / "data")
    yield folder
    assert up.child.poll() is None
    up.child.terminate()
    up.child.wait()
    shutil.rmtree(folder)


def a_root() -> Path:
    folder = a_reachable_folder()
    a_folder(folder / "notes", {"a.md": "# A\n"})
    return folder


def words(root: Path) -> list[str]:
    return ["import", str(root / "notes"), "--data", str(root / "data"), "--project", "Notes", "--create-project"]


def test_where_nothing_runs_everything_is_started_for_the_time_of_the_command(root: Path) -> None:
    done = run(*words(root), "--merge")

    assert (done.returncode, "is merged" in done.stdout) == (0, True), done.stderr
    assert (root / "data" / "owner.token").read_text().strip() not in done.stdout + done.stderr
    assert processes_of(root / "data") == []


def test_ctrl_c_stops_what_was_started_and_is_no_success(root: Path) -> None:
    child = subprocess.Popen(
        a_command(*words(root)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=an_environment(),
        start_new_session=True,
    )
    while len(processes_of(root / "data")) < 3:
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=LIMIT_S)

    assert (child.returncode, "Traceback" in errors) == (130, False), errors
    assert errors.endswith("canonry import: Interrupted. The same command goes on.\n")
    assert processes_of(root / "data") == []


def test_a_canonry_up_on_the_folder_is_used_and_goes_on(served_root: Path) -> None:
    done = run(*words(served_root), "--merge")

    assert (done.returncode, "is merged" in done.stdout) == (0, True), done.stderr
    assert "Stopping" not in done.stderr


def test_a_data_folder_without_the_owner_s_token_is_one_sentence(served_root: Path) -> None:
    token = served_root / "data" / "owner.token"
    kept = token.rename(served_root / "kept")
    try:
        done = run(*words(served_root))
    finally:
        kept.rename(token)

    assert done.returncode == 1
    assert "CANONRY_TOKEN" in one_sentence(done)
