"""Alignment: which whole lines two texts share (reconciliation-table.md, "Text merge")."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

MAX_CELLS = 400_000_000
"""Middle lines times middle lines; above it the comparison would take seconds and hundreds of megabytes."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `[old_start, old_end)` of the old text are replaced by lines `[new_start, new_end)` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, split on LF only; only the last may lack its end."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The changes between two lists of lines, in order, with at least one common line between any two.

    What both have in common at the start and at the end is set aside first. If what is left is above
    `MAX_CELLS`, it is one change.
    """
    start = _common_prefix(old, new)
    end = _common_suffix(old[start:], new[start:])
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if not old_middle and not new_middle:
        return []
    if not old_middle or not new_middle or len(old_middle) * len(new_middle) > MAX_CELLS:
        return [Change(start, len(old) - end, start, len(new) - end)]
    return [
        Change(start + old_start, start + old_end, start + new_start, start + new_end)
        for old_start, old_end, new_start, new_end in _aligned(old_middle, new_middle)
    ]


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    # Lines become numbers: rapidfuzz compares hashes, and two different lines could share one.
    numbers: dict[str, int] = {}
    numbered_old = [numbers.setdefault(line, len(numbers)) for line in old]
    numbered_new = [numbers.setdefault(line, len(numbers)) for line in new]
    blocks: list[tuple[int, int, int, int]] = []
    for code in LCSseq.opcodes(numbered_old, numbered_new):
        if code.tag == "equal":
            continue
        if blocks and blocks[-1][1] == code.src_start and blocks[-1][3] == code.dest_start:
            old_start, _, new_start, _ = blocks.pop()
            blocks.append((old_start, code.src_end, new_start, code.dest_end))
        else:
            blocks.append((code.src_start, code.src_end, code.dest_start, code.dest_end))
    return blocks


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    for position, (ours, theirs) in enumerate(zip(old, new, strict=False)):
        if ours != theirs:
            return position
    return min(len(old), len(new))


def _common_suffix(old: Sequence[str], new: Sequence[str]) -> int:
    return _common_prefix(old[::-1], new[::-1])
