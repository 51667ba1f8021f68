"""The file `config.toml`: settings that are tables, read once at start beside the variables (memory.md §6)."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

CONFIG_FILE = "config.toml"


class ConfigurationFileError(ValueError):
    """The file cannot be used; the text names it and says why."""


def read_configuration(path: Path, *, required: bool) -> Mapping[str, object]:
    """The tables of the file by their names; none where it is not there and need not be.

    Raises:
        ConfigurationFileError: it is missing though somebody named it, cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise ConfigurationFileError(f"{path}: there is no such file") from None
        return {}
    except OSError as error:
        raise ConfigurationFileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationFileError(f"{path}: not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationFileError(f"{path}: no TOML: {error}") from error
