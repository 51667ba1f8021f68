"""Whether there is room on the disk: said before anything is begun, and with whatever failed for want of it."""

import shutil
from pathlib import Path

from canonry.failures import StartFailed

MEGABYTE = 1_000_000
# A new cluster takes 60 MB, Temporal's store 5; a start may need one more piece of 16 MB of PostgreSQL's log.
NEW_DATABASE_MB = 128
START_MB = 24


def require_room(folder: Path, megabytes: int) -> None:
    """Refuse to begin on a disk that is about to be full.

    Raises:
        StartFailed: the disk of the folder has less than `megabytes` left.
    """
    if (free := _free_mb(folder)) < megabytes:
        raise StartFailed(
            f"The disk of {folder} is full: {free} MB are left, and starting needs {megabytes} MB; nothing was changed."
        )


def fullness(folder: Path) -> str:
    """A remark for a message about something that failed; empty while the disk has room."""
    try:
        free = _free_mb(folder)
    except OSError:  # the folder is gone, or its disk does not answer: that is said elsewhere
        return ""
    return f" (the disk of {folder} is full: {free} MB are left)" if free < START_MB else ""


def _free_mb(folder: Path) -> int:
    return shutil.disk_usage(folder).free // MEGABYTE
