"""Where the servers keep their files: in the data folder, or where the account they run under can reach them."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.accounts import Account, can_reach, give_to, is_root, server_account, user_name
from canonry.embedded.locks import one_at_a_time
from canonry.embedded.notes import read_path, write_note
from canonry.failures import StartFailed

ELSEWHERE = Path("/var/lib/canonry")
"""For root only: outside of everybody's private folders."""

POINTER = "postgres.location"
"""The file of a data folder that says where the servers keep their files, if not there."""

PRIVATE = 0o700
PASSABLE = 0o711
"""Others may pass, not look: for folders of ours that another account's folder lies in."""


@dataclass(frozen=True)
class Home:
    """The folder of the servers' files, `path`, beside the logs of the data folder `data`; and whom they run as."""

    data: Path
    path: Path
    account: Account

    @property
    def relocated(self) -> bool:
        """Whether the files lie outside of the data folder."""
        return self.path != self.data

    @property
    def cluster(self) -> Path:
        """The folder PostgreSQL calls its data directory."""
        return _cluster(self.path)

    def log(self, part: str) -> Path:
        """The log of a part, always in the data folder."""
        return log_of(self.data, part)

    def private_folder(self, *names: str) -> Path:
        """A folder of the servers' account that nobody else may enter; the folders above it are ours."""
        *above, last = names
        folder = self.path
        for name in above:
            folder = make_folder(folder / name, PASSABLE)
        if not (folder / last).exists():
            give_to(self.account, make_folder(folder / last, PRIVATE))
        return folder / last


@contextmanager
def usable(data: Path) -> Iterator[None]:
    """Turn the system's refusals below a data folder (permissions, a full or read-only disk) into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StartFailed(f"The disk of {data} is full: {error.strerror}.") from error
        place = f" ({error.filename})" if error.filename else ""
        raise StartFailed(f"The data folder {data} cannot be used: {error.strerror}{place}.") from error


def settle(data: Path) -> Home:
    """Find or choose the home of a data folder, which is made when it is missing. No folder above it is changed.

    Raises:
        StartFailed: its files are no longer where it says.
    """
    data = data_folder(data)
    with one_at_a_time(data / "postgres.location.lock"):
        return _settle(data)


def look_up(data: Path) -> Home:
    """The home of a data folder as it is: nothing is made, chosen or changed.

    Raises:
        StartFailed: its files are no longer where it says, or the account that the servers would run under cannot be
            told.
    """
    data = data.resolve()
    path = _pointed_at(data) or data
    return Home(data, path, server_account(_cluster(path)))


def data_folder(data: Path) -> Path:
    """The real path of the data folder, made when it is missing: as root others may pass it, as servers must.

    Raises:
        StartFailed: it belongs to another account. Even root leaves it alone: its owner could not use it any more.
    """
    folder = make_folder(data.resolve(), PASSABLE if is_root() else PRIVATE)
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        raise StartFailed(
            f"The data folder {folder} belongs to {user_name(owner)}: start Canonry as that account,"
            " or name another folder with --data."
        )
    return folder


def logs_of(data: Path) -> Path:
    """Where all logs are."""
    return make_folder(data / "logs", PRIVATE)


def log_of(data: Path, part: str) -> Path:
    """Where a part's output goes."""
    return logs_of(data) / f"{part}.log"


def is_text(path: Path) -> bool:
    """Whether a path is UTF-8; the system takes any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def make_folder(path: Path, mode: int) -> Path:
    """Make a folder with exactly this mode, whatever the umask; one that is there stays as it is."""
    if not path.exists():
        path.mkdir(mode, parents=True, exist_ok=True)
        path.chmod(mode)
    return path


def short_folder(parent: Path, account: Account) -> Path:
    """A new private folder with a short name, for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="canonry-", dir=parent))
    give_to(account, folder)
    return folder


def _settle(data: Path) -> Home:
    pointed_at = _pointed_at(data)
    if pointed_at is not None:
        return Home(data, pointed_at, server_account(_cluster(pointed_at)))
    account = server_account(_cluster(data))
    if not account.dropped or can_reach(account, data / "postgres"):
        return Home(data, data, account)
    if _cluster(data).exists():
        raise StartFailed(f"The account {account.name} owns {_cluster(data)} but can no longer reach it.")
    path = _elsewhere(data)
    write_note(data / POINTER, f"{path}\n", mode=0o644)
    return Home(data, path, account)


def _pointed_at(data: Path) -> Path | None:
    pointer = data / POINTER
    if not pointer.exists():
        return None
    path = read_path(pointer)
    if not path.is_dir():
        raise StartFailed(f"{pointer} names {path}, which is gone; delete that file to begin with an empty database.")
    return path


def _cluster(home: Path) -> Path:
    return home / "postgres" / "data"


def _elsewhere(data: Path) -> Path:
    """A fresh folder named by the data folder; what an earlier, deleted data folder left there is kept aside."""
    make_folder(ELSEWHERE, PASSABLE)
    path = ELSEWHERE / hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    if path.exists():
        path.rename(Path(tempfile.mkdtemp(prefix=f"{path.name}.left-", dir=ELSEWHERE)) / path.name)
    return make_folder(path, PASSABLE)
