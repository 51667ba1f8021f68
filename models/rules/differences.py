"""Differences: what a reviewer is shown of a changed text, as a unified diff."""

from collections.abc import Iterator, Sequence

from models.rules.alignment import Change, changes, lines_of

CONTEXT_LINES = 3

_NOWHERE = "/dev/null"
_NO_FINAL_NEWLINE = "\n\\ No newline at end of file\n"


def unified_diff(old: str | None, new: str | None, *, old_path: str | None, new_path: str | None) -> str:
    """The unified diff that makes the old text the new one, with three lines of context; empty if they are equal.

    Texts are split on LF only. A text or path that is None does not exist (`/dev/null`).
    Texts that share too little to be compared within bounds are shown as one replacement (`alignment.MAX_CELLS`).
    """
    old_lines, new_lines = lines_of(old or ""), lines_of(new or "")
    found = changes(old_lines, new_lines)
    if not found:
        return ""
    header = f"--- {_side('a', old, old_path)}\n+++ {_side('b', new, new_path)}\n"
    return header + "".join(_hunk(group, old_lines, new_lines) for group in _grouped(found))


def _side(prefix: str, text: str | None, path: str | None) -> str:
    return _NOWHERE if text is None or path is None else f"{prefix}/{path}"


def _grouped(found: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes whose contexts would touch or overlap go into one hunk."""
    group = [found[0]]
    for change in found[1:]:
        if change.old_start - group[-1].old_end > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(change)
    yield group


def _hunk(group: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> str:
    before = min(CONTEXT_LINES, group[0].old_start)
    after = min(CONTEXT_LINES, len(old) - group[-1].old_end)
    old_start, old_end = group[0].old_start - before, group[-1].old_end + after
    new_start, new_end = group[0].new_start - before, group[-1].new_end + after
    parts = [f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"]
    position = old_start
    for change in group:
        parts += [_line(" ", line) for line in old[position : change.old_start]]
        parts += [_line("-", line) for line in old[change.old_start : change.old_end]]
        parts += [_line("+", line) for line in new[change.new_start : change.new_end]]
        position = change.old_end
    parts += [_line(" ", line) for line in old[position:old_end]]
    return "".join(parts)


def _range(start: int, end: int) -> str:
    """Lines count from 1; an empty range names the line before it, and a range of one line leaves its length out."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}{_NO_FINAL_NEWLINE}"
