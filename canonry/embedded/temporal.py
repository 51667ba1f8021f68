"""The embedded Temporal: a development server with a file store, one per data folder, gone when its owner is."""

import http
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from canonry.embedded.binaries import find_temporal, temporal_for
from canonry.embedded.disk import START_MB, fullness, require_room
from canonry.embedded.locks import OwnerLock, read_note, take_lock
from canonry.embedded.placement import Home, is_text, settle, usable
from canonry.embedded.ports import LOOPBACK, remembered_ports, require_free
from canonry.embedded.processes import end_child, log_size, log_tail, server_environment, spawn
from canonry.failures import StartFailed

START_LIMIT_S = 60
STOP_LIMIT_S = 15
ANSWER_LIMIT_S = 2
POLL_S = 0.05
# What SQLite says of a file that is not, or is only in part, what Temporal wrote.
DAMAGE = re.compile("no such table|not a database|malformed|disk I/O error|corrupt")
# SQLite takes 512 bytes, with those of the journal that it puts beside.
LONGEST_STORE_PATH = 500
SQLITE = b"SQLite format 3\0"
URL_SIGNS = frozenset("%?#")
# The file survives kill -9 with these, and takes twice the workflows a second of the defaults.
SQLITE_PRAGMAS = {"journal_mode": "WAL", "synchronous": "NORMAL"}


@dataclass(frozen=True)
class TemporalOptions:
    """How the server is started, again at every restart."""

    namespace: str
    ui: bool
    search_attributes: Mapping[str, str]
    dynamic_config: Mapping[str, str]


@dataclass
class RunningTemporal:
    """A Temporal server that this process keeps."""

    name: ClassVar = "temporal"
    home: Home
    options: TemporalOptions
    ports: Mapping[str, int]
    lock: OwnerLock
    child: subprocess.Popen[bytes]
    log_begin: int

    @property
    def pid(self) -> int:
        """The server process."""
        return self.child.pid

    @property
    def address(self) -> str:
        """Where clients connect, as host:port."""
        return f"{LOOPBACK}:{self.ports['grpc']}"

    @property
    def ui_url(self) -> str | None:
        """Where people look at workflows, None without UI."""
        return f"http://{LOOPBACK}:{self.ports['ui']}" if self.options.ui else None

    @property
    def store(self) -> Path:
        """The file that holds all workflow histories."""
        return _store(self.home)

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.home.log("temporal")

    def is_running(self) -> bool:
        """Whether the server process lives."""
        return self.child.poll() is None

    def wait_until_ready(self) -> None:
        """Return once the namespace and all search attributes answer.

        Raises:
            StartFailed: the server ended, or was ended because it does not answer; the text quotes its log.
        """
        deadline = time.monotonic() + START_LIMIT_S
        while not self._answers():
            ended = not self.is_running()
            if ended or time.monotonic() > deadline:
                end_child(self.child, STOP_LIMIT_S)
                how = "ended while it started" if ended else f"does not answer after {START_LIMIT_S} s"
                raise StartFailed(self._explained(how))
            time.sleep(POLL_S)
        _complete(self.home).touch()

    def stop(self) -> None:
        """End the server: asked for 15 s, then killed, which its store survives."""
        end_child(self.child, STOP_LIMIT_S)
        self.lock.release()

    def relaunch(self) -> None:
        """Start a server that died, at the same address, without waiting for it.

        Raises:
            StartFailed: it cannot be started.
        """
        self.child.wait()
        with usable(self.home.data):
            self.log_begin = log_size(self.log)
            self.child = _launch(self.home, self.options, self.ports)

    def _explained(self, how: str) -> str:
        last_words, full = log_tail(self.log, self.log_begin), fullness(self.home.path)
        if full or DAMAGE.search(last_words) is None:
            return f"Temporal {how}{full}:\n{last_words}"
        return (
            f"Temporal's store {self.store} is damaged. Nothing is lost without it, because Postgres knows what has to"
            f" be done: remove it and start again.\n\n  rm {shlex.quote(str(self.store))}*\n\n{last_words}"
        )

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self.ports["http"], timeout=ANSWER_LIMIT_S)
        try:
            connection.request("GET", f"/api/v1/namespaces/{quote(self.options.namespace)}/search-attributes")
            answer = connection.getresponse()
            known = json.load(answer).get("customAttributes", {})
        except (OSError, http.client.HTTPException, ValueError):
            return False
        finally:
            connection.close()
        return answer.status == http.HTTPStatus.OK and set(self.options.search_attributes) <= set(known)


