import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from canonry.embedded.accounts import can_reach, server_account
from canonry.embedded.binaries import PostgresBinaries, find_postgres, find_temporal, postgres_for, temporal_for
from canonry.embedded.placement import Home, settle
from canonry.embedded.postgres import start_postgres
from canonry.embedded.processes import server_environment
from canonry.failures import StartFailed
from tests.stack import a_reachable_folder

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another account")


@pytest.fixture
def private() -> Iterator[Path]:
    """A folder that only root may pass, as `mktemp -d` and root's home are; cleared with all that was put elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="canonry-test-", dir="/tmp"))
    yield folder
    for pointer in folder.rglob("postgres.location"):
        shutil.rmtree(pointer.read_text().strip(), ignore_errors=True)
    shutil.rmtree(folder)


@pytest.fixture
def reachable() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder
    shutil.rmtree(folder)


def test_below_a_private_folder_the_servers_keep_their_files_elsewhere_and_no_folder_is_opened(private: Path) -> None:
    data = private / "clone" / ".canonry"
    server = start_postgres(data, durable=False)
    try:
        assert server.home.path.parent == Path("/var/lib/canonry")
        assert (data / "postgres.location").read_text() == f"{server.home.path}\n"
        assert private.stat().st_mode & 0o777 == 0o700
        with psycopg.connect(server.url) as connection:
            connection.execute("create table kept ()")
    finally:
        server.stop()
    again = start_postgres(data)
    try:
        with psycopg.connect(again.url) as connection:
            assert connection.execute("select to_regclass('kept')::text").fetchone() == ("kept",)
    finally:
        again.stop()


def test_a_data_folder_that_was_deleted_begins_empty(private: Path) -> None:
    data = private / ".canonry"
    earlier = settle(data).path
    (earlier / "mark").touch()
    shutil.rmtree(data)
    assert settle(data).path == earlier
    assert not (earlier / "mark").exists()
    aside = list(earlier.parent.glob(f"{earlier.name}.left-*"))
    assert [path / earlier.name / "mark" for path in aside if (path / earlier.name / "mark").exists()]
    for path in aside:
        shutil.rmtree(path)


def test_files_that_are_gone_from_elsewhere_are_not_silently_begun_again(private: Path) -> None:
    data = private / ".canonry"
    shutil.rmtree(settle(data).path)
    with pytest.raises(StartFailed, match="is gone; delete that file"):
        settle(data)


def test_a_reachable_folder_keeps_its_files_whatever_the_umask(reachable: Path) -> None:
    former = os.umask(0o077)
    try:
        home = settle(reachable / ".canonry")
        home.private_folder("postgres", "run")
    finally:
        os.umask(former)
    assert not home.relocated
    assert can_reach(home.account, home.path / "postgres" / "run")


def test_an_existing_folder_is_used_as_it_is(private: Path) -> None:
    settle(private)
    assert private.stat().st_mode & 0o777 == 0o700


def test_a_cluster_s_owner_stays_the_servers_account(reachable: Path) -> None:
    cluster = reachable / "postgres" / "data"
    cluster.mkdir(parents=True)
    shutil.chown(cluster, "nobody")
    assert settle(reachable).account.name == "nobody"


def test_without_an_account_postgres_the_servers_run_as_nobody(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonry.embedded.accounts.SERVER_ACCOUNTS", ("no-such-account", "nobody"))
    server = start_postgres(reachable, durable=False)
    try:
        assert psutil.Process(server.pid).username() == "nobody"
    finally:
        server.stop()


@pytest.mark.parametrize("mode", [0o755, 0o700], ids=["by links", "installed with a private umask"])
def test_programs_below_a_private_folder_are_put_where_the_account_can_run_them(
    private: Path, reachable: Path, mode: int
) -> None:
    home = Home(reachable, reachable, server_account())
    hidden = _moved(find_postgres(), private)
    for path in hidden.programs.parent.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & mode)
    usable = postgres_for(home.account, hidden, home.path)
    assert usable.programs.is_relative_to(reachable)
    command: list[str | Path] = [usable.program("initdb"), "--pgdata", home.private_folder("cluster"), "--auth", "peer"]
    answer = _as_servers(home, [*command, "--no-sync"])
    assert answer.returncode == 0, answer.stderr
    assert postgres_for(home.account, hidden, home.path) == usable  # made once


def test_a_private_temporal_is_put_where_the_account_can_run_it(private: Path, reachable: Path) -> None:
    home = Home(reachable, reachable, server_account())
    hidden = private / "temporal"
    shutil.copy(find_temporal(), hidden)
    usable = temporal_for(home.account, hidden, home.path)
    assert usable.is_relative_to(reachable)
    assert _as_servers(home, [usable, "--version"]).returncode == 0


def test_programs_that_can_be_reached_stay_where_they_are(reachable: Path) -> None:
    account = server_account()
    visible = _moved(find_postgres(), reachable / "wheel")
    assert postgres_for(account, visible, reachable) == visible
    assert not (reachable / "binaries").exists()


def test_a_server_of_an_unreachable_folder_does_not_run_as_root(private: Path) -> None:
    server = start_postgres(private / ".canonry", durable=False)
    try:
        assert psutil.Process(server.pid).username() != "root"
    finally:
        server.stop()


def _as_servers(home: Home, command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    account = home.account
    return subprocess.run(
        command,
        user=account.uid,
        group=account.gid,
        extra_groups=[],
        env=server_environment(home.path),
        cwd="/",
        check=False,
        capture_output=True,
        text=True,
    )


def _moved(installed: PostgresBinaries, target: Path) -> PostgresBinaries:
    """The wheel's parts again below another folder."""
    if not installed.parts:
        pytest.skip("no PostgreSQL from a wheel here")
    top = Path(os.path.commonpath(installed.parts))
    for part in installed.parts:
        shutil.copytree(part, target / part.relative_to(top), symlinks=True)
    parts = tuple(target / part.relative_to(top) for part in installed.parts)
    return PostgresBinaries(target / installed.programs.relative_to(top), installed.version, parts)
