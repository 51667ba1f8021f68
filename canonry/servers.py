"""Where the server is that a command speaks to: named, running on the data folder, or started for the command."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from canonry.addresses import named_server
from canonry.data_folders import require_installation, require_ours
from canonry.embedded.placement import usable
from canonry.embedded.ports import free_port
from canonry.embedded.postgres import is_there
from canonry.failures import CommandFailed
from canonry.invocation import command_line
from canonry.preparation import OWNER_TOKEN
from canonry.remote import Remote
from canonry.stack import AlreadyRunning, started
from models.settings import Settings


@contextmanager
def reached(settings: Settings, report: Callable[[str], None], *, makes: bool = False) -> Iterator[Remote]:
    """The server this command speaks to.

    `CANONRY_URL` with `CANONRY_TOKEN`; else the `canonry up` that runs on the data folder; else everything is started
    while the block runs. On the data folder `CANONRY_TOKEN` replaces the owner's token.

    Args:
        settings: of this process.
        report: takes lines for a person.
        makes: whether a data folder that is not there yet, or empty, becomes an installation.

    Raises:
        CommandFailed: there is no token, or nothing can be started.
        Stopped: a stop signal while our own servers run; they are stopped first.
    """
    token = os.environ.get("CANONRY_TOKEN") or None
    credential, lasts = "CANONRY_TOKEN", True
    with ExitStack() as stack:
        url = named_server()
        if url is not None:
            if token is None:
                raise CommandFailed(f"CANONRY_URL is set, so CANONRY_TOKEN has to be: a token of {url}.")
        else:
            url, lasts = stack.enter_context(_local_server(settings, report, makes=makes))
            if token is None:
                token, credential = owner_token(settings.data.resolve()), str(settings.data / OWNER_TOKEN)
        if not (token.isascii() and token.isprintable()):
            raise CommandFailed("CANONRY_TOKEN has characters that no token has.")
        remote = Remote(url, token, report, credential, lasts=lasts)
        stack.callback(remote.close)
        yield remote


@contextmanager
def _local_server(settings: Settings, report: Callable[[str], None], *, makes: bool) -> Iterator[tuple[str, bool]]:
    """The URL of the stack on the data folder, the one that runs or one of our own, and whether it outlasts us."""
    if not makes:
        require_installation(settings)
    require_ours(settings.data)
    if makes and settings.database_url is None and not is_there(settings.data):
        report(f"There is no Canonry in {settings.data.resolve()} yet: it is made now, and stays there.")
    with ExitStack() as stack:
        try:
            lasts = False
            url = stack.enter_context(started(settings.model_copy(update={"port": free_port()}), report)).url
        except AlreadyRunning as other:
            if not other.url:
                raise
            url, lasts = other.url, True
        yield url, lasts


def owner_token(data: Path) -> str:
    """The token that the first start kept in the data folder.

    Raises:
        CommandFailed: it cannot be read.
    """
    with usable(data):
        try:
            return (data / OWNER_TOKEN).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise CommandFailed(
                f"{data} has no {OWNER_TOKEN}; set CANONRY_TOKEN"
                f" (`{command_line('token', 'create', '--name', 'NAME', data=data)}` makes one)."
            ) from None
