import asyncio
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from canonry.embedded.processes import is_running
from canonry.embedded.temporal import RunningTemporal
from canonry.failures import StartFailed
from tests.parts import restart, start_temporal
from tests.stack import a_reachable_folder, as_ordinary_user

OWNER = """
import json, sys, time
from pathlib import Path
from canonry.embedded.temporal import launch_temporal
server = launch_temporal(Path(sys.argv[1]))
server.wait_until_ready()
print(json.dumps({"pid": server.pid, "ui": server.ui_url}), flush=True)
time.sleep(float(sys.argv[2]))
server.stop()
"""


@pytest.fixture
def data() -> Iterator[Path]:
    folder = a_reachable_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server(data: Path) -> Iterator[RunningTemporal]:
    running = start_temporal(data, search_attributes={"ReviewStatus": "Keyword"})
    yield running
    running.stop()


def test_clients_connect_and_find_our_search_attributes(server: RunningTemporal) -> None:
    async def custom_attributes() -> dict[str, int]:
        client = await Client.connect(server.address)
        answer = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
        return dict(answer.custom_attributes)

    assert asyncio.run(custom_attributes()) == {"ReviewStatus": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}


def test_the_ui_is_served(server: RunningTemporal) -> None:
    assert server.ui_url is not None
    assert httpx.get(server.ui_url, trust_env=False).status_code == httpx.codes.OK


def test_everything_listens_on_loopback_alone(server: RunningTemporal) -> None:
    listening = [each for each in psutil.Process(server.pid).net_connections(kind="inet") if each.status == "LISTEN"]
    outside = {each.laddr.ip for each in listening} - {"127.0.0.1", "::1"}
    assert listening
    assert outside == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_s_server_runs_as_another_account(server: RunningTemporal) -> None:
    assert psutil.Process(server.pid).username() in {"postgres", "nobody"}
    assert server.store.stat().st_mode & 0o077 == 0


def test_an_ordinary_user_starts_it_too(data: Path) -> None:
    data.chmod(0o777)
    command = as_ordinary_user([sys.executable, "-c", OWNER, str(data / "mine"), "0"])
    answer = subprocess.run(
        command, check=True, capture_output=True, text=True, env={"HOME": str(data), "PATH": os.defpath}
    )
    assert json.loads(answer.stdout)["ui"]
    assert (data / "mine" / "temporal" / "temporal.db").exists()


def test_a_killed_server_starts_again_at_the_same_address_with_its_workflows(server: RunningTemporal) -> None:
    async def start() -> None:
        client = await Client.connect(server.address)
        await client.start_workflow("Nobody", id="kept", task_queue="nobody")

    async def status() -> str:
        client = await Client.connect(server.address)
        found = await client.get_workflow_handle("kept").describe()
        return found.status.name if found.status else "none"

    asyncio.run(start())
    address = server.address
    os.kill(server.pid, signal.SIGKILL)
    restart(server)
    assert server.address == address
    assert asyncio.run(status()) == "RUNNING"


def test_a_store_whose_first_start_was_killed_is_begun_anew(data: Path) -> None:
    first = start_temporal(data, ui=False)
    first.stop()
    (first.store.parent / "complete").unlink()  # as if killed before it answered …
    first.store.write_bytes(b"")  # … and before the first table
    start_temporal(data, ui=False).stop()
    assert (first.store.parent / "complete").exists()


@pytest.mark.parametrize("name", ["ein Ordner mit ö", "a % sign, a # and a ?", "no text \udcff"])
def test_a_folder_may_have_any_name(data: Path, name: str) -> None:
    folder = data / name
    start_temporal(folder, ui=False).stop()
    assert (folder / "temporal" / "temporal.db").stat().st_size > 0


def _emptied(store: Path) -> None:
    store.write_bytes(b"")


def _half_written(store: Path) -> None:
    content = store.read_bytes()
    store.write_bytes(content[: len(content) // 2])


def _overwritten(store: Path) -> None:
    store.write_bytes(b"\xff" * store.stat().st_size)


@pytest.mark.parametrize("damage", [_emptied, _half_written, _overwritten])
def test_a_damaged_store_is_one_sentence_that_says_how_to_go_on(data: Path, damage: Callable[[Path], None]) -> None:
    first = start_temporal(data, ui=False)
    first.stop()
    with sqlite3.connect(first.store) as store:
        store.execute("pragma wal_checkpoint(truncate)")
    store.close()
    damage(first.store)
    with pytest.raises(StartFailed) as refused:
        start_temporal(data, ui=False)
    sentence, command, _ = str(refused.value).split("\n\n")
    assert sentence == (
        f"Temporal's store {first.store} is damaged. Nothing is lost without it, because Postgres knows what has to be"
        " done: remove it and start again."
    )
    assert command == f"  rm {first.store}*"
    subprocess.run(["/bin/sh", "-c", command], check=True)
    start_temporal(data, ui=False).stop()


def test_a_second_start_on_the_same_store_is_refused_and_names_the_first(server: RunningTemporal, data: Path) -> None:
    with pytest.raises(StartFailed, match=f"The process {os.getpid()} keeps the Temporal store"):
        start_temporal(data)


def test_kill_9_of_the_owner_leaves_no_server_and_a_warm_start_keeps_the_ui_s_url(data: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(data), "600"], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout as lines:
        first = json.loads(lines.readline())
    owner.kill()
    owner.wait()
    deadline = time.monotonic() + 10
    while is_running(first["pid"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(first["pid"])
    again = start_temporal(data)
    assert again.ui_url == first["ui"]
    again.stop()


def test_a_remembered_port_that_is_taken_by_now_is_replaced(data: Path) -> None:
    first = start_temporal(data)
    first.stop()
    with socket.create_server(("127.0.0.1", first.ports["ui"])):
        again = start_temporal(data)
    assert again.ports["ui"] != first.ports["ui"]
    assert again.ports["grpc"] == first.ports["grpc"]
    again.stop()


def test_a_wanted_port_that_is_taken_is_one_sentence(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartFailed, match=f"Port {port}, wanted for Temporal, is taken by another program."):
            start_temporal(data, port=port)


def test_a_start_that_fails_quotes_the_log_and_leaves_the_folder_free(data: Path) -> None:
    server = start_temporal(data)
    server.stop()
    for file in server.store.parent.iterdir():
        file.unlink()
    server.store.mkdir()
    with pytest.raises(StartFailed, match="unable to open database file"):
        start_temporal(data)
    server.store.rmdir()
    start_temporal(data).stop()


def test_a_frozen_server_can_be_stopped(data: Path) -> None:
    server = start_temporal(data)
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    assert not server.is_running()
