"""A real Postgres, Temporal, API and worker for tests, each killed, restarted and stopped by pid."""

import asyncio
import atexit
import functools
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import psycopg
import pytest
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from canonry.embedded.accounts import Account, can_read
from canonry.embedded.cluster import SUPERUSER
from canonry.embedded.ports import free_port
from canonry.embedded.postgres import RunningPostgres, start_postgres
from canonry.embedded.processes import spawn
from canonry.embedded.temporal import RunningTemporal, launch_temporal
from models.migrations import upgrade
from tests.clusters import copy_into
from tests.up import a_command, an_environment
from workflows.search_attributes import SEARCH_ATTRIBUTES

READY_LIMIT_S = 60
POLL_S = 0.05


@dataclass
class Stack:
    """Postgres and Temporal of one data folder, `root`; `stop` removes the folder when `start_stack` made it."""

    root: Path
    postgres: RunningPostgres
    temporal: RunningTemporal
    temporary: bool

    @property
    def database_url(self) -> str:
        return self.postgres.url

    @property
    def temporal_address(self) -> str:
        return self.temporal.address

    def kill_postgres(self) -> None:
        """Kill -9 the server; `restart(postgres)` starts it again at the same URL."""
        os.kill(self.postgres.pid, signal.SIGKILL)

    def kill_temporal(self) -> None:
        """Kill -9 the server; `restart(temporal)` starts it again at the same address."""
        os.kill(self.temporal.pid, signal.SIGKILL)

    def lose_temporal_store(self) -> None:
        """Kill -9 the server and delete its file; `restart(temporal)` begins with an empty one."""
        self.kill_temporal()
        self.temporal.child.wait()
        for file in self.temporal.store.parent.iterdir():
            file.unlink()

    def stop(self) -> None:
        self.temporal.stop()
        self.postgres.stop()
        if self.temporary:
            shutil.rmtree(self.root)


@dataclass
class Service:
    """A `canonry api` or `canonry worker` process; `url` is the API's, empty for a worker."""

    name: str
    url: str
    child: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.child.pid

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill -9, and wait for the end."""
        self.child.kill()
        self.child.wait()

    def stop(self, seconds: float = 60) -> int:
        """Ask it to end, and return its exit code."""
        self.child.terminate()
        return self.child.wait(seconds)


def start_stack(root: Path | None = None, *, search_attributes: Mapping[str, str] | None = None) -> Stack:
    """Start both servers in `root`, or in a new folder that the servers' account can reach when we are root."""
    folder = root or a_reachable_folder()
    with ExitStack() as undo:
        temporal = launch_temporal(folder, search_attributes=search_attributes or SEARCH_ATTRIBUTES)
        undo.callback(temporal.stop)
        postgres = start_postgres(folder, durable=False)
        undo.callback(postgres.stop)
        temporal.wait_until_ready()
        undo.pop_all()
    return Stack(folder, postgres, temporal, temporary=root is None)


def start_migrated_stack() -> Stack:
    """Start both servers in a new folder, on a database with every migration: a copy of one that is made once a run."""
    folder = a_reachable_folder()
    copy_into(folder, _a_migrated_folder())
    return replace(start_stack(folder), temporary=True)


@functools.cache
def _a_migrated_folder() -> Path:
    folder = a_reachable_folder()
    atexit.register(shutil.rmtree, folder)
    postgres = start_postgres(folder, durable=False)
    try:
        upgrade(postgres.url)
        with psycopg.connect(postgres.url, autocommit=True, user=SUPERUSER) as connection:
            connection.execute("alter system set fsync = off")  # tests kill processes, and never the machine
    finally:
        postgres.stop()
    return folder


def start_api(
    stack: Stack, database_url: str | None = None, *, ready_within_s: float = READY_LIMIT_S, **env: str
) -> Service:
    """Start `canonry api` on a free port against the stack, and return when `/readyz` is 200.

    Args:
        stack: whose servers it uses.
        database_url: another database of the same server (already migrated).
        ready_within_s: how long it may take; an index of many memories takes its time.
        env: further `CANONRY_…` variables.
    """
    port = free_port()
    service = _start("api", stack, {"CANONRY_PORT": str(port)} | _database(stack, database_url) | env)
    service.url = f"http://127.0.0.1:{port}"
    readyz = functools.partial(httpx.get, f"{service.url}/readyz", timeout=5, trust_env=False)
    _wait(service, lambda: readyz().status_code == httpx.codes.OK, ready_within_s)
    return service


def start_worker(stack: Stack, database_url: str | None = None, **env: str) -> Service:
    """Start `canonry worker` against the stack, and return when it polls its task queue; arguments as `start_api`."""
    service = _start("worker", stack, _database(stack, database_url) | env)
    queue = env.get("CANONRY_TASK_QUEUE", "canonry")
    _wait(service, lambda: asyncio.run(_polls(stack.temporal_address, queue, service.pid)))
    return service


def a_reachable_folder() -> Path:
    """A new folder that any account may pass: pytest's own are private, which a dropped account cannot pass."""
    folder = Path(tempfile.mkdtemp(prefix="canonry-test-", dir="/tmp"))
    folder.chmod(0o711)
    return folder


def as_ordinary_user(command: list[str]) -> list[str]:
    """The same command for an account without rights: ours, or as root `nobody`.

    Root's interpreter may lie below a private folder. Then the command keeps the one capability to read there.
    """
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root needs setpriv to try an ordinary user")
    nobody = pwd.getpwnam("nobody")
    drop = [setpriv, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    account = Account("nobody", nobody.pw_uid, nobody.pw_gid, dropped=True)
    if not can_read(account, Path(sys.executable).resolve()) or not can_read(account, Path(__file__)):
        # Without the last one `access(2)`, unlike `open(2)`, would forget the capability.
        drop += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--securebits=+no_setuid_fixup"]
    return [*drop, *command]


async def _polls(address: str, queue: str, pid: int) -> bool:
    client = await Client.connect(address)
    answer = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace="default",
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    return any(poller.identity.startswith(f"{pid}@") for poller in answer.pollers)


def _database(stack: Stack, url: str | None) -> dict[str, str]:
    return {"CANONRY_DATABASE_URL": url or stack.database_url}


def _start(name: str, stack: Stack, variables: dict[str, str]) -> Service:
    log = stack.root / "logs" / f"{name}-{time.monotonic_ns()}.log"
    own = {"CANONRY_TEMPORAL_ADDRESS": stack.temporal_address, "CANONRY_DATA": str(stack.root)}
    child = spawn(
        a_command(name),
        log=log,
        cwd=stack.root,
        environment=an_environment(**(own | variables)),
        death_signal=signal.SIGKILL,  # an interrupted test run leaves nothing behind
    )
    return Service(name, "", child, log)


def _wait(service: Service, ready: Callable[[], bool], within_s: float = READY_LIMIT_S) -> None:
    deadline = time.monotonic() + within_s
    while not _try(ready):
        if service.child.poll() is not None or time.monotonic() > deadline:
            service.kill()
            raise AssertionError(f"canonry {service.name} did not become ready:\n{service.log_text()[-4000:]}")
        time.sleep(POLL_S)


def _try(ready: Callable[[], bool]) -> bool:
    try:
        return ready()
    except (httpx.TransportError, RPCError, RuntimeError):
        return False
