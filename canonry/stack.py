"""The whole of Canonry as one supervised family of processes: Postgres, Temporal, worker and API."""

import http
import http.client
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from canonry.data_folders import require_ours
from canonry.embedded.disk import START_MB, require_room
from canonry.embedded.locks import OwnerLock, take_lock
from canonry.embedded.placement import data_folder, log_of, logs_of, usable
from canonry.embedded.ports import LOOPBACK, require_free
from canonry.embedded.postgres import RunningPostgres, require_startable, start_postgres
from canonry.embedded.processes import log_tail, send
from canonry.embedded.queries import forget_client_settings
from canonry.embedded.temporal import RunningTemporal, launch_temporal
from canonry.failures import CommandFailed, StartFailed
from canonry.loading import BEGAN
from canonry.logs import turn_over
from canonry.preparation import OWNER_TOKEN, Preparation
from canonry.readiness import index_progress
from canonry.services import Service, load_service
from canonry.signals import no_longer_stoppable, stoppable
from canonry.supervisor import Part, Supervisor
from canonry.up_lock import UP_LOCK, read_holder, write_holder
from models.settings import PREFIX, Settings
from workflows.search_attributes import SEARCH_ATTRIBUTES

READY_LIMIT_S = 120
# Other commands own the database for the moment they need it.
OWNERSHIP_LIMIT_S = 30
ANSWER_LIMIT_S = 10
POLL_S = 0.05
# A service that outlives its own grace is stuck.
KILL_AFTER_S = 5
# A part that takes longer to end is named.
PATIENCE_S = 3.0
STOP_ORDER = ("api", "worker", "temporal", "postgres")


class AlreadyRunning(CommandFailed):
    """Another process serves the data folder, at `url` (empty while it makes up its mind)."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__(text)
        self.url = url


@dataclass(frozen=True)
class RunningCanonry:
    """A stack that serves. `new_secret` is the owner's token when this start made the organization."""

    url: str
    temporal_ui_url: str | None
    data: Path
    new_secret: str | None
    seconds_to_ready: float
    parts: Sequence[Part]
    supervisor: Supervisor

    @property
    def first_start(self) -> bool:
        """Whether the database was empty before."""
        return self.new_secret is not None

    @property
    def owner_token(self) -> Path:
        """The file with the owner's token, private to the account that started it first."""
        return self.data / OWNER_TOKEN

    def wait(self) -> None:
        """Serve until somebody stops us.

        Raises:
            CommandFailed: a part cannot be kept alive.
        """
        self.supervisor.wait()

    def memory(self) -> Mapping[str, int]:
        """Bytes by part with all its processes; pages that several share count by share (PSS) on Linux."""
        return {part.name: _memory(part.pid) for part in self.parts} | {"supervisor": _bytes(psutil.Process())}


@contextmanager
def started(settings: Settings, report: Callable[[str], None]) -> Iterator[RunningCanonry]:
    """Start everything in `settings.data`, serve while the block runs, then stop API, worker, Temporal and Postgres.

    Ctrl-C, SIGTERM and SIGHUP end the block by `Stopped`. What the settings place elsewhere is not started.

    Args:
        settings: of this process; the children get the same.
        report: takes lines for a person, later from another thread too.

    Raises:
        AlreadyRunning: another `canonry up` has the folder.
        CommandFailed: a port is taken, or a part does not start.
    """
    require_ours(settings.data)
    with usable(settings.data):
        if not settings.data.exists():  # a refusal leaves no new folder behind
            _require_port(settings)
        data = data_folder(settings.data)
        require_room(data, START_MB)
    parts: list[Part] = []
    with stoppable(), _only_one(settings, data) as lock:
        supervisor = None
        try:
            with usable(data):
                running = _start(settings, data, parts, lock, report)
            supervisor = running.supervisor
            supervisor.watch()
            yield running
        finally:
            no_longer_stoppable()
            with suppress(OSError):  # a note only, which no room on the disk may be left for
                write_holder(lock, _url(settings), stopping=True)
            if supervisor is not None:
                report("Stopping …")
                supervisor.stop()
            stop_parts(parts, report)


def stop_parts(parts: Sequence[Part], report: Callable[[str], None]) -> None:
    """Stop the parts in their order, and say which one takes long."""
    for part in (each for each in parts if each.is_running()):
        send(part.pid, signal.SIGCONT)  # whoever waits for a frozen one would wait in vain
    for part in sorted(parts, key=lambda each: STOP_ORDER.index(each.name)):
        told = threading.Timer(PATIENCE_S, report, [f"Waiting for {part.name} (process {part.pid}) to end …"])
        told.start()
        try:
            part.stop()
        finally:
            told.cancel()


def _start(
    settings: Settings, data: Path, parts: list[Part], lock: OwnerLock, report: Callable[[str], None]
) -> RunningCanonry:
    """Start all parts, each noted in `parts` as soon as it runs, so that whoever called can stop them."""
    if settings.database_url is None:
        forget_client_settings()
    environment = {**os.environ, f"{PREFIX}DATA": str(data), f"{PREFIX}PORT": str(settings.port)}
    # It loads while the servers start, which takes less time.
    api = _load_service("api", settings, data, environment)
    parts.append(api)
    preparation = Preparation(log_of(data, "prepare"), environment)
    if not (data / OWNER_TOKEN).exists():
        preparation.begin()
    try:
        temporal = _launch_temporal(settings, data, parts)
        database_url = settings.database_url or _start_postgres(data, parts, report).url
        new_secret = preparation.finish(database_url)
    finally:
        preparation.cancel()
    if temporal is not None:
        temporal.wait_until_ready()
    addresses = _addresses(settings, database_url, temporal)
    api.begin(addresses)
    _wait_until_ready(settings, parts)
    # Last, to leave the processors to the others: what is accepted before it works waits for it.
    worker = _load_service("worker", settings, data, environment)
    parts.append(worker)
    worker.begin(addresses)
    ui_url = addresses.get(f"{PREFIX}TEMPORAL_UI_URL")
    seconds = time.monotonic() - BEGAN
    supervisor = Supervisor(parts, report, partial(_require_place, data, parts, lock))
    return RunningCanonry(_url(settings), ui_url, data, new_secret, seconds, parts, supervisor)


