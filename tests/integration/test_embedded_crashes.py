"""What a crash leaves, and the start after it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from canonry.embedded.postgres import start_postgres
from tests.clusters import (
    an_owner,
    an_owner_command,
    assert_no_server,
    cluster_of,
    one,
    running,
    said,
)
from tests.mixed.random_kills import a_seed

# Takes over the orphans of its children, as the first process of a container does, and waits for none of them.
UNREAPING = """
import ctypes, subprocess, sys, time
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
subprocess.Popen(sys.argv[1:])
time.sleep(600)
"""


def keep_a_word(url: object) -> None:
    with psycopg.connect(str(url)) as connection:
        connection.execute("create table kept (word text)")
        connection.execute("insert into kept values ('committed')")


def a_long_recovery(data: Path) -> None:
    """Have the next start take seconds before it has recovered."""
    with (cluster_of(data) / "postgresql.conf").open("a") as settings:
        # The command is asked several times before recovery goes on; nobody is let in meanwhile, as after a crash.
        settings.write("restore_command = 'sleep 0.3; false'\nhot_standby = off\n")
    request = cluster_of(data) / "recovery.signal"
    request.touch()
    owner = cluster_of(data).stat()
    os.chown(request, owner.st_uid, owner.st_gid)


def kill(pid: object) -> None:
    os.kill(int(str(pid)), signal.SIGKILL)


def test_kill_9_of_server_and_owner_loses_nothing_that_was_committed(data: Path) -> None:
    owner, server = an_owner(data)
    keep_a_word(server["url"])
    kill(server["pid"])
    owner.kill()
    owner.wait()
    assert (cluster_of(data) / "postmaster.pid").exists()
    with running(data) as again:
        assert again.url == server["url"]
        assert one(again.url, "select word from kept") == ("committed",)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
def test_a_killed_server_that_nobody_reaps_does_not_stop_the_start(data: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", UNREAPING, *an_owner_command(data)], stdout=subprocess.PIPE, text=True
    )
    server = said(first)
    keep_a_word(server["url"])
    (owner,) = psutil.Process(first.pid).children()
    kill(server["pid"])
    owner.kill()
    zombie = psutil.Process(int(str(server["pid"])))
    while zombie.status() != psutil.STATUS_ZOMBIE or zombie.ppid() != first.pid:
        time.sleep(0.01)
    with running(data) as again:
        assert one(again.url, "select word from kept") == ("committed",)
    assert zombie.status() == psutil.STATUS_ZOMBIE
    first.kill()
    first.wait()


def test_kill_9_at_any_moment_of_the_first_start_leaves_nothing_that_is_taken_for_a_cluster(fresh: Path) -> None:
    chance = random.Random(a_seed())  # noqa: S311  (to be repeated)
    for _ in range(2):
        owner = subprocess.Popen(an_owner_command(fresh), stdout=subprocess.DEVNULL)
        while not list((fresh / "postgres").glob("data.new-*")) and not cluster_of(fresh).exists():
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 1.0))
        owner.kill()
        owner.wait()
    with running(fresh, durable=False) as server:
        assert one(server.url, "select current_user, count(*) > 0 from pg_proc") == ("canonry", True)
        assert list((fresh / "postgres").glob("data.new-*")) == []


def test_a_half_made_cluster_is_never_taken_for_a_good_one(fresh: Path) -> None:
    half = fresh / "postgres" / "data.new-1"
    half.mkdir(parents=True)
    (fresh / "postgres").chmod(0o711)
    (half / "PG_VERSION").write_text("18\n")
    with running(fresh, durable=False) as server:
        assert one(server.url, "select 1") == (1,)
        assert not half.exists()


def test_a_recovery_is_waited_for_however_long_it_takes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.embedded.postgres.ANSWER_LIMIT_S", 0.5)
    monkeypatch.setattr("canonry.embedded.postgres.PATIENCE_S", 0.5)
    a_long_recovery(data)
    lines: list[str] = []
    began = time.monotonic()
    server = start_postgres(data, report=lines.append)
    try:
        assert time.monotonic() - began > 1
        assert one(server.url, "select pg_is_in_recovery()") == (False,)
        log = data / "logs" / "postgres.log"
        assert lines == [f"PostgreSQL recovers after a crash; that takes as long as it takes ({log})"]
    finally:
        server.stop()


def test_an_owner_that_is_killed_while_it_waits_for_a_recovery_leaves_no_server(data: Path) -> None:
    a_long_recovery(data)
    owner = subprocess.Popen(an_owner_command(data), stdout=subprocess.DEVNULL)
    while not (cluster_of(data) / "postmaster.pid").exists():
        time.sleep(0.01)
    owner.kill()
    owner.wait()
    assert_no_server(data)
