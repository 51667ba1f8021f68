"""A folder that is there as a whole or not at all."""

import fcntl
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from canonry.failures import CommandFailed

UNFINISHED = ".new-"
"""Between the name of a folder and that of the one that takes its place."""


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target, which takes its place when the block ends, and is gone when the block fails.

    Raises:
        CommandFailed: the target is in use, or something cannot be written.
    """
    place = require_unused(target)
    new = place.with_name(f"{place.name}{UNFINISHED}{uuid.uuid4().hex[:12]}")
    try:
        new.mkdir()
        try:
            with _held(new):
                if place.exists():
                    shutil.copymode(place, new)
                yield new
                new.rename(place)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror or error}.") from error


def remove_abandoned(target: Path) -> list[Path]:
    """Remove what exports to the same place left when they were killed; what is still held, or stays, is answered."""
    place = target.resolve()
    name = re.compile(re.escape(f"{place.name}{UNFINISHED}") + "[0-9a-f]{12}")
    return [path for path in sorted(place.parent.iterdir()) if name.fullmatch(path.name) and not _removed(path)]


def _removed(folder: Path) -> bool:
    try:
        with _held(folder):
            shutil.rmtree(folder)
    except OSError:
        return False
    return True


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep a folder from those who look for abandoned ones; the kernel lets go of it whatever happens to us.

    Raises:
        OSError: somebody else holds it, it is gone, or no folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def require_unused(target: Path) -> Path:
    """The real path of a folder to make.

    Raises:
        CommandFailed: something is there that is no empty folder, or there is nowhere to make it.
    """
    try:
        place = target.resolve()
        if place.is_dir():
            if any(place.iterdir()):
                raise CommandFailed(f"{target} is not empty; name a folder to make.")
            if place in (here := Path.cwd().resolve(), *here.parents):
                raise CommandFailed(f"{target} is the folder you are in; name one to make.")
        elif place.exists():
            raise CommandFailed(f"{target} is a file; name a folder to make.")
        elif not place.parent.is_dir():
            raise CommandFailed(f"{target} cannot be made: there is no folder {place.parent}.")
    except OSError as error:
        raise CommandFailed(f"{target} cannot be used: {error.strerror or error}.") from error
    return place


def write_file(folder: Path, path: str, data: bytes) -> Path:
    """Write a new file below a folder."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.write(data)
    return place
