"""What keeps the servers of a data folder from starting, as far as files show it while they do not run."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from canonry.diagnosis.lines import Line, bad
from canonry.embedded.placement import Home
from canonry.embedded.temporal import damaged_store

# Without these a server does not start; one that is only damaged inside is found by its checksums.
INDISPENSABLE = ("PG_VERSION", "global/pg_control", "pg_wal", "base")
FORBIDDEN = stat.S_IWGRP | stat.S_IRWXO
"""The rights to its files that PostgreSQL does not start with."""


def place_lines(home: Home) -> Iterator[Line]:
    """Of the data folder: whether it can be written, and has its logs where they belong."""
    for place in {home.data, home.path}:
        if os.statvfs(place).f_flag & os.ST_RDONLY:
            yield bad("disk", f"{place} is on a read-only disk", "Mount it for writing: nothing starts before.")
        elif not os.access(place, os.W_OK | os.X_OK):
            yield bad("data folder", f"{place} cannot be written", f"`chmod u+rwx {shlex.quote(str(place))}`.")
    logs = home.data / "logs"
    if logs.exists() and not logs.is_dir():
        yield bad("logs", f"{logs} is no folder", "Move it away: `canonry up` makes one for its logs.")


def cluster_damage(cluster: Path) -> tuple[str, str] | None:
    """What PostgreSQL would not start with, and what to do about it."""
    missing = [name for name in INDISPENSABLE if not (cluster / name).exists()]
    if missing:
        return f"{cluster} has no {missing[0]}", "Bring it back, or the whole folder from a backup."
    if cluster.stat().st_mode & FORBIDDEN:
        return f"{cluster} is open to other accounts", f"`chmod 700 {shlex.quote(str(cluster))}`."
    return None


def temporal_damage(home: Home) -> Line | None:
    """A store that Temporal would not start with."""
    store = damaged_store(home)
    if store is None:
        return None
    advice = f"Nothing is lost without it: `rm {shlex.quote(str(store))}*`, then start again."
    return bad("temporal", f"its store {store} is damaged", advice)