def _require_place(data: Path, parts: Sequence[Part], lock: OwnerLock) -> None:
    """See that the files are where they were: a part that is started by its path could be a second one on another's.

    Raises:
        CommandFailed: somebody moved, replaced or deleted them.
    """
    locks = [lock, *(part.lock for part in parts if isinstance(part, RunningPostgres | RunningTemporal))]
    lost = next((each.path for each in locks if each is not None and not each.is_in_place), None)
    if lost is not None:
        raise CommandFailed(
            f"The data folder {data} was moved, replaced or deleted while Canonry ran on it ({lost} is not the file"
            " that this process holds); everything is stopped. Start it again where the folder is now."
        )


def _addresses(settings: Settings, database_url: str, temporal: RunningTemporal | None) -> Mapping[str, str]:
    """What API and worker have to know of the servers, as variables."""
    found = {"DATABASE_URL": database_url}
    if temporal is not None:
        found["TEMPORAL_ADDRESS"] = temporal.address
    ui_url = settings.temporal_ui_url or (temporal and temporal.ui_url)
    if ui_url:
        found["TEMPORAL_UI_URL"] = ui_url
    return {f"{PREFIX}{name}": value for name, value in found.items()}


@contextmanager
def _only_one(settings: Settings, data: Path) -> Iterator[OwnerLock]:
    """Hold the folder's lock; whoever else wants to start reads there who has it."""
    with usable(data):
        lock = take_lock(data / UP_LOCK)
    if lock is None:
        other = read_holder(data)
        if other.is_stopping:
            raise CommandFailed(
                f"The Canonry on {data}, process {other.pid}, is stopping; start again when that has ended."
            )
        where = other.url or "still starting"
        text = f"Canonry already runs on {data}: process {other.pid}, {where}; use it, or stop that process."
        raise AlreadyRunning(text, other.url)
    try:
        _require_port(settings)
        with usable(data):
            if settings.database_url is None:
                require_startable(data)
            write_holder(lock, _url(settings))
            turn_over(logs_of(data))
        yield lock
    finally:
        lock.release()


def _require_port(settings: Settings) -> None:
    require_free(settings.port, "the API", settings.host, option="--port")


def _launch_temporal(settings: Settings, data: Path, parts: list[Part]) -> RunningTemporal | None:
    if settings.temporal_address is not None:
        return None
    temporal = launch_temporal(data, namespace=settings.temporal_namespace, search_attributes=SEARCH_ATTRIBUTES)
    parts.append(temporal)
    return temporal


def _start_postgres(data: Path, parts: list[Part], report: Callable[[str], None]) -> RunningPostgres:
    deadline = time.monotonic() + OWNERSHIP_LIMIT_S
    while not (postgres := start_postgres(data, report=report)).owned:
        if time.monotonic() > deadline:
            raise StartFailed(f"Another process keeps the database of {data} (server {postgres.pid}); stop that first.")
        time.sleep(POLL_S)
    parts.append(postgres)
    home = postgres.home
    if home.relocated:
        report(f"The account {home.account.name} cannot reach {data}: the servers keep their files in {home.path}.")
    return postgres


def _load_service(name: str, settings: Settings, data: Path, environment: Mapping[str, str]) -> Service:
    grace_s = settings.shutdown_grace_s + KILL_AFTER_S
    return load_service(name, log=log_of(data, name), environment=environment, grace_s=grace_s)


def _wait_until_ready(settings: Settings, parts: Sequence[Part]) -> None:
    deadline, progress = time.monotonic() + READY_LIMIT_S, 0.0
    while (missing := _readiness(settings)) is not None:
        if (advanced := index_progress(missing)) > progress:  # an index of a million memories takes minutes to rebuild
            deadline, progress = time.monotonic() + READY_LIMIT_S, advanced
        for part in parts:
            if not part.is_running():
                raise StartFailed(f"{part.name} ended while it started:\n{log_tail(part.log)}")
        if time.monotonic() > deadline:
            raise StartFailed(f"Not ready after {READY_LIMIT_S} s: {missing}")
        time.sleep(POLL_S)


def _readiness(settings: Settings) -> str | None:
    """What `/readyz` says is missing, None when nothing is."""
    connection = http.client.HTTPConnection(_reachable_host(settings), settings.port, timeout=ANSWER_LIMIT_S)
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return str(error)
    finally:
        connection.close()
    return None if answer.status == http.HTTPStatus.OK else text


def _url(settings: Settings) -> str:
    return f"http://{_reachable_host(settings)}:{settings.port}"


def _reachable_host(settings: Settings) -> str:
    return LOOPBACK if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104  (compared, not bound)


def _memory(pid: int) -> int:
    """Bytes of a process and all below it; what ended meanwhile weighs nothing."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    return sum(_bytes(each) for each in family)


def _bytes(process: psutil.Process) -> int:
    try:
        found = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(found, "pss", found.uss))
