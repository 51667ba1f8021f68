"""Where the database's socket is: beside the cluster, or under a short name when the path is too long for a socket."""

import os
import stat
from pathlib import Path

from canonry.embedded.accounts import Account
from canonry.embedded.notes import read_path, write_note
from canonry.embedded.placement import PRIVATE, Home, is_text, short_folder

SOCKET_NAME = ".s.PGSQL.5432"
# The server's setting and the client's parameter are lists: these would begin another folder, or end this one.
LIST_SIGNS = b',"\n'
# sun_path of the strictest system we run on (macOS), with its closing zero.
LONGEST_SOCKET_PATH = 104


def socket_folder(home: Home) -> Path:
    """A private folder for the socket; a warm start finds the same again, so that URLs survive a restart.

    Call it with the owner's lock held.
    """
    beside = home.path / "postgres" / "run"
    if fits(beside):
        return home.private_folder("postgres", "run")
    note = home.path / "postgres" / "run.location"
    if note.exists() and _is_private(read_path(note), home.account):
        return read_path(note)
    folder = short_folder(_short_parent(home.account), home.account)
    write_note(note, str(folder))
    return folder


def fits(folder: Path) -> bool:
    """Whether a socket in the folder has a path that the kernel takes, and that lists of folders and URLs can hold."""
    text = os.fsencode(folder / SOCKET_NAME)
    return len(text) < LONGEST_SOCKET_PATH and not any(sign in text for sign in LIST_SIGNS) and is_text(folder)


def _short_parent(account: Account) -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and not account.dropped and fits(Path(runtime) / "canonry-12345678") and os.access(runtime, os.W_OK):
        return Path(runtime)
    return Path("/tmp")  # noqa: S108  (mkdtemp makes a private folder in it)


def _is_private(folder: Path, account: Account) -> bool:
    """Whether the remembered folder is still the one we made: anybody may write in /tmp."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == account.uid and stat.S_IMODE(found.st_mode) == PRIVATE
