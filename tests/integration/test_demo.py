import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonry.embedded.ports import free_port
from tests.stack import a_reachable_folder


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder / "data"
    shutil.rmtree(folder)


def demo(data: Path) -> str:
    """The output of a demonstration that ends by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "canonry", "demo", "--data", str(data), "--port", str(free_port()), "--exit"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commits(output: str) -> list[str]:
    return re.findall(r"commit ([0-9a-f]{64})", output)


def test_the_demonstration_publishes_three_reviews_and_ends(data: Path) -> None:
    output = demo(data)
    assert output.count("Merged: one commit, one ref step") == 3
    assert "Platform, version 2, 8 Memories" in output
    assert "Support, version 3, 3 Memories" in output


def test_run_again_it_shows_the_same_commits_and_publishes_nothing(data: Path) -> None:
    first, second = demo(data), demo(data)
    assert commits(first) == commits(second)
    assert len(commits(second)) == 3
    assert "Merged" not in second
