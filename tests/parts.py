"""Parts of Canonry started for tests, which wait until a part answers before they go on."""

import time
from collections.abc import Mapping
from pathlib import Path

import psycopg

from canonry.embedded.postgres import RunningPostgres
from canonry.embedded.temporal import RunningTemporal, launch_temporal
from canonry.services import Service, load_service
from canonry.supervisor import Part

READY_LIMIT_S = 60
POLL_S = 0.05


def start_temporal(
    data: Path,
    *,
    port: int = 0,
    ui: bool = True,
    search_attributes: Mapping[str, str] | None = None,
    dynamic_config: Mapping[str, str] | None = None,
) -> RunningTemporal:
    """Start the server of a data folder and wait until it answers; arguments as in `launch_temporal`."""
    server = launch_temporal(data, port=port, ui=ui, search_attributes=search_attributes, dynamic_config=dynamic_config)
    try:
        server.wait_until_ready()
    except BaseException:
        server.stop()
        raise
    return server


def start_service(name: str, *, log: Path, environment: Mapping[str, str], grace_s: float) -> Service:
    """Start `api` or `worker` with exactly these variables and let it serve."""
    service = load_service(name, log=log, environment=environment, grace_s=grace_s)
    service.begin({})
    return service


def restart(part: Part) -> None:
    """Start a part again that was killed, as its supervisor does, and wait for it where it is a server."""
    _until_gone(part)
    part.relaunch()
    if isinstance(part, RunningTemporal):
        part.wait_until_ready()
    elif isinstance(part, RunningPostgres):
        _until_it_answers(part)


def _until_gone(part: Part) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while part.is_running():
        assert time.monotonic() < deadline, f"{part.name} lives"
        time.sleep(POLL_S)


def _until_it_answers(server: RunningPostgres) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            return psycopg.connect(server.url).close()
        except psycopg.OperationalError:
            assert server.is_running() and time.monotonic() < deadline, server.log.read_text()[-4_000:]  # noqa: PT018
        time.sleep(POLL_S)
