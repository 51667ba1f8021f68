"""Where the servers keep their files: in the data folder, or where the account they run under can reach them."""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.accounts import Account, can_reach, give_to, is_root, server_account
from canonry.embedded.locks import one_at_a_time
from canonry.failures import StartFailed

ELSEWHERE = Path("/var/lib/canonry")
"""For root only: outside of everybody's private folders."""

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
        logs = self.data / "logs"
        logs.mkdir(mode=PRIVATE, exist_ok=True)
        return logs / f"{part}.log"

    def private_folder(self, *names: str) -> Path:
        """A folder of the servers' account that nobody else may enter; the folders above it are ours."""
        *above, last = names
        folder = self.path
        for name in above:
            folder = folder / name
            folder.mkdir(mode=PASSABLE, exist_ok=True)
        return private_folder(folder / last, self.account)


def settle(data: Path) -> Home:
    """Find or choose the home of a data folder, which is made when it is missing. No folder above it is changed.

    Raises:
        StartFailed: the folder cannot be made, or its files are no longer where it says.
    """
    try:
        data.mkdir(mode=PASSABLE if is_root() else PRIVATE, parents=True, exist_ok=True)
        data = data.resolve()
        with one_at_a_time(data / "postgres.location.lock"):
            return _settle(data)
    except OSError as error:
        raise StartFailed(f"The data folder {data} cannot be used: {error.strerror} ({error.filename}).") from error


def private_folder(path: Path, account: Account) -> Path:
    """Make a folder that only `account` may enter, unless it is there."""
    if not path.exists():
        path.mkdir(mode=PRIVATE)
        give_to(account, path)
    return path


def short_folder(parent: Path, account: Account) -> Path:
    """A new private folder with a short name, for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="canonry-", dir=parent))
    give_to(account, folder)
    return folder


def _settle(data: Path) -> Home:
    pointer = data / "postgres.location"
    if pointer.exists():
        path = Path(pointer.read_text().strip())
        if not path.is_dir():
            raise StartFailed(
                f"{pointer} names {path}, which is gone; delete that file to begin with an empty database."
            )
        return Home(data, path, server_account(_cluster(path)))
    account = server_account(_cluster(data))
    if not account.dropped or can_reach(account, data / "postgres"):
        return Home(data, data, account)
    if _cluster(data).exists():
        raise StartFailed(f"The account {account.name} owns {_cluster(data)} but can no longer reach it.")
    path = _elsewhere(data)
    pointer.write_text(f"{path}\n")
    return Home(data, path, account)


def _cluster(home: Path) -> Path:
    return home / "postgres" / "data"


def _elsewhere(data: Path) -> Path:
    """A fresh folder named by the data folder; what an earlier, deleted data folder left there is kept aside."""
    ELSEWHERE.mkdir(mode=PASSABLE, exist_ok=True)
    path = ELSEWHERE / hashlib.sha256(str(data).encode()).hexdigest()[:16]
    if path.exists():
        path.rename(Path(tempfile.mkdtemp(prefix=f"{path.name}.left-", dir=ELSEWHERE)) / path.name)
    path.mkdir(mode=PASSABLE)
    return path
