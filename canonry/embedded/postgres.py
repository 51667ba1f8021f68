"""The embedded PostgreSQL: one server per data folder, reachable by socket only, gone when its owner is."""

import math
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from canonry.embedded.cluster import (
    ROLE,
    SUPERUSER,
    RecordedServer,
    binaries_for,
    cluster_major,
    make_cluster,
    recorded_server,
    running_server,
    write_access_rules,
)
from canonry.embedded.disk import NEW_DATABASE_MB, START_MB, fullness, require_room
from canonry.embedded.locks import OwnerLock, read_note, take_lock
from canonry.embedded.placement import Home, look_up, settle, usable
from canonry.embedded.processes import (
    POLL_S,
    log_size,
    log_tail,
    send,
    server_environment,
    spawn,
    wait_until_gone,
    works_in,
)
from canonry.embedded.queries import complaint_of, ensure_database, forget_client_settings, is_final, url_of
from canonry.embedded.sockets import SOCKET_NAME, socket_folder
from canonry.failures import StartFailed

Report = Callable[[str], None]
"""Takes a line for a person."""

# 10 + 10 + 1 connections an API and worker pair, times a few pairs; what a server allows by default.
MAX_CONNECTIONS = 100
# For a server that says it is ready. How long it recovers from a crash before that is nobody's to limit.
ANSWER_LIMIT_S = 60
PATIENCE_S = 10
FAST_STOP_S = 20
ATTACH_LIMIT_S = 60
ATTACH_POLL_S = 0.1


@dataclass
class RunningPostgres:
    """A server that answers queries; `owned` when this process keeps it, otherwise another one does."""

    name: ClassVar = "postgres"
    home: Home
    socket_dir: Path
    pid: int
    lock: OwnerLock | None
    child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where the application's database is, as role `canonry`."""
        return url_of(self.socket_dir, ROLE, ROLE)

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.home.log("postgres")

    @property
    def owned(self) -> bool:
        """Whether it is ours to stop."""
        return self.lock is not None

    def is_running(self) -> bool:
        """Whether the server process lives."""
        return works_in(self.pid, self.home.cluster) if self.child is None else self.child.poll() is None

    def stop(self) -> None:
        """Shut down fast (20 s), then at once; never kill. Nothing happens to a server of another owner."""
        if self.lock is None:
            return
        if self.is_running():
            _shut_down(self.pid, self.child)
        self.lock.release()

    def relaunch(self) -> None:
        """Start the server again after it died, without waiting for it: a recovery may take long.

        Raises:
            StartFailed: it cannot be started.
        """
        with usable(self.home.data):
            running_server(self.home.cluster)  # clears what the dead one left
            self.child = _launch(self.home, self.socket_dir)
        self.pid = self.child.pid


def require_startable(data: Path) -> None:
    """See that a start has what it takes, before anything is begun.

    Raises:
        StartFailed: the folder or its disk cannot be used, or another major version made its database.
    """
    with usable(data):
        _require_startable(settle(data))


def start_postgres(data: Path, *, durable: bool = True, report: Report | None = None) -> RunningPostgres:
    """Start the server of a data folder, or attach to the one that another process keeps there.

    Args:
        data: the folder of the whole stack.
        durable: False does not wait for the disk while an empty database is made (for tests); the server is the same.
        report: told, as a line for a person, when the server takes long to recover.

    Raises:
        StartFailed: it does not come up; the text quotes its log.
    """
    forget_client_settings()
    with usable(data):
        home = settle(data)
        home.private_folder("postgres", "run")
        deadline = time.monotonic() + ATTACH_LIMIT_S
        while time.monotonic() < deadline:
            lock = take_lock(_lock_path(home))
            if lock is not None:
                return _own(home, lock, report or _silently, durable=durable)
            server = recorded_server(home.cluster)
            if server is not None:
                server.require_awake()
                if complaint_of(server.socket_dir, ROLE, ROLE) is None:
                    return RunningPostgres(home, server.socket_dir, server.pid, lock=None)
            time.sleep(ATTACH_POLL_S)
    raise StartFailed(f"The process {read_note(_lock_path(home))} keeps the database of {data}, which does not answer.")


