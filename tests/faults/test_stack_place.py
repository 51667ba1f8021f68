"""A data folder that is moved, replaced or deleted while `canonry up` serves it: the whole ends, and says why."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from canonry.embedded.locks import take_lock
from canonry.up_lock import UP_LOCK, write_holder
from tests.stack import a_reachable_folder
from tests.terminal import ran
from tests.up import Up, an_up, assert_none_left


@pytest.fixture
def root() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder
    shutil.rmtree(folder)


def _replaced(up: Up) -> None:
    """Another data folder takes its place, and a part dies that is started again by its path."""
    up.data.rename(up.data.with_name("moved"))
    shutil.copytree(up.data.with_name("moved") / "temporal", up.data / "temporal")
    (up.data / "up.lock").touch()
    (temporal,) = up.parts("start-dev")
    temporal.kill()


def _deleted(up: Up) -> None:
    shutil.rmtree(up.data, ignore_errors=True)  # the servers go on writing
    assert not (up.data / "up.lock").exists()


@pytest.mark.parametrize("happens", [_replaced, pytest.param(_deleted, marks=pytest.mark.long)])
def test_a_folder_that_is_no_longer_in_its_place_ends_everything_with_1(
    root: Path, happens: Callable[[Up], None]
) -> None:
    up = an_up(root / "data")
    happens(up)
    assert up.child.wait(60) == 1
    sentence = f"\ncanonry up: The data folder {up.data} was moved, replaced or deleted while Canonry ran on it ("
    assert sentence in up.text()
    assert "Traceback" not in up.text()
    assert_none_left(root / "data")
    assert not (up.data / "logs" / "temporal.log").exists()  # nothing was started in what lies there now


def test_while_one_is_stopping_another_start_says_so(tmp_path: Path) -> None:
    lock = take_lock(tmp_path / UP_LOCK)
    assert lock is not None
    write_holder(lock, "http://127.0.0.1:1", stopping=True)
    refused = ran("up", "--data", str(tmp_path))
    lock.release()
    sentence = f"The Canonry on {tmp_path}, process {os.getpid()}, is stopping; start again when that has ended."
    assert (refused.code, refused.errors) == (1, f"canonry up: {sentence}")
