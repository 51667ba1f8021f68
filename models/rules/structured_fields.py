"""The fields of a structured memory: how each is normalized, and which rule one breaks (memory.md §1).

Every surface asks here, so that all refuse alike. A rule is a word, as in `{"field": "name", "rule": "too_long"}`.
"""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

MemoryType = Literal["user", "general", "feedback", "reference"]
MEMORY_TYPES: tuple[MemoryType, ...] = ("user", "general", "feedback", "reference")

MAX_NAME_CHARACTERS = 256
MAX_DESCRIPTION_CHARACTERS = 512
MAX_CONTENT_CHARACTERS = 65_536
"""Of a content over REST; the tool's limit is the setting `max_content`."""

# Composition makes at most four characters one (a Greek vowel with three marks); whatever is longer stays too long. The
# bound matters: putting a run of combining marks in order takes time that is quadratic in its length.
_COMPOSED_OF = 4

_WHITE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WHITE_RUN = re.compile(f"[{_WHITE}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")  # in a Python text they are always lone
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_NO_NAME = (
    (_SURROGATE, "lone_surrogate"),
    (_CONTROL, "control_character"),
    (re.compile("[\u2028\u2029]"), "line_break"),
    (re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"), "bidirectional_control"),
    (re.compile("[/?#]"), "reserved_character"),
    (re.compile(r"\A\.\.?\Z"), "dots"),
)


@dataclass(frozen=True, slots=True)
class MemoryInput:
    """What is saved: name and description normalized, and no rule broken; `type` None leaves it as it is."""

    name: str
    description: str
    content: str
    type: MemoryType | None = None


def normalize_name(raw: str) -> str:
    """The name under which a memory is saved and looked up: `My-Key Name` is `my_key_name`."""
    name = raw.strip(" ")
    if len(name) > _COMPOSED_OF * MAX_NAME_CHARACTERS:
        return name
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    return lowered.replace("-", "_").replace(" ", "_")


def broken_name_rule(name: str) -> str | None:
    """The first rule that a normalized name breaks, or None: 1-256 characters, of any script."""
    if not name:
        return "blank"
    if len(name) > MAX_NAME_CHARACTERS:
        return "too_long"
    return next((rule for pattern, rule in _NO_NAME if pattern.search(name)), None)


def normalize_description(raw: str) -> str:
    """The description on one line: each run of white space is one space, and there is none at either end."""
    return _WHITE_RUN.sub(" ", raw).strip(" ")


def broken_description_rule(description: str) -> str | None:
    """The first rule that a normalized description breaks, or None: 1-512 characters without control characters."""
    if not description:
        return "blank"
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        return "too_long"
    if _SURROGATE.search(description):
        return "lone_surrogate"
    return "control_character" if _CONTROL.search(description) else None


def broken_content_rule(content: str, *, limit: int = MAX_CONTENT_CHARACTERS) -> str | None:
    """The first rule that a content breaks, or None: it is stored as it is, not blank, at most `limit` characters."""
    if len(content) > limit:
        return "too_long"
    if not content.strip():
        return "blank"
    if "\0" in content:
        return "nul"
    return "lone_surrogate" if _SURROGATE.search(content) else None


def record_hash(*, type: MemoryType, name: str, description: str, content: str) -> str:  # noqa: A002  (the field's name)
    """What the audit trail shows of a record: `sha256:` and the digest of type, name, description and content.

    Each begins a line. Only the content, which is last, may hold line breaks, so no two records share a text.
    """
    digest = sha256(f"{type}\n{name}\n{description}\n{content}".encode()).hexdigest()
    return f"sha256:{digest}"
