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
        sys.stdout.flush()  # here, where a reader that has gone can still be told apart
    except CommandFailed as failure:
        sys.exit(f"canonry {chosen.command}: {failure}")
    except Stopped:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # whoever read our output has enough; nothing may be flushed into it at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="canonry", description="Shared memory for a team of AI agents.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = _command(commands, "up", _up, "start Postgres, Temporal, worker and API, and serve")
    demo = _command(commands, "demo", _demo, "start everything, publish the example knowledge base, and serve")
    for command in (up, demo):
        _add_data(command)
        _add_port(command)
        command.add_argument("--exit", action="store_true", dest="leave", help="stop where it would go on serving")
    _command(commands, "api", _api, "serve the HTTP API")
    _command(commands, "worker", _worker, "run workflows and activities")
    migrate = _command(commands, "migrate", _migrate, "bring the schema up to date, and make the first organization")
    _add_data(migrate)
    _add_token_commands(commands.add_parser("token", help="give, show and take away credentials"))
    return parser


def _add_token_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="token_command", required=True, metavar="COMMAND")
    create = _command(commands, "create", _token_create, "make a token and print its secret, the only copy")
    create.add_argument("--name", required=True, help="what it is for, 1 to 200 characters")
    create.add_argument("--user", metavar="USER_ID", help="whose it is (the organization's first owner)")
    create.add_argument("--permissions", default="read,write", help="of read, write, admin.memories, service")
    create.add_argument("--days", type=int, metavar="N", help="how long it is valid, 1 to 36500 (for ever)")
    show = _command(commands, "list", _token_list, "show all tokens, without secrets")
    revoke = _command(commands, "revoke", _token_revoke, "take a token away, for good")
    revoke.add_argument("token_id", metavar="TOKEN_ID")
    for command in (create, show, revoke):
        _add_data(command)


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], None],
    text: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    command.set_defaults(run=run)
    return command


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", metavar="DIR", help="folder of everything that survives (.canonry)")


def _add_port(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", metavar="N", help="port of the API on 127.0.0.1 (8080)")


def _settings(chosen: argparse.Namespace) -> "Settings":
    """The settings of the environment, options first: both are checked in the same words, each by its own name."""
    from models.settings import load_settings

    options = {name: getattr(chosen, name, None) for name in ("data", "port")}
    return load_settings(options={name: value for name, value in options.items() if value is not None})


def _up(chosen: argparse.Namespace) -> None:
    from canonry.up import run

    run(_settings(chosen), leave=chosen.leave)


def _demo(chosen: argparse.Namespace) -> None:
    from canonry.demo import run

    run(_settings(chosen), leave=chosen.leave)


def _api(chosen: argparse.Namespace) -> None:
    from api.server import serve

    serve(_settings(chosen))


def _worker(chosen: argparse.Namespace) -> None:
    from workflows.worker import serve

    serve(_settings(chosen))


def _migrate(chosen: argparse.Namespace) -> None:
    from canonry.migrate import run

    run(_settings(chosen))


def _token_create(chosen: argparse.Namespace) -> None:
    from canonry.tokens import create

    create(_settings(chosen), name=chosen.name, user_id=chosen.user, permissions=chosen.permissions, days=chosen.days)


def _token_list(chosen: argparse.Namespace) -> None:
    from canonry.tokens import show

    show(_settings(chosen))


def _token_revoke(chosen: argparse.Namespace) -> None:
    from canonry.tokens import revoke

    revoke(_settings(chosen), token_id=chosen.token_id)
