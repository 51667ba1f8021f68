"""`canonry` as a process of its own, above all `canonry up`, and every process that serves its folder."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from canonry.embedded.ports import free_port
from canonry.embedded.processes import is_running

READY_S = 60
GONE_S = 20
LIMIT_S = 180


@dataclass
class Up:
    """A `canonry up` that is ready; its output goes to a file as to a terminal."""

    child: subprocess.Popen[bytes]
    url: str
    data: Path
    output: Path

    def text(self) -> str:
        return self.output.read_text()

    def parts(self, *words: str) -> list[psutil.Process]:
        """The direct children whose command line has all words."""
        return [each for each in psutil.Process(self.child.pid).children() if set(words) <= set(words_of(each))]

    def readiness(self) -> Mapping[str, object]:
        try:
            answer = httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False)
        except httpx.TransportError:
            return {}
        found: Mapping[str, object] = answer.json() if answer.status_code == httpx.codes.OK else {}
        return found


def words_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it is ending
        return []


def a_command(*words: str) -> list[str]:
    """The command line of `canonry WORDS`."""
    return [sys.executable, "-P", "-m", "canonry", *words]


def an_environment(**variables: str) -> dict[str, str]:
    """These variables, and none of Canonry's that those who run the tests have."""
    return {key: value for key, value in os.environ.items() if not key.startswith("CANONRY_")} | variables


def an_up(data: Path, **variables: str) -> Up:
    port = free_port()
    output = data.parent / f"output-{port}"
    with output.open("wb") as file:
        child = subprocess.Popen(
            a_command("up", "--data", str(data), "--port", str(port)),
            stdout=file,
            stderr=file,
            env=an_environment(**variables),
            start_new_session=True,
        )
    deadline = time.monotonic() + READY_S
    while "Ctrl-C stops it." not in output.read_text():
        assert child.poll() is None, output.read_text()
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.05)
    return Up(child, f"http://127.0.0.1:{port}", data, output)


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `canonry WORDS` to its end."""
    return subprocess.run(
        a_command(*words), capture_output=True, text=True, check=False, timeout=LIMIT_S, env=an_environment(**variables)
    )


def processes_of(data: Path) -> list[psutil.Process]:
    """Whatever serves the folder: its servers name it in their command lines, our own in their environments."""
    return [each for each in psutil.process_iter() if _belongs_to(each, str(data))]


def _belongs_to(process: psutil.Process, data: str) -> bool:
    try:
        return is_running(process.pid) and (
            any(data in word for word in process.cmdline()) or process.environ().get("CANONRY_DATA") == data
        )
    except psutil.Error:  # it is ending, or somebody else's
        return False


def assert_none_left(data: Path) -> None:
    deadline = time.monotonic() + GONE_S
    while processes_of(data) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(data) == []


def assert_one_sentence(answer: subprocess.CompletedProcess[str], pattern: str) -> None:
    assert answer.returncode == 1
    assert "Traceback" not in answer.stderr
    assert re.fullmatch(pattern, answer.stderr.strip()), answer.stderr


def whoami(up: Up, token: str) -> httpx.Response:
    return httpx.get(f"{up.url}/v1/api/me", headers={"Authorization": f"Bearer {token}"}, trust_env=False)
