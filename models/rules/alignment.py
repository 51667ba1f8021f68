"""Alignment: which whole lines two texts share (reconciliation-table.md, "Text merge")."""

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

MAX_CELLS = 400_000_000
"""Middle lines times middle lines; above it the comparison would take seconds and hundreds of megabytes."""


class Change(NamedTuple):
    """Lines `[old_start, old_end)` of the old text are replaced by lines `[new_start, new_end)` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, split on LF only; only the last may lack its end."""
    return StringIO(text, newline="\n").readlines()


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The changes between two lists of lines, in order, with at least one common line between any two.

    They are as few lines as can be, each insertion or deletion as far down as equal lines allow. What both have in
    common at the start and at the end is set aside first. If what is left is above `MAX_CELLS`, it is one change.
    """
    found = aligned(old, new)
    if found is not None:
        return found
    start, end = _shared(old, new)
    return [Change(start, len(old) - end, start, len(new) - end)]


def aligned(old: Sequence[str], new: Sequence[str]) -> list[Change] | None:
    """The same changes, or None above `MAX_CELLS`."""
    start, end = _shared(old, new)
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if len(old_middle) * len(new_middle) > MAX_CELLS:
        return None
    found = [
        Change(start + block.old_start, start + block.old_end, start + block.new_start, start + block.new_end)
        for block in _differing(old_middle, new_middle)
    ]
    return _slid_down(found, old, new)


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both have in common at the start, and of the rest at the end."""
    start = _common_prefix(old, new)
    return start, _common_suffix(old[start:], new[start:])


def _differing(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    if not old and not new:
        return []
    if not old or not new:
        return [Change(0, len(old), 0, len(new))]
    # Lines become numbers: rapidfuzz compares hashes, and two different lines could share one.
    numbers: dict[str, int] = {}
    numbered_old = [numbers.setdefault(line, len(numbers)) for line in old]
    numbered_new = [numbers.setdefault(line, len(numbers)) for line in new]
    found: list[Change] = []
    old_end = new_end = 0
    # From the new to the old: where two alignments are equally long, that way the one that git chooses comes out.
    for common in LCSseq.opcodes(numbered_new, numbered_old).as_matching_blocks():
        if common.b > old_end or common.a > new_end:
            found.append(Change(old_end, common.b, new_end, common.a))
        old_end, new_end = common.b + common.size, common.a + common.size
    return found


def _fused(first: Change, second: Change) -> Change:
    return Change(first.old_start, second.old_end, first.new_start, second.new_end)


def _slid_down(found: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The same number of changed lines, so that two sides that add or drop one of equal lines name the same one."""
    below: list[Change] = []
    for change in reversed(found):
        slid = change
        while True:
            slid = _slide(slid, old, new, below[-1].old_start if below else len(old))
            if not below or slid.old_end < below[-1].old_start:
                break
            slid = _fused(slid, below.pop())
        below.append(slid)
    return below[::-1]


def _slide(change: Change, old: Sequence[str], new: Sequence[str], until: int) -> Change:
    """Slide a change over the common lines that end at `until` of the old text, if it inserts only or deletes only."""
    inserts = change.old_start == change.old_end
    if not inserts and change.new_start != change.new_end:
        return change
    lines, start, end = (new, change.new_start, change.new_end) if inserts else (old, change.old_start, change.old_end)
    limit = until - change.old_end
    by = 0
    while by < limit and lines[start + by] == lines[end + by]:
        by += 1
    return Change(change.old_start + by, change.old_end + by, change.new_start + by, change.new_end + by)


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    for position, (ours, theirs) in enumerate(zip(old, new, strict=False)):
        if ours != theirs:
            return position
    return min(len(old), len(new))


def _common_suffix(old: Sequence[str], new: Sequence[str]) -> int:
    return _common_prefix(old[::-1], new[::-1])
