"""Small files that are never half-written: where a disk is full, the old one stays."""

import os
from pathlib import Path


def write_note(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file as a whole; one that says the same already is not touched."""
    content = os.fsencode(text)
    if path.exists() and path.read_bytes() == content:
        return
    unfinished = path.with_name(f"{path.name}.new")
    try:
        unfinished.write_bytes(content)
        unfinished.chmod(mode)
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def read_path(path: Path) -> Path:
    """The path that a note names."""
    return Path(os.fsdecode(path.read_bytes()).strip())
