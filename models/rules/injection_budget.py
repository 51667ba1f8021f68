"""How much of which memories a turn is given (memory.md §4). All counts are characters before escaping."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_WHITE_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class ShownContent:
    """The beginning of a content, and how many characters the whole one has."""

    text: str
    whole: int

    @property
    def is_cut(self) -> bool:
        """Whether there is more than is shown."""
        return len(self.text) < self.whole


def contents_within(contents: Iterable[str], *, each: int, total: int) -> list[ShownContent]:
    """What is shown of the contents, in order, as far as the budget goes.

    Args:
        contents: whole, the most relevant first.
        each: a longer content is cut, at a line or a word.
        total: of all that is shown; the first content that would pass it ends the list.
    """
    shown: list[ShownContent] = []
    left = total
    for content in contents:
        part = ShownContent(_beginning(content, each), len(content))
        left -= len(part.text)
        if left < 0:
            break
        shown.append(part)
    return shown


def _beginning(content: str, limit: int) -> str:
    """At most `limit` characters; up to the end of a line, else of a word, where that leaves at least half of them.

    A text without such an end, as one of a script that sets no spaces, is cut where the limit is.
    """
    if len(content) <= limit:
        return content
    for end in (_LINE_BREAK, _WHITE_SPACE):
        at = max((found.start() for found in end.finditer(content, limit // 2, limit + 1)), default=0)
        beginning = content[:at].rstrip()
        if beginning:
            return beginning
    return content[:limit]
