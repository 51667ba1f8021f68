"""`canonry doctor`: what runs, in which version, what waits, and what to do about it; nothing is started or changed."""

import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rich.console import Console
from rich.text import Text

from canonry.addresses import named_server
from canonry.diagnosis.api import api_line, port_line
from canonry.diagnosis.damage import temporal_damage
from canonry.diagnosis.database import database_lines
from canonry.diagnosis.folder import folder_lines
from canonry.diagnosis.lines import Line, Mark, bad, ok, shown, unknown
from canonry.diagnosis.logs import log_lines
from canonry.diagnosis.processes import RunningUp, find_up, postgres_line, service_line, temporal_process, up_line
from canonry.diagnosis.temporal import temporal_line
from canonry.embedded.cluster import ROLE, recorded_server
from canonry.embedded.placement import Home, look_up
from canonry.embedded.postgres import is_there
from canonry.embedded.queries import forget_client_settings, url_of
from canonry.failures import StartFailed
from canonry.invocation import command_line
from models.settings import Settings

BAD = 4
"""The exit code when something keeps the installation from its work."""

STYLES = {Mark.OK: "green", Mark.WARN: "yellow", Mark.BAD: "red", Mark.UNKNOWN: "dim"}


def run(settings: Settings) -> None:
    """Print one line a fact, with advice where something is to be done; exit with 4 when something is bad.

    Raises:
        CommandFailed: `CANONRY_URL` is no URL of a server.
    """
    console = Console(highlight=False, soft_wrap=True)
    lines = list(_diagnose(settings))
    _print(console, lines)
    if any(line.mark is Mark.BAD for line in lines):
        sys.exit(BAD)


def _diagnose(settings: Settings) -> Iterator[Line]:
    """Every fact, from the outside to the inside."""
    yield ok("canonry", f"{version('canonry')}, Python {platform.python_version()}, {sys.prefix}")
    try:
        site = _look_around(settings)
    except OSError as error:
        advice = "Run canonry as its owner, or name another folder by --data."
        yield bad("data folder", f"{settings.data} cannot be looked into: {error.strerror}", advice)
        return
    except StartFailed as failure:
        yield bad("data folder", f"{settings.data} cannot be used", str(failure))
        return
    if site.is_local:
        yield from folder_lines(site.home, serves=site.up is not None)
    if site.embeds_database:
        yield up_line(site.home, site.up)
    yield from _services(site)
    yield from _temporal(site)
    yield from _database(site)
    if site.is_local:
        yield from log_lines(site.home.data / "logs")


@dataclass(frozen=True, slots=True)
class _Site:
    """What this command can see: a data folder, the `canonry up` that runs on it, and an API that is named."""

    settings: Settings
    home: Home
    up: RunningUp | None
    api_url: str | None
    is_there: bool

    @property
    def is_local(self) -> bool:
        """Whether the installation is on this machine, as far as anybody says; else only its API is known."""
        return self.is_there or self.settings.database_url is not None or self.api_url is None

    @property
    def embeds_database(self) -> bool:
        return self.is_local and self.settings.database_url is None


def _look_around(settings: Settings) -> _Site:
    if settings.data.exists() and not settings.data.is_dir():
        raise StartFailed("It is a file: name a folder by --data.")
    home = look_up(settings.data)
    up = find_up(home)
    api_url = named_server() or (up.url if up is not None else None)
    return _Site(settings, home, up, api_url, is_there(home.data))


def _services(site: _Site) -> Iterator[Line]:
    if site.up is not None:
        yield service_line("worker", site.up)
        yield service_line("api", site.up)
    if site.api_url is not None:
        yield api_line(site.api_url)
    elif site.embeds_database:
        yield port_line(site.settings)
    else:
        yield unknown("api", "not known from here", "Set CANONRY_URL to where it serves.")


def _temporal(site: _Site) -> Iterator[Line]:
    embedded = temporal_process(site.up)
    if site.settings.temporal_address is not None:
        yield temporal_line(site.settings, site.settings.temporal_address)
    elif embedded is not None:
        yield temporal_line(site.settings, embedded.address, f"process {embedded.pid}, {embedded.ui}")
    elif not site.is_local:
        yield unknown("temporal", "not known from here", "The API's line names it when it is down.")
    elif site.up is not None:
        yield bad("temporal", "its process is gone", "`canonry up` starts it again; read temporal.log.")
    elif not site.embeds_database:
        yield unknown("temporal", "not known from here", "Set CANONRY_TEMPORAL_ADDRESS to where it is.")
    else:
        yield temporal_damage(site.home) or ok("temporal", "stopped")


def _database(site: _Site) -> Iterator[Line]:
    if site.settings.database_url is not None:
        yield from database_lines(site.settings, site.settings.database_url, ours=False)
    elif not site.is_local:
        yield unknown(
            "database", "not known from here", f"Run `{command_line('doctor')}` where CANONRY_DATABASE_URL is set."
        )
    else:
        yield postgres_line(site.home, site.up)
        server = recorded_server(site.home.cluster)
        if server is None or server.is_frozen:
            yield unknown("operations", "not known while the database is stopped")
            return
        forget_client_settings()
        yield from database_lines(site.settings, url_of(server.socket_dir, ROLE, ROLE), ours=True)


def _print(console: Console, lines: Sequence[Line]) -> None:
    marks, names = (max(map(len, column)) for column in ([line.mark for line in lines], [line.name for line in lines]))
    for line in lines:
        mark = Text(f"{line.mark:<{marks}}", style=STYLES[line.mark])
        console.print(mark, Text(f" {line.name:<{names}}  {shown(line.text)}"))
        if line.advice:
            console.print(Text(f"{'':<{marks + names + 2}}  → {shown(line.advice)}", style="dim"))
