"""The `canonry` command; each subcommand imports what it needs when it runs."""

# ruff: noqa: PLC0415  (a command loads only what it runs: the supervisor stays small, `--help` instant)

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from canonry.failures import CommandFailed
from canonry.signals import Stopped

if TYPE_CHECKING:
    from models.settings import Settings

INTERRUPTED = 130
"""What shells expect after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one subcommand; an expected failure is one sentence on stderr and exit code 1, a stop signal exit code 0."""
    chosen = _parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except CommandFailed as failure:
        sys.exit(f"canonry {chosen.command}: {failure}")
    except Stopped:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="canonry", description="Shared memory for a team of AI agents.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = _command(commands, "up", _up, "start Postgres, Temporal, worker and API, and serve")
    _add_place(up)
    up.add_argument("--exit", action="store_true", dest="leave", help="stop again once everything is ready")
    _command(commands, "api", _api, "serve the HTTP API")
    _command(commands, "worker", _worker, "run workflows and activities")
    _command(commands, "migrate", _migrate, "bring the database schema up to date")
    return parser


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], None],
    text: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    command.set_defaults(run=run)
    return command


def _add_place(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", metavar="DIR", help="folder of everything that survives (.canonry)")
    command.add_argument("--port", metavar="N", help="port of the API on 127.0.0.1 (8080)")


def _settings(chosen: argparse.Namespace) -> "Settings":
    """The settings of the environment, options first: both are checked in the same words."""
    from models.settings import PREFIX, load_settings

    options = {f"{PREFIX}{name.upper()}": getattr(chosen, name, None) for name in ("data", "port")}
    return load_settings({**os.environ, **{name: value for name, value in options.items() if value is not None}})


def _up(chosen: argparse.Namespace) -> None:
    from canonry.up import run

    run(_settings(chosen), leave=chosen.leave)


def _api(chosen: argparse.Namespace) -> None:
    from api.server import serve

    serve(_settings(chosen))


def _worker(chosen: argparse.Namespace) -> None:
    from workflows.worker import serve

    serve(_settings(chosen))


def _migrate(chosen: argparse.Namespace) -> None:
    from models.migrations import upgrade

    settings = _settings(chosen)
    if settings.database_url is None:
        raise CommandFailed("CANONRY_DATABASE_URL is not set; `canonry up` migrates the embedded database itself.")
    upgrade(settings.database_url)
