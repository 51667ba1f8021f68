"""What cannot be started is refused in one sentence, and nothing is harmed."""

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from canonry.embedded.binaries import SYSTEM, find_postgres
from canonry.embedded.postgres import start_postgres
from canonry.failures import StartFailed
from canonry.prepare import prepare
from models.settings import Settings
from tests.clusters import (
    a_disk_of,
    an_owner,
    an_owner_command,
    assert_no_server,
    cluster_of,
    copy_into,
    everything_in,
    fill,
    one,
    running,
)
from tests.parts import restart, start_temporal
from tests.stack import as_ordinary_user
from tests.terminal import ran

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

QUICKLY_S = 10
"""Far below the minute that a server may take which will answer."""

NOBODY = pwd.getpwnam("nobody")


def refusal(data: Path) -> str:
    """The sentence that a start is refused with, once it is seen that the database was not touched."""
    before = everything_in(cluster_of(data))
    with pytest.raises(StartFailed) as refused:
        start_postgres(data)
    assert everything_in(cluster_of(data)) == before
    return str(refused.value)


def refusal_of_ordinary_user(data: Path) -> str:
    """The last line of the traceback: it is the sentence."""
    answer = subprocess.run(
        as_ordinary_user(an_owner_command(data)),
        check=False,
        capture_output=True,
        text=True,
        env={"HOME": "/", "PATH": os.defpath},
    )
    assert answer.returncode != 0
    return answer.stderr.splitlines()[-1]


def test_a_cluster_of_another_major_version_is_refused_and_not_touched(data: Path) -> None:
    (cluster_of(data) / "PG_VERSION").write_text("12\n")
    text = refusal(data)
    assert text.startswith(f"The database in {cluster_of(data)} was made by PostgreSQL 12, and PostgreSQL ")
    assert " is what runs here; nothing was changed." in text
    assert "    # where PostgreSQL 12 is: install it first" in text


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\n", b"eighteen\n", None], ids=["empty", "binary", "words", "gone"])
def test_a_database_whose_version_cannot_be_told_is_refused_by_every_command(data: Path, content: bytes | None) -> None:
    version = cluster_of(data) / "PG_VERSION"
    version.unlink() if content is None else version.write_bytes(content)
    assert str(version if content is not None else cluster_of(data)) in refusal(data)
    for command in (("up",), ("verify",), ("token", "list"), ("doctor",)):
        done = ran(*command, "--data", str(data))
        assert done.code in {1, 4}
        assert "PG_VERSION" in done.output + done.errors
        assert "nothing was changed" in done.output + done.errors
    assert [path.name for path in cluster_of(data).parent.glob("data*")] == ["data"]


def test_a_cluster_without_its_databases_is_refused_at_once_with_what_the_server_says(data: Path) -> None:
    shutil.rmtree(cluster_of(data) / "base")
    began = time.monotonic()
    with pytest.raises(StartFailed, match=r'(?s)database "postgres" does not exist.*is missing'):
        start_postgres(data)
    assert time.monotonic() - began < QUICKLY_S


def test_a_frozen_server_that_a_killed_owner_left_is_named_at_once(data: Path) -> None:
    owner, said = an_owner(data)
    server = psutil.Process(int(str(said["pid"])))
    server.suspend()
    try:
        for left in (owner, None):
            began = time.monotonic()
            with pytest.raises(StartFailed, match=rf"process {server.pid}, .*\(state T\).*`kill -CONT {server.pid}`"):
                start_postgres(data)
            assert time.monotonic() - began < QUICKLY_S
            assert f"kill -CONT {server.pid}" in ran("doctor", "--data", str(data)).output
            if left is not None:
                left.kill()
                left.wait()
    finally:
        server.resume()
    assert_no_server(data)


