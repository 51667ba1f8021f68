"""Queries: what the user said lately, which a turn looks for and nudges go by, and what is asked (memory.md §4, §5)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

QUERY_MESSAGES = 3
"""How many of the last user messages with text make the query."""

MAX_QUERY_CHARACTERS = 100_000
"""How many are looked for: the newest of what was said, and all that may be asked."""

_TEXT_PARTS = ("text", "input_text")
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Said:
    """A message as far as it matters here; `content` is whatever JSON the client sent."""

    role: str
    content: object


def user_texts(messages: Iterable[Said]) -> list[str]:
    """The texts of the user messages that have any, in order; white space alone is none."""
    texts = (_text_of(message.content) for message in messages if message.role == "user")
    return [text for text in texts if text.strip()]


def query_text(texts: Sequence[str]) -> str:
    """The last three texts, joined by newlines: at most their newest 100,000 characters; empty without any."""
    return "\n".join(texts[-QUERY_MESSAGES:])[-MAX_QUERY_CHARACTERS:]


def broken_query_rule(query: str) -> str | None:
    """The rule that keeps a text from being looked for as it is: `blank`, `too_long`, `lone_surrogate`; else None."""
    if not query.strip():
        return "blank"
    if len(query) > MAX_QUERY_CHARACTERS:
        return "too_long"
    return "lone_surrogate" if _SURROGATE.search(query) else None


def _text_of(content: object) -> str:
    """The text of a content: itself, or its text parts joined by newlines; of any other shape, none.

    Half a surrogate pair, which a client leaves that cuts an emoji in two, is no character that could be looked for.
    """
    parts = [content] if isinstance(content, str) else _parts_of(content)
    return _SURROGATE.sub(_REPLACEMENT, "\n".join(parts))


def _parts_of(content: object) -> list[str]:
    if not isinstance(content, list):
        return []
    parts = (part for part in content if isinstance(part, dict) and part.get("type") in _TEXT_PARTS)
    return [text for part in parts if isinstance(text := part.get("text"), str)]
