"""The `canonry` command; each subcommand imports what it needs when it runs."""

# ruff: noqa: PLC0415  (a command loads only what it runs: the supervisor stays small, `--help` instant)

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from canonry.failures import CommandFailed
from canonry.loading import loading
from canonry.signals import Stopped
from canonry.terminal import written

if TYPE_CHECKING:
    from models.settings import Settings

KILLED_BY = 128
"""What shells add to the number of the signal that ended a command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one subcommand; an expected failure is one sentence on stderr and exit code 1.

    A stop signal is 128 and its number, unless the command had nothing left to do but to serve.
    """
    with written():
        chosen, unknown = _parser().parse_known_args(arguments)
        if unknown:  # told by the subcommand, which knows its own options
            chosen.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        try:
            chosen.run(chosen)
        except CommandFailed as failure:
            sys.exit(f"canonry {chosen.command}: {failure}")
        except KeyboardInterrupt as interrupt:
            remedy = " The same command goes on." if chosen.command == "import" else ""
            print(f"canonry {chosen.command}: Interrupted.{remedy}", file=sys.stderr)
            sys.exit(KILLED_BY + (interrupt.number if isinstance(interrupt, Stopped) else signal.SIGINT))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="canonry", description="Shared memory for a team of AI agents.", allow_abbrev=False
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
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
    _add_import_command(commands)
    _add_export_command(commands)
    verify = _command(commands, "verify", _verify, "re-hash every text, tree and commit, and check every invariant")
    doctor = _command(commands, "doctor", _doctor, "say what runs, in which version, what waits, and what to do")
    for command in (verify, doctor):
        _add_data(command)
    verify.epilog = "It reads the database of --data, or of CANONRY_DATABASE_URL; CANONRY_URL has no say."
    doctor.epilog = "It looks at --data, or at CANONRY_DATABASE_URL; of CANONRY_URL it asks only whether it serves."
    _add_token_commands(commands.add_parser("token", help="give, show and take away credentials", allow_abbrev=False))
    return parser


class _Version(argparse.Action):
    """Looks the version up only where it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"canonry {version('canonry')}")
        parser.exit()


def _add_import_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = _command(commands, "import", _import, "propose a folder of Markdown as one Review")
    command.add_argument("path", metavar="PATH", help="folder, or git repository with --revision")
    command.add_argument("--project", metavar="NAME", help="id, slug or name of the project (the only one)")
    command.add_argument("--create-project", action="store_true", help="make the project if there is none of that name")
    command.add_argument("--prefix", metavar="PATH", default="", help="put everything below this path")
    command.add_argument("--revision", metavar="REV", help="read a commit, branch or tag of the git repository at PATH")
    command.add_argument("--title", metavar="TEXT", help="title of the Review")
    command.add_argument("--mirror", action="store_true", help="also delete what the folder does not have")
    command.add_argument("--allow-empty", action="store_true", help="mirror a folder without a single Markdown file")
    command.add_argument("--dry-run", action="store_true", help="show what would happen, change nothing")
    command.add_argument("--approve", action="store_true", help="also approve the Review")
    command.add_argument("--merge", action="store_true", help="also merge the Review")
    _add_data(command)
    command.epilog = (
        "CANONRY_URL and CANONRY_TOKEN name a server; without them it is the stack of --data, started where it does not"
        " run. Exit codes: 0 all is imported, 3 done but files were left out (each is listed), 1 failed."
    )


def _add_export_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = _command(commands, "export", _export, "write a snapshot as a folder of Markdown or a git repository")
    command.add_argument("path", metavar="PATH", help="folder to make; an existing one has to be empty")
    command.add_argument("--project", metavar="NAME", help="what this project reads (the whole organization)")
    command.add_argument("--commit", metavar="COMMIT_ID", help="this commit (the current one)")
    command.add_argument("--plain", action="store_true", help="bodies alone, without ids and descriptions")
    command.add_argument("--git", action="store_true", help="a git repository, one commit a publication")
    _add_data(command)


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
    command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False)
    command.set_defaults(run=run, parser=command)
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
    with loading():
        from canonry.up import run

    run(_settings(chosen), leave=chosen.leave)


def _demo(chosen: argparse.Namespace) -> None:
    from canonry.demo import run

    run(_settings(chosen), leave=chosen.leave)


def _api(chosen: argparse.Namespace) -> None:
    with loading():
        from api.server import serve

    serve(_settings(chosen))


def _worker(chosen: argparse.Namespace) -> None:
    with loading():
        from workflows.worker import serve

    serve(_settings(chosen))


def _migrate(chosen: argparse.Namespace) -> None:
    from canonry.migrate import run

    run(_settings(chosen))


def _import(chosen: argparse.Namespace) -> None:
    from canonry.importing.command import run
    from canonry.importing.options import ImportOptions

    run(_settings(chosen), ImportOptions.of(chosen))


def _export(chosen: argparse.Namespace) -> None:
    from canonry.exporting.command import ExportOptions, run

    run(_settings(chosen), ExportOptions.of(chosen))


def _verify(chosen: argparse.Namespace) -> None:
    from canonry.verify import run

    run(_settings(chosen))


def _doctor(chosen: argparse.Namespace) -> None:
    from canonry.doctor import run

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