def _require_startable(home: Home) -> None:
    binaries_for(home)
    require_room(home.path, START_MB if cluster_major(home.cluster) else NEW_DATABASE_MB)


def is_there(data: Path) -> bool:
    """Whether the data folder has a database, here or elsewhere.

    Raises:
        StartFailed: the folder cannot be read.
    """
    with usable(data):
        return cluster_major(look_up(data).cluster) is not None


def _own(home: Home, lock: OwnerLock, report: Report, *, durable: bool) -> RunningPostgres:
    try:
        _require_startable(home)
        if cluster_major(home.cluster) is None:
            make_cluster(home, binaries_for(home), durable=durable)
        server, child = _run(home, socket_folder(home), report)
    except BaseException:
        lock.release()
        raise
    return RunningPostgres(home, server.socket_dir, server.pid, lock, child)


def _silently(_line: str) -> None:
    """For whom a start's progress is nothing to report."""


def _run(home: Home, sockets: Path, report: Report) -> tuple[RecordedServer, subprocess.Popen[bytes] | None]:
    """Bring up the cluster's server: an orphan that a killed owner left, or a new one as our child."""
    begin = log_size(home.log("postgres"))
    server, child = running_server(home.cluster), None
    if server is None:
        child = _launch(home, sockets)
    try:
        server = _wait_until_ready(home, child, begin, report)
        ensure_database(server.socket_dir)
    except BaseException:
        _give_up(child)
        raise
    return server, child


def _give_up(child: subprocess.Popen[bytes] | None) -> None:
    if child is not None and child.poll() is None:
        _shut_down(child.pid, child)


def _shut_down(pid: int, child: subprocess.Popen[bytes] | None) -> None:
    for number in (signal.SIGINT, signal.SIGQUIT):
        send(pid, number)
        send(pid, signal.SIGCONT)  # a frozen server would never read the signal
        if wait_until_gone(pid, FAST_STOP_S, child):
            break


def _launch(home: Home, sockets: Path) -> subprocess.Popen[bytes]:
    rules, names = write_access_rules(home)
    for stale in (sockets / SOCKET_NAME, sockets / f"{SOCKET_NAME}.lock"):
        stale.unlink(missing_ok=True)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{sockets}"',  # quoted: a comma would begin another one
        "unix_socket_permissions": "0700",
        "hba_file": rules,
        "ident_file": names,
        "max_connections": MAX_CONNECTIONS,
        "cluster_name": "canonry",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] ",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return spawn(
        [binaries_for(home).program("postgres"), "-D", home.cluster, *options],
        log=home.log("postgres"),
        cwd=home.cluster,
        environment=server_environment(home.path),
        death_signal=signal.SIGINT,
        account=home.account,
    )


def _wait_until_ready(
    home: Home, child: subprocess.Popen[bytes] | None, log_begin: int, report: Report
) -> RecordedServer:
    began, ready_since = time.monotonic(), None
    server, complaint = recorded_server(home.cluster), None
    while child is None or child.poll() is None:
        now = time.monotonic()
        server = recorded_server(home.cluster)
        if server is not None and server.status == "ready":
            complaint = complaint_of(server.socket_dir, SUPERUSER, SUPERUSER)
            if complaint is None:
                return server
            ready_since = ready_since or now
            if is_final(complaint) or now - ready_since > ANSWER_LIMIT_S:
                break
        elif child is None and server is None:  # the orphan that was to be adopted has ended
            break
        elif now - began > PATIENCE_S:
            report(f"PostgreSQL recovers after a crash; that takes as long as it takes ({home.log('postgres')})")
            began = math.inf
        time.sleep(POLL_S)
    ended = server is None if child is None else child.poll() is not None
    how = "ended while it started" if ended else f"does not answer ({complaint})"
    text = log_tail(home.log("postgres"), log_begin)
    raise StartFailed(f"PostgreSQL {how}{fullness(home.path)}:\n{text}")


def _lock_path(home: Home) -> Path:
    return home.cluster.with_name("owner.lock")
