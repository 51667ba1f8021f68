"""What a diagnosis consists of: one line a fact, each with a mark, and one sentence of advice where it needs one."""

import re
from dataclasses import dataclass
from enum import StrEnum

from canonry.wording import printable

SECRETS = (re.compile(r"cnr_[A-Za-z0-9_-]+|(?<=password=)[^&\s]+"), re.compile(r"(?<=://)\S*(?=@)"))
"""What never reaches a terminal, whoever wrote it into a log or an error: tokens, and user and password of a URL.

The latter end with its last "@": a password may have that sign, and a "/", where somebody forgot to escape them.
"""

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000


class Mark(StrEnum):
    """How a fact is; `UNKNOWN` where it cannot be told from here."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Line:
    """One fact about the installation.

    Args:
        mark: how it is.
        name: of what, a word or two.
        text: what is so.
        advice: what to do, one sentence; empty where nothing is to be done.
    """

    mark: Mark
    name: str
    text: str
    advice: str = ""


def ok(name: str, text: str) -> Line:
    """A fact that is as it should be."""
    return Line(Mark.OK, name, text)


def warn(name: str, text: str, advice: str) -> Line:
    """A fact to look at."""
    return Line(Mark.WARN, name, text, advice)


def bad(name: str, text: str, advice: str) -> Line:
    """A fact that keeps the installation from its work."""
    return Line(Mark.BAD, name, text, advice)


def unknown(name: str, text: str, advice: str = "") -> Line:
    """A fact that cannot be told from here."""
    return Line(Mark.UNKNOWN, name, text, advice)


def shown(text: str) -> str:
    """A text from elsewhere on one line, without secrets and without what a terminal would obey."""
    for secret in SECRETS:
        text = secret.sub("***", text)
    return printable(text.strip())


def duration(seconds: float) -> str:
    """About how long, in the largest unit of which there are two: `90 s`, `5 min`, `3 h`, `4 days`."""
    for unit, name in ((DAY_S, "days"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def size(number: int) -> str:
    """About how many bytes: `340 MB`, `2.1 GB`."""
    return f"{number / GIGABYTE:.1f} GB" if number >= GIGABYTE else f"{number / MEGABYTE:.0f} MB"
