"""The data folder: whose it is, who may look into it, and how much room is left."""

import os
import pwd
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from canonry.diagnosis.damage import place_lines
from canonry.diagnosis.lines import Line, bad, ok, size, unknown, warn
from canonry.embedded.placement import Home
from canonry.invocation import command_line
from canonry.preparation import OWNER_TOKEN

# A publication writes a few kilobytes; the log of the database's own changes takes up to a gigabyte at a time.
SCARCE = 2_000_000_000
TOO_LITTLE = 256_000_000
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PASSING = stat.S_IXGRP | stat.S_IXOTH


def folder_lines(home: Home, *, serves: bool) -> Iterator[Line]:
    """The folder of everything that survives, and whether `canonry up` could start there unless it `serves` already."""
    if not home.data.exists():
        yield unknown("data folder", f"{home.data} is not there", f"`{command_line('up', data=home.data)}` makes it.")
        return
    yield _owner(home, serves=serves)
    yield from place_lines(home)
    yield from _token(home.data / OWNER_TOKEN)
    yield _room(home)


def _owner(home: Home, *, serves: bool) -> Line:
    found = home.data.stat()
    mode = stat.S_IMODE(found.st_mode)
    text = f"{home.data}, of {_name(found.st_uid)}, mode {mode:04o}"
    if home.relocated:
        text += f"; the servers' files are in {home.path}"
    if found.st_uid != os.geteuid() and not (serves and os.geteuid() == 0):
        return bad("data folder", text, f"Run canonry as {_name(found.st_uid)}, or name another folder by --data.")
    if mode & OTHERS & ~PASSING:
        return warn("data folder", text, f"Others may look into it: `chmod go-rw {shlex.quote(str(home.data))}`.")
    return ok("data folder", text)


def _token(path: Path) -> Iterator[Line]:
    if path.exists() and stat.S_IMODE(path.stat().st_mode) & OTHERS:
        advice = f"`chmod 600 {shlex.quote(str(path))}`, and replace the token if somebody may have read it."
        yield bad("owner token", f"{path.name} can be read by others", advice)


def _room(home: Home) -> Line:
    free = min(shutil.disk_usage(place).free for place in {home.data, home.path} if place.exists())
    used, whole = _used({home.data, home.path})
    return room_line(free, f"{size(free)} free, {'' if whole else 'at least '}{size(used)} used")


def room_line(free: int, text: str) -> Line:
    """Whether so many free bytes are enough."""
    if free < TOO_LITTLE:
        return bad("disk", text, "Make room now: the database stops when nothing is left.")
    if free < SCARCE:
        return warn("disk", text, "Make room, or move the folder to a larger disk while Canonry is stopped.")
    return ok("disk", text)


def _used(places: set[Path]) -> tuple[int, bool]:
    """The bytes on disk below folders, each file once, and whether all of it could be looked at."""
    seen: dict[tuple[int, int], int] = {}
    refused: list[OSError] = []
    for place in places:
        for folder, _, names in os.walk(place, onerror=refused.append):
            for name in names:
                try:
                    found = Path(folder, name).lstat()
                except OSError:  # it is gone: the servers go on working
                    continue
                seen[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(seen.values()), not any(isinstance(error, PermissionError) for error in refused)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
