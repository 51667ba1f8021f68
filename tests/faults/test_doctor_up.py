"""`canonry doctor` beside a running stack, and beside one that lost parts while its supervisor could not see it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from canonry.embedded.ports import free_port
from canonry.embedded.processes import is_running
from tests.stack import a_reachable_folder
from tests.terminal import Ran, ran

READY_S = 60
GONE_S = 10


@pytest.fixture(scope="module")
def up() -> Iterator[tuple[psutil.Process, Path]]:
    """A ready `canonry up`, and its data folder."""
    folder = a_reachable_folder()
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("CANONRY_")}
    command = [sys.executable, "-P", "-m", "canonry", "up", "--data", str(folder / "data"), "--port", str(free_port())]
    output = folder / "output"
    with output.open("w") as file:
        child = subprocess.Popen(command, stdout=file, stderr=file, env=inherited, start_new_session=True)
    deadline = time.monotonic() + READY_S
    while "Ctrl-C stops it." not in output.read_text():
        assert child.poll() is None, output.read_text()
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.05)
    yield psutil.Process(child.pid), folder / "data"
    child.send_signal(signal.SIGCONT)
    child.terminate()
    child.wait(60)
    shutil.rmtree(folder)


def told(data: Path) -> Ran:
    done = ran("doctor", "--data", str(data))
    assert done.errors == ""
    return done


def marks(done: Ran) -> set[str]:
    return {line.split()[0] for line in done.output.splitlines() if "→" not in line}


def test_a_running_stack_is_all_well_and_each_part_has_its_process(up: tuple[psutil.Process, Path]) -> None:
    process, data = up
    done = told(data)
    assert (done.code, marks(done)) == (0, {"ok"}), done.output
    pids = [process.pid, *(child.pid for child in process.children())]
    assert all(f"process {pid}," in done.output for pid in pids), (pids, done.output)
    assert "1 worker" in done.output


def test_parts_that_are_gone_are_named(up: tuple[psutil.Process, Path]) -> None:
    process, data = up
    lost = [each for each in process.children() if {"worker", "start-dev"} & set(each.cmdline())]
    process.suspend()
    for each in lost:
        each.kill()
    deadline = time.monotonic() + GONE_S
    while any(is_running(each.pid) for each in lost):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = told(data)
    assert done.code == 4
    gone = [line.split()[1] for line in done.output.splitlines() if "its process is gone" in line]
    assert gone == ["worker", "temporal"]
