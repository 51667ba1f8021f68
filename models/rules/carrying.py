"""Carrying: where a line of one text stands in a later one, as comments follow what they were written on."""

from collections.abc import Collection

from models.rules.alignment import changes, lines_of


def carried(lines: Collection[int], earlier: str, later: str) -> dict[int, int]:
    """Where lines of the earlier text, counted from 1, stand in the later one; what was changed or dropped is left out.

    One alignment, however many lines are asked for.
    """
    found: dict[int, int] = {}
    ahead = 0
    waiting = changes(lines_of(earlier), lines_of(later))[::-1]
    for line in sorted(lines):
        while waiting and waiting[-1].old_end < line:
            passed = waiting.pop()
            ahead = passed.new_end - passed.old_end
        if not waiting or line <= waiting[-1].old_start:
            found[line] = line + ahead
    return found
