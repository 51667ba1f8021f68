"""The logs of a data folder: which have an error near their end, and its line."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from canonry.diagnosis.lines import DAY_S, Line, ok, shown, size, unknown, warn
from canonry.wording import counted

LOOKED_AT = 256_000
SHOWN_CHARACTERS = 140
ERROR = re.compile(r"\b(ERROR|FATAL|PANIC|CRITICAL)\b|\"level\":\"(error|fatal)\"|\blevel=(error|fatal)\b|^Traceback ")
AT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")


def log_lines(folder: Path) -> Iterator[Line]:
    """All logs on one line, then those with an error within a day, each with its last one."""
    try:
        logs = sorted(folder.glob("*.log"))
        total = sum(log.stat().st_size for log in logs)
        errors = {log.name: line for log in logs if (line := _last_error(log)) is not None}
    except OSError as error:
        yield unknown("logs", f"{folder} cannot be read: {error.strerror}")
        return
    if not logs:
        return
    yield ok("logs", f"{folder}, {counted(len(logs), 'file')}, {size(total)}")
    for name, line in errors.items():
        yield warn(name, shown(line)[:SHOWN_CHARACTERS], f"Read the lines around it in {folder / name}.")


def _last_error(log: Path) -> str | None:
    """The last line that tells of an error within a day; a line without a time counts as of the file's last change."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOOKED_AT))
        lines = file.read().decode("utf-8", "replace").splitlines()
    last = next((line for line in reversed(lines) if ERROR.search(line)), None)
    if last is None:
        return None
    return last if time.time() - _written_at(last, log) < DAY_S else None


def _written_at(line: str, log: Path) -> float:
    stamp = AT.search(line)
    if stamp is None:
        return log.stat().st_mtime
    # Servers write UTC, our own processes local time: half a day more or less does not matter here.
    return datetime.fromisoformat(f"{stamp[1]}T{stamp[2]}").replace(tzinfo=UTC).timestamp()
