"""A folder that is there as a whole or not at all."""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from canonry.failures import CommandFailed


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target, which takes its place when the block ends, and is gone when the block fails.

    Raises:
        CommandFailed: the target is in use, or something cannot be written.
    """
    place = require_unused(target)
    new = place.with_name(f"{place.name}.new-{uuid.uuid4().hex[:12]}")
    try:
        new.mkdir()
        try:
            if place.exists():
                shutil.copymode(place, new)
            yield new
            new.rename(place)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror or error}.") from error


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
