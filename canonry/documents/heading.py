"""The first heading of a Markdown text: what describes a document that does not describe itself."""

import re
from collections.abc import Iterator, Sequence

from models.rules.bodies import MAX_DESCRIPTION_CHARACTERS

_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INDENTED_CODE = re.compile(r" {4}| {0,3}\t")
# What begins like this (a quotation, markup, a list, a thematic break) is no heading, whatever stands below it.
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[><]|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$)")
_COMMENT = re.compile(r" {0,3}<!--")


def first_heading(markdown: str) -> str | None:
    """The text of the first ATX or setext heading outside of fenced code and HTML comments, or None.

    Inline markup is kept, closing `#` are not. It is one trimmed line of at most 1,024 characters; an empty heading
    does not count.
    """
    paragraph: list[str] = []
    for line in _outside_of_fences(markdown):
        if atx := _ATX.match(line):
            heading, paragraph = _one_line([_without_closing(line[atx.end() :])]), []
        elif paragraph and _UNDERLINE.match(line):
            heading, paragraph = _one_line(paragraph), []
        else:
            heading, paragraph = "", _continued(paragraph, line)
        if heading:
            return heading
    return None


def _outside_of_fences(markdown: str) -> Iterator[str]:
    """The lines that are not code or comments; an empty one stands for each block that is."""
    closing: str | None = None
    in_comment = False
    for line in markdown.split("\n"):
        if closing is not None:
            closing = None if _closes(line, closing) else closing
        elif in_comment:
            in_comment = "-->" not in line
        elif fence := _opening(line):
            closing = fence
            yield ""
        elif _COMMENT.match(line):
            in_comment = "-->" not in line
            yield ""
        else:
            yield line


def _opening(line: str) -> str | None:
    found = _FENCE.match(line)
    if found is None or ("`" in found[1] and "`" in line[found.end() :]):
        return None
    return found[1]


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not line[found.end() :].strip(" \t")


def _continued(paragraph: list[str], line: str) -> list[str]:
    """The paragraph that a next line may underline."""
    if not line.strip() or _NO_PARAGRAPH.match(line):
        return []
    if not paragraph and _INDENTED_CODE.match(line):
        return []
    return [*paragraph[:MAX_DESCRIPTION_CHARACTERS], line]


def _without_closing(text: str) -> str:
    """The text of an ATX heading; searching from the end takes one pass, whatever the text."""
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else text


def _one_line(lines: Sequence[str]) -> str:
    text = " ".join(part.strip() for line in lines for part in line.splitlines())
    return text.strip()[:MAX_DESCRIPTION_CHARACTERS].strip()
