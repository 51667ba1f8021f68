"""`canonry doctor` beside a running stack, and beside one that lost parts while its supervisor could not see it."""

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from canonry.embedded.processes import is_running
from tests.installation import until
from tests.stack import a_reachable_folder
from tests.terminal import Ran, ran
from tests.up import an_up

GONE_S = 10


@pytest.fixture(scope="module")
def up() -> Iterator[tuple[psutil.Process, Path]]:
    """A ready `canonry up`, and its data folder."""
    folder = a_reachable_folder()
    running = an_up(folder / "data")
    until(lambda: "1 worker" in told(running.data).output)  # it asks for work a moment after the API is ready
    yield psutil.Process(running.child.pid), running.data
    running.child.send_signal(signal.SIGCONT)
    running.child.terminate()
    running.child.wait(60)
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
