"""The lock of a data folder that a running stack holds, and what it leaves there for whoever finds it taken."""

import os
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.locks import OwnerLock, read_note

UP_LOCK = "up.lock"
STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock: the process, as it is written there, and where it serves (empty while it starts)."""

    pid: str
    url: str
    is_stopping: bool


def write_holder(lock: OwnerLock, url: str, *, stopping: bool = False) -> None:
    """Say that it is us, and where we serve, or where we are about to end."""
    lock.write(f"{os.getpid()} {url}{' ' + STOPPING if stopping else ''}")


def read_holder(data: Path) -> Holder:
    """What the last holder of the folder's lock left; it may have ended since."""
    pid, _, rest = read_note(data / UP_LOCK).partition(" ")
    url, _, state = rest.partition(" ")
    return Holder(pid, url, state == STOPPING)
