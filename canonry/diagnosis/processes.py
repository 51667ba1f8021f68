"""What runs on the data folder: found by what the processes left there, and never started."""

import time
from contextlib import suppress
from dataclasses import dataclass

import psutil

from canonry.diagnosis.damage import cluster_damage
from canonry.diagnosis.lines import Line, bad, duration, ok, unknown, warn
from canonry.embedded.binaries import find_postgres
from canonry.embedded.cluster import RecordedServer, cluster_major, recorded_server
from canonry.embedded.placement import Home
from canonry.embedded.ports import LOOPBACK
from canonry.failures import StartFailed
from canonry.invocation import command_line
from canonry.up_lock import UP_LOCK, read_holder

TEMPORAL_COMMAND = "start-dev"


@dataclass(frozen=True, slots=True)
class RunningUp:
    """The `canonry up` of a data folder: its process, and its API once it serves."""

    process: psutil.Process
    url: str | None

    def child(self, *words: str) -> psutil.Process | None:
        """The child whose command line has all the words."""
        for each in self.process.children():
            try:
                if set(words) <= set(each.cmdline()):
                    return each
            except psutil.Error:  # it is ending
                continue
        return None


def find_up(home: Home) -> RunningUp | None:
    """Who holds the folder's lock, told by the open file: a pid alone may be another program's by now."""
    path, holder = str(home.data / UP_LOCK), read_holder(home.data)
    try:
        process = psutil.Process(int(holder.pid))
        holds = any(each.path == path for each in process.open_files())
    except (ValueError, psutil.Error):
        return None
    return RunningUp(process, holder.url or None) if holds else None


def up_line(home: Home, up: RunningUp | None) -> Line:
    """The supervisor."""
    if up is None:
        return warn("canonry up", "does not run", f"Start it: `{command_line('up', data=home.data)}`.")
    since = duration(time.time() - up.process.create_time())
    if up.url is None:
        return warn("canonry up", f"process {up.process.pid}, still starting after {since}", "Look again in a minute.")
    return ok("canonry up", f"process {up.process.pid}, {up.url}, for {since}")


def postgres_line(home: Home, up: RunningUp | None) -> Line:
    """The embedded database's server, its files and its programs."""
    made_by = cluster_major(home.cluster)
    try:
        programs = find_postgres()
    except StartFailed as failure:
        return bad("postgres", "no programs", str(failure))
    versions = f"files of PostgreSQL {made_by}, programs {programs.version}"
    if made_by is None:
        return unknown(
            "postgres",
            f"no database yet, programs {programs.version}",
            f"`{command_line('up', data=home.data)}` makes it.",
        )
    if made_by != programs.major:
        return bad("postgres", versions, "`canonry up` refuses it, and says how its data is carried over.")
    server = recorded_server(home.cluster)
    if server is not None:
        return _server_line(server, versions)
    return _rest_line(home, up, versions)


def _server_line(server: RecordedServer, versions: str) -> Line:
    if server.is_frozen:
        advice = f"It answers nobody; let it go on: `kill -CONT {server.pid}`."
        return bad("postgres", f"process {server.pid}, stopped by a signal (state T), {versions}", advice)
    return ok("postgres", f"process {server.pid}, {server.status}, {versions}")


def _rest_line(home: Home, up: RunningUp | None, versions: str) -> Line:
    damage = cluster_damage(home.cluster)
    if damage is not None:
        return bad("postgres", *damage)
    if up is not None:
        return bad("postgres", f"its process is gone, {versions}", "`canonry up` starts it again; read postgres.log.")
    return ok("postgres", f"stopped, {versions}")


@dataclass(frozen=True, slots=True)
class TemporalProcess:
    """The embedded Temporal server of a running stack, and where it serves."""

    pid: int
    address: str
    ui: str


def temporal_process(up: RunningUp | None) -> TemporalProcess | None:
    """The server that a running stack keeps; its ports stand in its command line."""
    process = None if up is None else up.child("server", TEMPORAL_COMMAND)
    if process is None:
        return None
    with suppress(psutil.Error, ValueError, IndexError):
        words = process.cmdline()
        port = words[words.index("--port") + 1]
        ui = f"UI http://{LOOPBACK}:{words[words.index('--ui-port') + 1]}" if "--ui-port" in words else "no UI"
        return TemporalProcess(process.pid, f"{LOOPBACK}:{port}", ui)
    return None


def service_line(name: str, up: RunningUp) -> Line:
    """The `api` or `worker` that a running stack keeps."""
    process = up.child("canonry.serving", name)
    if process is None:
        return bad(name, "its process is gone", f"`canonry up` starts it again; read {name}.log.")
    with suppress(psutil.Error):
        return ok(name, f"process {process.pid}, for {duration(time.time() - process.create_time())}")
    return unknown(name, f"process {process.pid} is ending")
