"""The `canonry` command; each subcommand imports what it needs when it runs."""

# ruff: noqa: PLC0415  (a command loads only what it runs: the supervisor stays small, `--help` instant)

import argparse
import sys
from collections.abc import Sequence

from canonry.failures import CommandFailed


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one subcommand; expected failures are one sentence on stderr and the exit code 1."""
    chosen = _parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except CommandFailed as failure:
        sys.exit(f"canonry {chosen.command}: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="canonry", description="Shared memory for a team of AI agents.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, text in (
        ("api", _api, "serve the HTTP API"),
        ("worker", _worker, "run workflows and activities"),
        ("migrate", _migrate, "bring the database schema up to date"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
    return parser


def _api(chosen: argparse.Namespace) -> None:
    from api.server import serve

    from models.settings import load_settings

    serve(load_settings())


def _worker(chosen: argparse.Namespace) -> None:
    from workflows.worker import serve

    from models.settings import load_settings

    serve(load_settings())


def _migrate(chosen: argparse.Namespace) -> None:
    from models.migrations import upgrade
    from models.settings import load_settings

    settings = load_settings()
    if settings.database_url is None:
        raise CommandFailed("CANONRY_DATABASE_URL is not set; `canonry up` migrates the embedded database itself.")
    upgrade(settings.database_url)
