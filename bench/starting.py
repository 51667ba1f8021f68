"""How long a warm `canonry up` takes until it serves, against its two servers alone, started by hand on the same data.

By hand is how their own manuals do it: `pg_ctl start --wait`, then `temporal server start-dev` until
`temporal operator cluster health` succeeds; the same files, options and account, and nothing of ours. Both at once
is measured as well.
"""

import argparse
import http
import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measuring import MILLISECONDS, Comparison, Schedule, interleaved, table
from canonry.embedded.binaries import find_postgres, find_temporal, postgres_for, temporal_for
from canonry.embedded.placement import Home, settle
from canonry.embedded.ports import LOOPBACK, free_port
from canonry.embedded.processes import server_environment
from canonry.embedded.temporal import SQLITE_PRAGMAS
from tests.stack import a_reachable_folder
from workflows.search_attributes import SEARCH_ATTRIBUTES

FULL = Schedule(rounds=9, repeats=1, warm_up=2)
QUICK = Schedule(rounds=1, repeats=1, warm_up=1)
UP = "canonry up on existing data, to /readyz"
IN_TURN, AT_ONCE = "both servers by hand", "both servers by hand, at once"
AT_MOST = 3.0
POLL_S = 0.01
LIMIT_S = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: too short to mean anything")
    print(table(measure_start(QUICK if parser.parse_args().quick else FULL)), end="\n\n", flush=True)


def measure_start(schedule: Schedule) -> list[Comparison]:
    with _data_of_a_former_start() as data:
        servers = _servers_of(data)
        subjects = {UP: lambda: _milliseconds_of_up(data), IN_TURN: servers.in_turn, AT_ONCE: servers.at_once}
        medians = interleaved(subjects, schedule)
    return [
        Comparison(UP, medians[UP], IN_TURN, medians[IN_TURN], AT_MOST),
        Comparison(UP, medians[UP], AT_ONCE, medians[AT_ONCE]),
    ]


@contextmanager
def _data_of_a_former_start() -> Iterator[Path]:
    folder = a_reachable_folder()
    try:
        # One that published something, as any that was used: after it, serving need not wait for Temporal's client.
        subprocess.run(_canonry("demo", folder, free_port(), "--exit"), check=True, capture_output=True)  # noqa: S603
        yield folder
    finally:
        shutil.rmtree(folder)


def _canonry(command: str, data: Path, port: int, *more: str) -> list[str]:
    return [sys.executable, "-P", "-m", "canonry", command, "--data", str(data), "--port", str(port), *more]


def _milliseconds_of_up(data: Path) -> float:
    """From the start of the process to the first 200 of `/readyz`."""
    port, begin = free_port(), time.perf_counter()
    process = subprocess.Popen(_canonry("up", data, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        while not _is_ready(port):
            if process.poll() is not None or time.perf_counter() - begin > LIMIT_S:
                raise RuntimeError("canonry up did not get ready")
            time.sleep(POLL_S)
        return (time.perf_counter() - begin) * MILLISECONDS
    finally:
        process.terminate()
        process.wait()


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=LIMIT_S)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@dataclass(frozen=True)
class _Servers:
    """The two servers of a data folder, without our launcher."""

    home: Home
    pg_ctl: Path
    temporal: Path
    port: int

    def in_turn(self) -> float:
        """The milliseconds until both answer, the second started when the first does."""
        begin = time.perf_counter()
        with self._postgres_running(), self._temporal_running() as temporal:
            self._await_health(temporal)
            return (time.perf_counter() - begin) * MILLISECONDS

    def at_once(self) -> float:
        """The milliseconds until both answer."""
        begin = time.perf_counter()
        with self._temporal_running() as temporal, self._postgres_running():
            self._await_health(temporal)
            return (time.perf_counter() - begin) * MILLISECONDS

    @contextmanager
    def _postgres_running(self) -> Iterator[None]:
        self._require(self._postgres("start", "--log", os.devnull, "--options", self._postgres_options()))
        try:
            yield
        finally:
            self._require(self._postgres("stop", "--mode", "fast"))

    @contextmanager
    def _temporal_running(self) -> Iterator[subprocess.Popen[bytes]]:
        temporal = self._begin(self._temporal_server())
        try:
            yield temporal
        finally:
            temporal.terminate()
            temporal.wait()

    def _await_health(self, temporal: subprocess.Popen[bytes]) -> None:
        deadline = time.perf_counter() + LIMIT_S
        health: list[str | Path] = [self.temporal, "operator", "cluster", "health"]
        while self._begin([*health, "--address", f"{LOOPBACK}:{self.port}"]).wait() != 0:
            if temporal.poll() is not None or time.perf_counter() > deadline:
                raise RuntimeError("Temporal did not get ready")

    def _postgres(self, action: str, *more: str) -> list[str | Path]:
        return [self.pg_ctl, action, "--wait", "--silent", "--pgdata", self.home.cluster, *more]

    def _postgres_options(self) -> str:
        folder = self.home.cluster.parent
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": folder / "run",
            "hba_file": folder / "pg_hba.conf",
            "ident_file": folder / "pg_ident.conf",
        }
        return " ".join(f"-c {name}={value}" for name, value in settings.items())

    def _temporal_server(self) -> list[str | Path]:
        store = self.home.path / "temporal" / "temporal.db"
        command: list[str | Path] = [self.temporal, "server", "start-dev", "--ip", LOOPBACK, "--port", str(self.port)]
        command += ["--ui-port", str(free_port(besides=[self.port])), "--log-level", "error", "--db-filename", store]
        for name, value in SQLITE_PRAGMAS.items():
            command += ["--sqlite-pragma", f"{name}={value}"]
        for name, kind in SEARCH_ATTRIBUTES.items():
            command += ["--search-attribute", f"{name}={kind}"]
        return command

    def _require(self, command: list[str | Path]) -> None:
        if self._begin(command).wait() != 0:
            raise RuntimeError(f"{command[0]} failed")

    def _begin(self, command: list[str | Path]) -> subprocess.Popen[bytes]:
        account = self.home.account
        return subprocess.Popen(  # noqa: S603  (no shell, our own words)
            command,
            user=account.uid if account.dropped else None,
            group=account.gid if account.dropped else None,
            extra_groups=[] if account.dropped else None,
            env=server_environment(self.home.path),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _servers_of(data: Path) -> _Servers:
    home = settle(data)
    pg_ctl = postgres_for(home.account, find_postgres(), home.path).program("pg_ctl")
    return _Servers(home, pg_ctl, temporal_for(home.account, find_temporal(), home.path), free_port())


if __name__ == "__main__":
    main()
