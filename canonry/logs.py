"""The logs of the parts: begun anew at every start, the last few kept."""

from itertools import pairwise
from pathlib import Path

KEPT = 5


def turn_over(folder: Path) -> None:
    """Put every log in the folder aside: `api.log` becomes `api.1.log`, that `api.2.log`, and the oldest goes."""
    for log in sorted(folder.glob("*.log")):
        if log.stem.count(".") == 0 and log.stat().st_size > 0:
            _put_aside(log)


def _put_aside(log: Path) -> None:
    names = [log, *(log.with_name(f"{log.stem}.{age}.log") for age in range(1, KEPT + 1))]
    for newer, older in reversed(list(pairwise(names))):
        if newer.exists():
            newer.replace(older)
