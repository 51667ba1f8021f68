"""`canonry up` refuses what it cannot serve in one sentence, before anything is started, and harms nothing."""

import os
import pwd
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from canonry.embedded.ports import free_port
from tests.client import Client, a_project, ok
from tests.clusters import a_disk_of, cluster_of, copy_into, everything_in, fill
from tests.proposals import a_draft, creates, references
from tests.up import an_up, assert_none_left, assert_one_sentence, run


def assert_refused(data: Path, pattern: str) -> None:
    before = everything_in(cluster_of(data))
    assert_one_sentence(run("up", "--data", str(data), "--port", str(free_port())), f"canonry up: {pattern}")
    assert everything_in(cluster_of(data)) == before
    assert not (data / "temporal").exists()
    assert_none_left(data)


def test_a_database_of_another_major_version_is_refused_with_the_commands_that_carry_it_over(data: Path) -> None:
    (cluster_of(data) / "PG_VERSION").write_text("17\n")
    made_by = rf"The database in {cluster_of(data)} was made by PostgreSQL 17, and PostgreSQL \d+ is what runs here;"
    assert_refused(data, rf"{made_by} nothing was changed\.[\s\S]*pg_dump[\s\S]*initdb[\s\S]*psql[\s\S]*")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_folder_of_another_account_is_refused(data: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(data, nobody.pw_uid, nobody.pw_gid)
    assert_refused(data, r"The data folder .* belongs to the account nobody: start Canonry as .*")


def test_a_full_disk_is_refused(fresh: Path, template: Path) -> None:
    with a_disk_of(160, fresh / "disk") as data:
        copy_into(data, template)
        fill(data)
        assert_refused(data, r"The disk of .* is full: 0 MB are left, and starting needs 24 MB; nothing was changed\.")


def test_a_read_only_disk_is_refused(fresh: Path, template: Path) -> None:
    with a_disk_of(160, fresh / "disk") as data:
        copy_into(data, template)
        subprocess.run(["/bin/mount", "-o", "remount,ro", data], check=True)
        assert_refused(data, rf"The data folder {data} cannot be used: Read-only file system \(.*\)\.")


def test_a_file_in_the_place_of_the_folder_is_refused(fresh: Path) -> None:
    (fresh / "file").touch()
    answer = run("up", "--data", str(fresh / "file"), "--port", str(free_port()))
    assert_one_sentence(answer, r"canonry up: The data folder .* cannot be used: Not a directory \(.*\)\.")


def test_what_was_pending_ends_after_a_damaged_temporal_store_was_removed_as_the_refusal_says(fresh: Path) -> None:
    up = an_up(fresh / "data")
    owner = Client(up.url, (up.data / "owner.token").read_text().strip())
    project_id = a_project(owner)
    draft = a_draft(owner, project_id, creates("kept.md"))
    (temporal,) = up.parts("start-dev")
    temporal.send_signal(signal.SIGSTOP)
    body = {"project_id": project_id, "title": "Pending", "drafts": references([draft])}
    location = ok(owner.post("/reviews", body), 202)["operation_id"]
    up.child.kill()
    up.child.wait()
    assert_none_left(up.data)

    store = up.data / "temporal" / "temporal.db"
    connection = sqlite3.connect(store)
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])
    refused = run("up", "--data", str(up.data), "--port", str(free_port()))
    assert refused.returncode == 1
    sentence, command, _ = refused.stderr.split("\n\n")
    assert sentence.startswith(f"canonry up: Temporal's store {store} is damaged. Nothing is lost without it, ")
    assert_none_left(up.data)

    subprocess.run(["/bin/sh", "-c", command], check=True)
    again = an_up(up.data)
    try:
        owner = Client(again.url, (up.data / "owner.token").read_text().strip())
        operation = ok(owner.get(f"/operations/{location}", wait=25))
        assert (operation["status"], operation["kind"]) == ("succeeded", "review.submit")
    finally:
        again.child.terminate()
        assert again.child.wait(60) == 0