@pytest.mark.long
def test_the_commands_of_that_refusal_carry_the_database_over(fresh: Path) -> None:
    here = find_postgres().major
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("canonry.embedded.binaries.WHEEL", "no_such_package")
        older = find_postgres().major if list(SYSTEM.glob("*/bin/initdb")) else here
    if older == here:
        pytest.skip("the system has no PostgreSQL of another major version")
    data = fresh / "a folder with ö and 'quotes'"
    settings = Settings(data=data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("canonry.embedded.binaries.WHEEL", "no_such_package")
        with running(data, durable=False) as server:
            assert prepare(settings, server.url) is not None
            organization = one(server.url, "select org_id, created_at from organizations")
            epoch = one(server.url, "select epoch from feed_epochs")
    text = refusal(data)
    commands = text.partition("\n\n")[2]
    subprocess.run(["/bin/sh"], input=commands, check=True, text=True, capture_output=True, cwd="/")
    with running(data) as server:
        assert one(server.url, "select current_setting('server_version_num')::int / 10000") == (here,)
        assert one(server.url, "select org_id, created_at from organizations") == organization
        assert one(server.url, "select epoch from feed_epochs") != epoch
        assert one(server.url, "select count(*) from events where xid >= pg_current_xact_id()") == (0,)
        assert prepare(settings, server.url) is None  # our migrations find what they left
    kept = cluster_of(data).with_name(f"data-{older}")
    assert (kept / "PG_VERSION").read_text() == f"{older}\n"


def test_a_disk_without_room_for_a_database_is_refused_before_anything_is_begun(fresh: Path) -> None:
    with a_disk_of(60, fresh / "disk") as data:
        with pytest.raises(StartFailed, match=r"^The disk of .* is full: \d+ MB are left, and starting needs 128 MB;"):
            start_postgres(data)
        assert not cluster_of(data).exists()


def test_a_disk_that_is_full_before_the_database_is_made_leaves_no_half_of_it(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonry.embedded.postgres.NEW_DATABASE_MB", 0)
    with a_disk_of(160, fresh / "disk") as data:
        filler = fill(data, leave_mb=20)
        with pytest.raises(StartFailed, match=r"(?s)^Making the database failed.*No space left on device"):
            start_postgres(data)
        assert [path.name for path in cluster_of(data).parent.glob("data*")] == []
        filler.unlink()
        with running(data) as server:
            assert one(server.url, "select 1") == (1,)


def test_a_database_on_a_full_disk_is_refused_and_starts_when_there_is_room(fresh: Path, template: Path) -> None:
    with a_disk_of(160, fresh / "disk") as data:
        copy_into(data, template)
        filler = fill(data)
        assert "is full: 0 MB are left, and starting needs 24 MB; nothing was changed." in refusal(data)
        filler.unlink()
        with running(data) as server:
            assert one(server.url, "select 1") == (1,)


def test_a_start_that_fails_on_a_full_disk_says_that_it_is_full(
    fresh: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonry.embedded.postgres.START_MB", 0)
    with a_disk_of(160, fresh / "disk") as data:
        copy_into(data, template)
        filler = fill(data)
        with pytest.raises(StartFailed, match=r"No space left on device|is full: 0 MB are left"):
            start_postgres(data)
        filler.unlink()
        with running(data) as server:
            assert one(server.url, "select 1") == (1,)


def test_a_disk_that_gets_full_while_the_server_runs_costs_nothing_that_was_committed(
    fresh: Path, template: Path
) -> None:
    with a_disk_of(200, fresh / "disk") as data:
        copy_into(data, template)
        with running(data) as server:
            with psycopg.connect(server.url) as connection:
                connection.execute("create table kept as select 'committed' as word")
            filler = fill(data)
            with (
                pytest.raises((psycopg.errors.DiskFull, psycopg.OperationalError)),
                psycopg.connect(server.url) as busy,
            ):
                busy.execute("create table large as select repeat('x', 1000) from generate_series(1, 200000)")
            filler.unlink()
            if not server.is_running():
                restart(server)
            assert one(server.url, "select word from kept") == ("committed",)
            with psycopg.connect(server.url) as connection:
                connection.execute("insert into kept values ('afterwards')")


def test_temporal_on_a_full_disk_is_refused_and_starts_when_there_is_room(fresh: Path) -> None:
    with a_disk_of(60, fresh / "disk") as data:
        start_temporal(data, ui=False).stop()
        filler = fill(data)
        before = everything_in(data / "temporal")
        with pytest.raises(StartFailed, match="is full: 0 MB are left"):
            start_temporal(data, ui=False)
        assert everything_in(data / "temporal") == before
        filler.unlink()
        start_temporal(data, ui=False).stop()


def test_a_path_that_is_too_long_for_temporal_s_store_is_one_sentence(fresh: Path) -> None:
    deep = fresh.joinpath(*["d" * 120] * 4)
    with pytest.raises(StartFailed, match=r"^The path .* is too long for Temporal's store, which takes 500 bytes: "):
        start_temporal(deep, ui=False)


def test_a_disk_that_is_mounted_read_only_is_one_sentence(fresh: Path, template: Path) -> None:
    with a_disk_of(160, fresh / "disk") as data:
        copy_into(data, template)
        subprocess.run(["/bin/mount", "-o", "remount,ro", data], check=True)
        assert refusal(data).startswith(f"The data folder {data} cannot be used: Read-only file system (")


def test_a_place_that_nobody_can_write_is_one_sentence() -> None:
    with pytest.raises(StartFailed, match="The data folder /proc/canonry cannot be used"):
        start_postgres(Path("/proc/canonry"))


def test_a_folder_that_may_only_be_read_is_one_sentence(fresh: Path) -> None:
    fresh.chmod(0o555)
    sentence = f"canonry.failures.StartFailed: The data folder {fresh / 'mine'} cannot be used: Permission denied ("
    assert refusal_of_ordinary_user(fresh / "mine").startswith(sentence)


@as_root
def test_a_folder_of_another_account_is_refused_to_root_too(data: Path) -> None:
    os.chown(data, NOBODY.pw_uid, NOBODY.pw_gid)
    sentence = f"The data folder {data} belongs to the account nobody: start Canonry as that account,"
    assert refusal(data) == f"{sentence} or name another folder with --data."
    os.chown(data, 54_321, 54_321)
    assert " belongs to the user id 54321: " in refusal(data)


@as_root
def test_a_folder_of_root_is_refused_to_an_ordinary_user(data: Path) -> None:
    before = everything_in(data)
    assert " belongs to the account root: start Canonry as that account," in refusal_of_ordinary_user(data)
    assert everything_in(data) == before
