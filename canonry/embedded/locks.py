"""One owner of a folder at a time, for as long as it lives."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class OwnerLock:
    """A held `flock`; the kernel releases it when this process ends, however that came."""

    path: Path
    descriptor: int

    def write(self, text: str) -> None:
        """Leave a note for whoever finds the lock taken."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text.encode(), 0)

    @property
    def is_in_place(self) -> bool:
        """Whether whoever opens the path now finds this lock: not where a folder above it was moved, or replaced."""
        held = os.fstat(self.descriptor)
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # a disk that does not answer says nothing about whose it is
            return True
        return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        """Let the next owner in; a second call does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def take_lock(path: Path) -> OwnerLock | None:
    """Take the lock at `path`, or None while somebody else holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # not inherited by children
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    lock = OwnerLock(path, descriptor)
    lock.write(str(os.getpid()))
    return lock


def read_note(path: Path) -> str:
    """What the holder of the lock left: by default its pid."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock at `path` for a short step, waiting for whoever does the same step now."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
