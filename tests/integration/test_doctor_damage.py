"""`canonry doctor` says of a folder at rest why `canonry up` would not start there; each damage is made and mended."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from canonry.embedded.ports import free_port
from tests.clusters import a_disk_of, cluster_of, copy_into
from tests.stack import a_reachable_folder
from tests.terminal import Ran, ran

Damage = Callable[[Path], Iterator[None]]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(scope="module")
def at_rest(template: Path) -> Iterator[Path]:
    """A folder as a stopped stack leaves it."""
    folder = a_reachable_folder()
    copy_into(folder, template)
    (folder / "temporal").mkdir()
    (folder / "temporal" / "temporal.db").write_bytes(b"SQLite format 3\0 and so on")
    (folder / "temporal" / "complete").touch()
    yield folder
    shutil.rmtree(folder)


def told(data: Path) -> Ran:
    done = ran("doctor", "--data", str(data), CANONRY_PORT=str(free_port()))
    assert done.errors == ""
    return done


def _lost(*names: str) -> Damage:
    def damage(data: Path) -> Iterator[None]:
        path = cluster_of(data).joinpath(*names)
        path.rename(data / "aside")
        yield
        (data / "aside").rename(path)

    return damage


def _open_to_all(data: Path) -> Iterator[None]:
    cluster_of(data).chmod(0o777)
    yield
    cluster_of(data).chmod(0o700)


def _no_store(data: Path) -> Iterator[None]:
    store = data / "temporal" / "temporal.db"
    content = store.read_bytes()
    store.write_bytes(b"garbage")
    yield
    store.write_bytes(content)


def _no_log_folder(data: Path) -> Iterator[None]:
    (data / "logs").rename(data / "aside")
    (data / "logs").touch()
    yield
    (data / "logs").unlink()
    (data / "aside").rename(data / "logs")


def _files_elsewhere(data: Path) -> Iterator[None]:
    (data / "postgres.location").write_text("/var/lib/canonry/gone\n")
    yield
    (data / "postgres.location").unlink()


def _another_owner(data: Path) -> Iterator[None]:
    owner = data.stat()
    os.chown(data, pwd.getpwnam("nobody").pw_uid, -1)
    yield
    os.chown(data, owner.st_uid, -1)


def test_a_folder_at_rest_is_well(at_rest: Path) -> None:
    assert (told(at_rest).code, "bad" in told(at_rest).output) == (0, False), told(at_rest).output


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (_lost("global", "pg_control"), "postgres/data has no global/pg_control"),
        (_lost("pg_wal"), "postgres/data has no pg_wal"),
        (_lost("base"), "postgres/data has no base"),
        (_open_to_all, "postgres/data is open to other accounts"),
        (_no_store, "temporal/temporal.db is damaged"),
        (_no_log_folder, "logs is no folder"),
        (_files_elsewhere, "names /var/lib/canonry/gone, which is gone;"),
        pytest.param(_another_owner, "of nobody, mode", marks=as_root),
    ],
)
def test_what_would_keep_it_from_starting_is_bad(at_rest: Path, damage: Damage, what: str) -> None:
    with contextmanager(damage)(at_rest):
        done = told(at_rest)
    assert done.code == 4
    assert what in done.output
    assert "CANONRY_DATABASE_URL" not in done.output


def test_a_file_in_the_place_of_the_folder_is_bad(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = told(tmp_path / "file")
    assert (done.code, "It is a file: name a folder by --data." in done.output) == (4, True)


def test_a_read_only_disk_is_bad(tmp_path: Path) -> None:
    with a_disk_of(2, tmp_path / "disk") as data:
        subprocess.run(["/bin/mount", "-o", "remount,ro", data], check=True)
        done = told(data)
    assert (done.code, f"{data} is on a read-only disk" in done.output) == (4, True)
