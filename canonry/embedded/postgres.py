"""The embedded PostgreSQL: one server per data folder, reachable by socket only, gone when its owner is."""

import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import psycopg

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
from canonry.embedded.locks import OwnerLock, read_note, take_lock
from canonry.embedded.placement import Home, settle, usable
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
from canonry.embedded.sockets import SOCKET_NAME, socket_folder
from canonry.failures import StartFailed

# 10 + 10 + 1 connections an API and worker pair, times a few pairs; what a server allows by default.
MAX_CONNECTIONS = 100
# A long crash recovery is not a failure; ten minutes bound a start that hangs.
START_LIMIT_S = 600
FAST_STOP_S = 20
ATTACH_LIMIT_S = 60
ATTACH_POLL_S = 0.1
CONNECT_LIMIT_S = 5


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
        return _url(self.socket_dir, ROLE, ROLE)

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
        for number in (signal.SIGINT, signal.SIGQUIT):
            if not self.is_running():
                break
            send(self.pid, number)
            send(self.pid, signal.SIGCONT)  # a frozen server would never read the signal
            wait_until_gone(self.pid, FAST_STOP_S, self.child)
        self.lock.release()

    def restart(self) -> None:
        """Start the server again after it died; URL and socket stay.

        Raises:
            StartFailed: it does not come up.
        """
        if self.child is not None:
            self.child.wait()
        server, self.child = _run(self.home, self.socket_dir)
        self.pid = server.pid


def start_postgres(data: Path, *, durable: bool = True) -> RunningPostgres:
    """Start the server of a data folder, or attach to the one that another process keeps there.

    Args:
        data: the folder of the whole stack.
        durable: False does not wait for the disk while an empty database is made (for tests); the server is the same.

    Raises:
        StartFailed: it does not come up; the text quotes its log.
    """
    with usable(data):
        home = settle(data)
        home.private_folder("postgres", "run")
        deadline = time.monotonic() + ATTACH_LIMIT_S
        while time.monotonic() < deadline:
            lock = take_lock(_lock_path(home))
            if lock is not None:
                return _own(home, lock, durable=durable)
            server = recorded_server(home.cluster)
            if server is not None and _complaint(server.socket_dir, ROLE, ROLE) is None:
                return RunningPostgres(home, server.socket_dir, server.pid, lock=None)
            time.sleep(ATTACH_POLL_S)
    raise StartFailed(f"The process {read_note(_lock_path(home))} keeps the database of {data}, which does not answer.")


def is_there(data: Path) -> bool:
    """Whether the data folder has a database, here or elsewhere."""
    return (data / "postgres.location").exists() or cluster_major(data / "postgres" / "data") is not None


def _own(home: Home, lock: OwnerLock, *, durable: bool) -> RunningPostgres:
    try:
        if cluster_major(home.cluster) is None:
            make_cluster(home, binaries_for(home), durable=durable)
        server, child = _run(home, socket_folder(home))
    except BaseException:
        lock.release()
        raise
    return RunningPostgres(home, server.socket_dir, server.pid, lock, child)


def _run(home: Home, sockets: Path) -> tuple[RecordedServer, subprocess.Popen[bytes] | None]:
    """Bring up the cluster's server: an orphan that a killed owner left, or a new one as our child."""
    begin = log_size(home.log("postgres"))
    server, child = running_server(home.cluster), None
    if server is None:
        child = _launch(home, sockets)
    try:
        server = _wait_until_ready(home, child, begin)
        _ensure_database(server.socket_dir)
    except psycopg.Error as error:
        _give_up(child)
        raise StartFailed(f"PostgreSQL cannot make its database: {error}") from error
    except BaseException:
        _give_up(child)
        raise
    return server, child


def _give_up(child: subprocess.Popen[bytes] | None) -> None:
    if child is not None:
        child.send_signal(signal.SIGINT)
        child.wait()


def _launch(home: Home, sockets: Path) -> subprocess.Popen[bytes]:
    rules, names = write_access_rules(home)
    for stale in (sockets / SOCKET_NAME, sockets / f"{SOCKET_NAME}.lock"):
        stale.unlink(missing_ok=True)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{sockets}"',
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


def _wait_until_ready(home: Home, child: subprocess.Popen[bytes] | None, log_begin: int) -> RecordedServer:
    deadline = time.monotonic() + START_LIMIT_S
    complaint: str | None = "it is still starting"
    while time.monotonic() < deadline and (child is None or child.poll() is None):
        server = recorded_server(home.cluster)
        if server is not None and server.status == "ready":
            complaint = _complaint(server.socket_dir, SUPERUSER, SUPERUSER)
            if complaint is None:
                return server
        time.sleep(POLL_S)
    how = f"does not answer ({complaint})" if child is None or child.poll() is None else "ended while it started"
    raise StartFailed(f"PostgreSQL {how}:\n{log_tail(home.log('postgres'), log_begin)}")


def _complaint(sockets: Path, role: str, database: str) -> str | None:
    """Why a real query is not answered now, None when it is."""
    try:
        with psycopg.connect(_url(sockets, role, database), connect_timeout=CONNECT_LIMIT_S) as connection:
            connection.execute("select 1")
    except psycopg.OperationalError as error:
        return str(error)
    return None


def _ensure_database(sockets: Path) -> None:
    """Make the role and the database `canonry` where they are missing: again after a start that was cut short."""
    with psycopg.connect(_url(sockets, SUPERUSER, SUPERUSER), autocommit=True) as connection:
        if connection.execute("select from pg_roles where rolname = %s", [ROLE]).fetchone() is None:
            connection.execute(f"create role {ROLE} login createdb")
        if connection.execute("select from pg_database where datname = %s", [ROLE]).fetchone() is None:
            connection.execute(f"create database {ROLE} owner {ROLE}")


def _lock_path(home: Home) -> Path:
    return home.cluster.with_name("owner.lock")


def _url(sockets: Path, role: str, database: str) -> str:
    return f"postgresql://{role}@/{database}?host={quote(str(sockets), safe='')}"
