"""Data folders with a database in them, the processes that keep them, and what can be compared about them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from canonry.embedded.postgres import RunningPostgres, start_postgres
from canonry.embedded.processes import all_that_work_in

GONE_S = 20

OWNER = """
import json, sys, time
from pathlib import Path
from canonry.embedded.postgres import start_postgres
server = start_postgres(Path(sys.argv[1]), durable=False)
print(json.dumps({"pid": server.pid, "url": server.url, "owned": server.owned}), flush=True)
time.sleep(float(sys.argv[2]))
server.stop()
"""


@contextmanager
def running(data: Path, *, durable: bool = True) -> Iterator[RunningPostgres]:
    server = start_postgres(data, durable=durable)
    try:
        yield server
    finally:
        server.stop()


def an_owner_command(data: Path, seconds: float = 600) -> list[str]:
    """A program that starts the server, says which, and stops it after a while."""
    return [sys.executable, "-c", OWNER, str(data), str(seconds)]


def an_owner(data: Path, seconds: float = 600) -> tuple[subprocess.Popen[str], dict[str, object]]:
    """Another process that starts the server and says which."""
    child = subprocess.Popen(an_owner_command(data, seconds), stdout=subprocess.PIPE, text=True)
    return child, said(child)


def said(child: subprocess.Popen[str]) -> dict[str, object]:
    assert child.stdout is not None
    with child.stdout as lines:
        found: dict[str, object] = json.loads(lines.readline())
    return found


def one(url: str, query: str) -> tuple[object, ...]:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row


def await_row(url: str, query: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(query).fetchone() is None:
            time.sleep(0.02)


def cluster_of(data: Path) -> Path:
    return data / "postgres" / "data"


def assert_no_server(data: Path) -> None:
    deadline = time.monotonic() + GONE_S
    while all_that_work_in(cluster_of(data)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all_that_work_in(cluster_of(data)) == []


def everything_in(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Owner, mode and digest of every file, to see that nothing was touched."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (about.st_uid, about.st_mode, digest)
    return found


def copy_into(folder: Path, source: Path) -> None:
    """The same files with the same owners."""
    subprocess.run(["/bin/cp", "-a", f"{source}/.", folder], check=True)


@contextmanager
def a_disk_of(megabytes: int, folder: Path) -> Iterator[Path]:
    """A disk of its own at `folder`; only root may have one."""
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root mounts a small disk")
    folder.mkdir(mode=0o711, exist_ok=True)
    command = [mount, "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0711", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", "-l", folder], check=True)


def fill(folder: Path, *, leave_mb: int = 0) -> Path:
    """Take the room of the folder's disk away; deleting the file that is returned gives it back."""
    filler = folder / "filler"
    room = shutil.disk_usage(folder).free - leave_mb * 1_000_000
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(room, 1))
    return filler
