"""What a folder has to be so that Canonry keeps everything in it: its own, or new."""

from collections.abc import Iterator
from pathlib import Path

from canonry.embedded.placement import usable
from canonry.embedded.postgres import is_there
from canonry.failures import CommandFailed
from canonry.invocation import command_line
from canonry.preparation import OWNER_TOKEN
from canonry.up_lock import UP_LOCK
from models.configuration_file import CONFIG_FILE
from models.settings import Settings

OURS = (OWNER_TOKEN, UP_LOCK)
EMBEDDED = "postgres"
"""What the names of the embedded database's files begin with; its locks are the first that is made."""

NOBODYS = (CONFIG_FILE, "lost+found")
"""What may be in a new folder: settings that somebody wrote before the first start, and what a file system makes."""


def require_ours(data: Path) -> None:
    """Refuse a folder that somebody keeps something else in.

    Raises:
        CommandFailed: it has files, and none of them is Canonry's; or it cannot be looked into.
    """
    names = list(_names(data))
    foreign = [name for name in names if not (name.startswith(".") or name in NOBODYS)]
    if foreign and not any(name in OURS or name.startswith(EMBEDDED) for name in names):
        raise CommandFailed(
            f"{data.resolve()} holds other files ({min(foreign)}) and no Canonry; name a folder of its own by --data."
        )


def require_installation(settings: Settings) -> None:
    """Refuse a data folder without a database, where the database is to be in one.

    Raises:
        CommandFailed: nothing is there; the text says what makes it.
    """
    if settings.database_url is None and not is_there(settings.data):
        raise nothing_there(settings.data)


def nothing_there(data: Path) -> CommandFailed:
    """There is no Canonry, and what makes one."""
    return CommandFailed(f"There is no Canonry in {data.resolve()}; `{command_line('up', data=data)}` makes one.")


def _names(data: Path) -> Iterator[str]:
    with usable(data):
        if data.is_dir():
            yield from (entry.name for entry in data.iterdir())
