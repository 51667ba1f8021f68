"""The part of a content that is shown for a query: one line around the words that were looked for."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from models.rules.memory_block import visible

SNIPPET_CHARACTERS = 200
MAX_TERMS = 32
"""Of a long query the first terms suffice: what they are near is what is shown."""

OCCURRENCES = 8
"""How often a term is looked for in a content, from its beginning."""

BEFORE = 40
"""Characters shown before the first word that is looked for."""

REACH = SNIPPET_CHARACTERS - 2 * BEFORE
"""How far behind the first word another one still counts, so that it is shown whole."""


def snippet(content: str, terms: Sequence[str]) -> str:
    """At most 200 characters of the content, on one line, with `…` where it goes on; nothing in it hides or steers.

    Args:
        content: as it was saved.
        terms: what is looked for, lower case; where none occurs, the beginning is shown.
    """
    start = _start(content, terms)
    end = start + SNIPPET_CHARACTERS
    part = _whole_words(content[start:end], cut_before=start > 0, cut_after=end < len(content))
    line = " ".join(part.split())
    return visible(f"{'… ' if start > 0 else ''}{line}{' …' if end < len(content) else ''}")


def _start(content: str, terms: Sequence[str]) -> int:
    """Where the part begins that holds the most different terms; of several, the first."""
    if len(content) <= SNIPPET_CHARACTERS:
        return 0
    found = sorted(_positions(_lowered(content), list(dict.fromkeys(terms))[:MAX_TERMS]))
    within: Counter[str] = Counter()
    best, most, end = 0, 0, 0
    for at, term in found:
        while end < len(found) and found[end][0] <= at + REACH:
            within[found[end][1]] += 1
            end += 1
        if len(within) > most:
            best, most = at, len(within)
        within[term] -= 1
        if not within[term]:
            del within[term]
    return max(0, best - BEFORE)


def _positions(lowered: str, terms: Iterable[str]) -> Iterable[tuple[int, str]]:
    for term in terms:
        at = lowered.find(term)
        for _ in range(OCCURRENCES):
            if at < 0:
                break
            # In the middle of a Latin word a term is another word: `ci` is not in `special`.
            if not (term.isascii() and at > 0 and lowered[at - 1].isalnum() and lowered[at - 1].isascii()):
                yield at, term
            at = lowered.find(term, at + 1)


def _lowered(content: str) -> str:
    """The content in lower case, each character where it was."""
    lowered = content.lower()
    if len(lowered) == len(content):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in content)


def _whole_words(part: str, *, cut_before: bool, cut_after: bool) -> str:
    """The part without the pieces of words at its ends, unless a piece is most of it."""
    if cut_before:
        first = re.search(r"\s", part[:BEFORE])
        part = part[first.end() :] if first else part
    if cut_after:
        last = re.search(r"\s\S*\Z", part)
        part = part[: last.start()] if last and last.start() > len(part) // 2 else part
    return part
