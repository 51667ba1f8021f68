"""`.canonry.json`: what an exported folder is, and which of its documents do not look like documents (ADR 0010)."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from canonry.failures import CommandFailed

MANIFEST = ".canonry.json"


class Manifest(BaseModel):
    """What lies in the folder; `also` are the paths of documents that nobody finds who looks for Markdown.

    `taken` are the files that imports of the whole folder took, and the digest of each (canonry/importing/taken.py).
    """

    format: Literal["canonry-export/1"] = "canonry-export/1"
    scope: Literal["org", "project"]
    commit_id: str
    tree_id: str
    also: list[str]
    taken: dict[str, str] | None = None


def parse_manifest(data: bytes, name: str) -> Manifest:
    """The manifest of these bytes.

    Raises:
        CommandFailed: it is none; `name` says where it stands.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise CommandFailed(
            f"{name} is not what `canonry export` wrote: without it, or as it was, the folder can be read."
        ) from error


def amend_manifest(folder: Path, seen: Manifest, changes: Mapping[str, JsonValue]) -> None:
    """Change keys of a folder's manifest, all at once; every other key stays, also one that this version does not know.

    Where it cannot be written, or is no longer the one that was `seen`, it is left as it is.
    """
    place = folder / MANIFEST
    with suppress(OSError, ValidationError):
        data = place.read_bytes()
        if Manifest.model_validate_json(data) != seen:
            return
        keys = TypeAdapter(dict[str, JsonValue]).validate_json(data)
        if not changes.items() <= keys.items():
            _replace(place, TypeAdapter(dict[str, JsonValue]).dump_json({**keys, **changes}, indent=2) + b"\n")


def _replace(place: Path, data: bytes) -> None:
    """Put a new file in the place of another; its name is hidden, so that nobody takes it for a document."""
    descriptor, name = tempfile.mkstemp(prefix=f"{place.name}.new-", dir=place.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        shutil.copymode(place, new)
        new.replace(place)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
