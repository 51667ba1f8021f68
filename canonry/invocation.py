"""Command lines to paste, named as this one was called."""

import shlex
import shutil
import sys
from pathlib import Path

DEFAULT_DATA = Path(".canonry")


def command_line(*words: str, data: Path | None = None) -> str:
    """`canonry WORDS` for a shell in this folder, with `--data` where that is not the default.

    Args:
        words: of the command line.
        data: the data folder that it is about.
    """
    option = [] if data is None or data.resolve() == DEFAULT_DATA.resolve() else ["--data", str(from_here(data))]
    return shlex.join([*_this_command(), *words, *option])


def from_here(path: Path) -> Path:
    """As one would type it here."""
    path, here = path.absolute(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _this_command() -> list[str]:
    script = Path(sys.argv[0])
    if script.name != "canonry":
        return [str(from_here(Path(sys.executable))), "-m", "canonry"]
    found = shutil.which("canonry")
    is_on_path = found is not None and Path(found).absolute() == script.absolute()
    return ["canonry"] if is_on_path else [str(from_here(script))]
