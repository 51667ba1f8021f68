"""Markdown files: the id and description that front matter gives, and the body without them (ADR 0010)."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from canonry.documents.heading import first_heading
from canonry.documents.yaml_keys import NOTHING, TEXT, Key, NoMapping, Unusable, find_keys
from models.errors import OperationInvalid
from models.identifiers import MemoryId, is_importable_id
from models.rules.bodies import accept_description, normalize_body

INVALID_BLOCK = "front_matter_invalid"
INVALID_DESCRIPTION = "description_invalid"

_ID, _DESCRIPTION = "id", "description"
_FENCE = "---"
_CLOSING = ("---", "...")


@dataclass(frozen=True, slots=True)
class Note:
    """Something to mend in a document that is taken all the same: a stable code, and a sentence."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A Markdown file as Memory: its normalized body, and the id and description it gives itself (None: none)."""

    memory_id: MemoryId | None
    description: str | None
    body: str
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    """A text that begins with a block: its two fences, what is between them, and what follows."""

    opening: str
    block: str
    closing: str
    rest: str


def read_document(text: str) -> Document:
    """Take id and description out of a text's front matter; without a description there, the first heading is it.

    Every other key, comment and line stays as it is. What cannot be used stays too, and a note says why. The body is
    normalized, but it may be blank or too long.
    """
    text = normalize_body(text)
    parts = _split(text)
    if parts is None:
        return _without_front_matter(text)
    try:
        keys = find_keys(parts.block, (_ID, _DESCRIPTION))
    except NoMapping as reason:  # Markdown between two thematic breaks, most likely
        heading = first_heading(parts.block) or first_heading(parts.rest)
        return Document(memory_id=None, description=heading, body=text, notes=(_block_note(reason),))
    except Unusable as reason:
        return Document(memory_id=None, description=first_heading(parts.rest), body=text, notes=(_block_note(reason),))
    return _read(parts, keys)


def render_document(*, memory_id: MemoryId, description: str, body: str) -> str:
    """The text from which `read_document` reads exactly this id, description and accepted body, whatever the body is.

    They are written into the body's own front matter where that reads back, else into a block before the body.
    """
    lines = yaml.safe_dump(
        {_ID: str(memory_id), _DESCRIPTION: description}, allow_unicode=True, sort_keys=False, width=sys.maxsize
    )
    opening = f"{_FENCE}\n"
    if body.startswith(opening):
        merged = opening + lines + body.removeprefix(opening)
        if read_document(merged) == Document(memory_id=memory_id, description=description, body=body):
            return merged
    return f"{opening}{lines}{opening}{body}"


def _split(text: str) -> _Parts | None:
    """The parts, or None where no block opens or none closes."""
    opening, _, following = text.partition("\n")
    if opening.rstrip(" \t") != _FENCE:
        return None
    position = 0
    while position < len(following):
        end = following.index("\n", position) + 1  # a normalized text ends with one
        if following[position:end].rstrip(" \t\n") in _CLOSING:
            return _Parts(opening + "\n", following[:position], following[position:end], following[end:])
        position = end
    return None


def _without_front_matter(text: str) -> Document:
    return Document(memory_id=None, description=first_heading(text), body=text)


def _read(parts: _Parts, keys: Mapping[str, Key]) -> Document:
    taken: list[Key] = []
    notes: list[Note] = []
    memory_id = description = None
    if (key := keys.get(_ID)) and key.tag == TEXT and is_importable_id(key.value):
        memory_id = MemoryId(key.value)
        taken.append(key)
    if key := keys.get(_DESCRIPTION):
        try:
            description = _description(key)
            taken.append(key)
        except OperationInvalid as reason:
            notes.append(
                Note(INVALID_DESCRIPTION, f"{reason} The `description` of the front matter stays in the body.")
            )
    return Document(
        memory_id=memory_id,
        description=first_heading(parts.rest) if description is None else description,
        body=_body(parts, taken),
        notes=tuple(notes),
    )


def _description(key: Key) -> str:
    """The accepted description.

    Raises:
        OperationInvalid: it is none.
    """
    if key.tag == NOTHING:
        return ""
    if key.tag != TEXT:
        raise OperationInvalid("A description is text.", field=_DESCRIPTION, rule="not_text")
    return accept_description(key.value)


def _body(parts: _Parts, taken: list[Key]) -> str:
    block = parts.block
    for key in sorted(taken, key=lambda each: each.start, reverse=True):
        block = block[: key.start] + block[key.end :]
    if taken and not block.strip():
        return normalize_body(parts.rest)
    return parts.opening + block + parts.closing + parts.rest


def _block_note(reason: Unusable) -> Note:
    return Note(INVALID_BLOCK, f"The front matter {reason}; it stays in the body.")
