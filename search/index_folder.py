"""Where a process keeps its index: a folder of its own below the data folder's `index`, the first that is free."""

import fcntl
import logging
import os
from itertools import count
from pathlib import Path

INDEX = "index"
LOCK = "lock"
PRIVATE = 0o700

logger = logging.getLogger(__name__)


class IndexFolder:
    """A folder that no other process uses as long as this one lives; `path` is None where none can be had.

    Without one the index is built anew at every start, and nothing else is different.
    """

    def __init__(self, data: Path) -> None:
        self.path: Path | None = None
        self._descriptor = -1
        try:
            self._claim(data.resolve() / INDEX)
        except OSError as error:
            logger.warning("the search index cannot be kept below %s (%s)", data, error.strerror)

    def release(self) -> None:
        """Let another process use the folder; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _claim(self, below: Path) -> None:
        below.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        for number in count():
            path = below / str(number)
            path.mkdir(mode=PRIVATE, exist_ok=True)
            descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            self.path, self._descriptor = path, descriptor
            return