def launch_temporal(
    data: Path,
    *,
    port: int = 0,
    ui: bool = True,
    namespace: str = "default",
    search_attributes: Mapping[str, str] | None = None,
    dynamic_config: Mapping[str, str] | None = None,
) -> RunningTemporal:
    """Start the server without waiting for it: `wait_until_ready` does.

    Args:
        data: the folder of the whole stack.
        port: of the frontend; 0 takes a free one, the same again while it stays free.
        ui: whether the web UI is served.
        namespace: made at the start when it is missing.
        search_attributes: names and types (`Keyword`) to register.
        dynamic_config: server settings, as JSON values.

    Raises:
        StartFailed: the port is taken or another process keeps the store.
    """
    with usable(data):
        home = settle(data)
        lock = take_lock(home.path / "temporal.lock")
        # The server itself does not lock its file: a second one would start on it and serve.
        if lock is None:
            keeper = read_note(home.path / "temporal.lock")
            raise StartFailed(f"The process {keeper} keeps the Temporal store of {home.data}.")
        try:
            _require_openable(_store(home))
            require_room(home.path, START_MB)
            home.private_folder("temporal")
            ports = _ports(home, port)
            options = TemporalOptions(namespace, ui, search_attributes or {}, dynamic_config or {})
            begin = log_size(home.log("temporal"))
            child = _launch(home, options, ports)
        except BaseException:
            lock.release()
            raise
    return RunningTemporal(home, options, ports, lock, child, begin)


def _require_openable(store: Path) -> None:
    if len(os.fsencode(store)) > LONGEST_STORE_PATH:
        raise StartFailed(
            f"The path {store} is too long for Temporal's store, which takes {LONGEST_STORE_PATH} bytes: name a data"
            " folder of a shorter path with --data."
        )


def _ports(home: Home, wanted: int) -> Mapping[str, int]:
    if wanted:
        require_free(wanted, "Temporal")
    chosen = remembered_ports(home.path / "temporal.ports", ("grpc", "ui", "http"))
    return {**chosen, "grpc": wanted or chosen["grpc"]}


def _launch(home: Home, options: TemporalOptions, ports: Mapping[str, int]) -> subprocess.Popen[bytes]:
    program = temporal_for(home.account, find_temporal(), home.path)
    store = _store(home)
    # The server makes a URL of it, without escapes; its working folder is the store's.
    file = store if is_text(store) and not URL_SIGNS & set(str(store)) else store.name
    _drop_half_made(home)
    command: list[str | Path] = [program, "server", "start-dev", "--ip", LOOPBACK, "--db-filename", file]
    command += ["--port", str(ports["grpc"]), "--http-port", str(ports["http"]), "--log-level", "error"]
    command += ["--namespace", options.namespace]
    command += ["--ui-port", str(ports["ui"]), "--ui-disable-news-fetch"] if options.ui else ["--headless"]
    command += _pairs("--sqlite-pragma", SQLITE_PRAGMAS)
    command += _pairs("--search-attribute", options.search_attributes)
    command += _pairs("--dynamic-config-value", options.dynamic_config)
    return spawn(
        command,
        log=home.log("temporal"),
        cwd=store.parent,
        environment=server_environment(home.path) | {"TEMPORAL_VERSION_CHECK_DISABLED": "1"},
        death_signal=signal.SIGKILL,  # its store survives that, and it takes seconds over anything milder
        account=home.account,
    )


def _drop_half_made(home: Home) -> None:
    """Begin anew where the first start was killed before the store had its tables: the server cannot go on from there.

    Nothing is lost: it never answered, and what workflows have to do stands in Postgres.
    """
    if not _store(home).exists():
        _complete(home).unlink(missing_ok=True)
    elif not _complete(home).exists():
        for file in filter(Path.is_file, _store(home).parent.glob("temporal.db*")):
            file.unlink()


def damaged_store(home: Home) -> Path | None:
    """The store of a server that has answered once, where it is no store by its first bytes."""
    store = _store(home)
    if not store.exists() or not _complete(home).exists():
        return None
    with store.open("rb") as file:
        return None if file.read(len(SQLITE)) == SQLITE else store


def _complete(home: Home) -> Path:
    """There once the store has answered."""
    return home.path / "temporal" / "complete"


def _pairs(flag: str, values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in (flag, f"{name}={value}")]


def _store(home: Home) -> Path:
    return home.path / "temporal" / "temporal.db"
