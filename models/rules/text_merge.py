"""Text merge: a three-way merge of whole lines, with structured conflicts (reconciliation-table.md, "Text merge")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.rules.alignment import Change, aligned, lines_of
from models.rules.conflicts import Hunk, LineRange


class SegmentKind(StrEnum):
    """Who changed the lines of a segment; `same` is both sides alike, `conflict` each side in its own way."""

    UNCHANGED = "unchanged"
    CURRENT = "current"
    DRAFT = "draft"
    SAME = "same"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Segment:
    """Lines of the three texts that stand for one another; the segments of a merge cover each text, in order."""

    kind: SegmentKind
    base: LineRange
    current: LineRange
    draft: LineRange


@dataclass(frozen=True, slots=True)
class Merge:
    """What merging gave.

    Args:
        text: the merged text; None with conflicts, or if it is too complex.
        hunks: the conflicts, in order.
        segments: all of it; one whole conflict if it is too complex.
        too_complex: whether a side differs from the base in more than can be compared (`alignment.MAX_CELLS`).
    """

    text: str | None
    hunks: tuple[Hunk, ...]
    segments: tuple[Segment, ...]
    too_complex: bool


class Side(StrEnum):
    """The side that a conflict is settled for."""

    CURRENT = "current"
    DRAFT = "draft"


def merge(base: str, current: str, draft: str) -> Merge:
    """Merge what two sides made of a text.

    Changes are combined where at least one line that neither side touched lies between them; equal changes converge.
    The verdict and a clean text are the same with the sides swapped.
    """
    if base == draft:
        return _one_segment(SegmentKind.CURRENT if current != base else SegmentKind.UNCHANGED, base, current, draft)
    if base == current:
        return _one_segment(SegmentKind.DRAFT, base, current, draft)
    if current == draft:
        return _one_segment(SegmentKind.SAME, base, current, draft)
    texts = _Lines(lines_of(base), lines_of(current), lines_of(draft))
    by_current, by_draft = aligned(texts.base, texts.current), aligned(texts.base, texts.draft)
    if by_current is None or by_draft is None:
        return _too_complex(texts)
    segments = tuple(_segments(texts, by_current, by_draft))
    hunks = tuple(
        Hunk(segment.base, segment.current, segment.draft)
        for segment in segments
        if segment.kind is SegmentKind.CONFLICT
    )
    text = None if hunks else _text(texts, segments, lambda _: [])
    return Merge(text, hunks, segments, too_complex=False)


def one_side(base: str, current: str, draft: str, segments: Sequence[Segment], side: Side) -> str:
    """The merged text with one side's lines in each conflict."""
    texts = _Lines(lines_of(base), lines_of(current), lines_of(draft))
    take = texts.of_current if side is Side.CURRENT else texts.of_draft
    return _text(texts, segments, take)


def both(base: str, current: str, draft: str, segments: Sequence[Segment], *, current_first: bool) -> str:
    """The merged text with both sides' lines in each conflict, one side's after the other's."""
    texts = _Lines(lines_of(base), lines_of(current), lines_of(draft))
    first, second = texts.of_current, texts.of_draft
    if not current_first:
        first, second = second, first
    return _text(texts, segments, lambda segment: _one_after_the_other(first(segment), second(segment)))


@dataclass(frozen=True, slots=True)
class _Lines:
    base: list[str]
    current: list[str]
    draft: list[str]

    def of_current(self, segment: Segment) -> list[str]:
        return self.current[segment.current.start : segment.current.end]

    def of_draft(self, segment: Segment) -> list[str]:
        return self.draft[segment.draft.start : segment.draft.end]

    def whole(self, kind: SegmentKind) -> Segment:
        return Segment(kind, *(LineRange(0, len(lines)) for lines in (self.base, self.current, self.draft)))


def _one_segment(kind: SegmentKind, base: str, current: str, draft: str) -> Merge:
    whole = _Lines(lines_of(base), lines_of(current), lines_of(draft)).whole(kind)
    return Merge(draft if kind is SegmentKind.DRAFT else current, (), (whole,), too_complex=False)


def _too_complex(texts: _Lines) -> Merge:
    return Merge(None, (), (texts.whole(SegmentKind.CONFLICT),), too_complex=True)


def _segments(texts: _Lines, by_current: Sequence[Change], by_draft: Sequence[Change]) -> Iterator[Segment]:
    """Every line of the three texts, in order."""
    position = current_ahead = draft_ahead = 0
    for group in _touching(by_current, by_draft):
        if position < group.start:
            yield _unchanged(position, group.start, current_ahead, draft_ahead)
        base = LineRange(group.start, group.end)
        current = _range(base, group.current, current_ahead)
        draft = _range(base, group.draft, draft_ahead)
        yield Segment(_kind(texts, group, current, draft), base, current, draft)
        position, current_ahead, draft_ahead = base.end, current.end - base.end, draft.end - base.end
    if position < len(texts.base):
        yield _unchanged(position, len(texts.base), current_ahead, draft_ahead)


@dataclass(slots=True)
class _Group:
    """Changes of both sides with no untouched line between any two, over lines `[start, end)` of the base."""

    start: int
    end: int
    current: list[Change]
    draft: list[Change]


def _touching(by_current: Sequence[Change], by_draft: Sequence[Change]) -> Iterator[_Group]:
    group: _Group | None = None
    waiting_current, waiting_draft = list(reversed(by_current)), list(reversed(by_draft))
    while waiting_current or waiting_draft:
        of_current = bool(waiting_current) and (
            not waiting_draft or waiting_current[-1].old_start <= waiting_draft[-1].old_start
        )
        change = (waiting_current if of_current else waiting_draft).pop()
        if group is None or change.old_start > group.end:
            if group is not None:
                yield group
            group = _Group(change.old_start, change.old_end, [], [])
        (group.current if of_current else group.draft).append(change)
        group.end = max(group.end, change.old_end)
    if group is not None:
        yield group


def _range(base: LineRange, changed: Sequence[Change], ahead: int) -> LineRange:
    """The side's lines that stand for a group's: its changes, and what it left alone before, between and after them."""
    end = base.end + ahead
    for change in changed:
        end += (change.new_end - change.new_start) - (change.old_end - change.old_start)
    return LineRange(base.start + ahead, end)


def _unchanged(start: int, end: int, current_ahead: int, draft_ahead: int) -> Segment:
    return Segment(
        SegmentKind.UNCHANGED,
        LineRange(start, end),
        LineRange(start + current_ahead, end + current_ahead),
        LineRange(start + draft_ahead, end + draft_ahead),
    )


def _kind(texts: _Lines, group: _Group, current: LineRange, draft: LineRange) -> SegmentKind:
    if not group.draft:
        return SegmentKind.CURRENT
    if not group.current:
        return SegmentKind.DRAFT
    same = texts.current[current.start : current.end] == texts.draft[draft.start : draft.end]
    return SegmentKind.SAME if same else SegmentKind.CONFLICT


def _text(texts: _Lines, segments: Sequence[Segment], settle: Callable[[Segment], list[str]]) -> str:
    parts: list[str] = []
    for segment in segments:
        if segment.kind is SegmentKind.CONFLICT:
            parts += settle(segment)
        elif segment.kind is SegmentKind.DRAFT:
            parts += texts.of_draft(segment)
        else:
            parts += texts.of_current(segment)
    return "".join(parts)


def _one_after_the_other(first: list[str], second: list[str]) -> list[str]:
    """The last line of a text may lack its end, and gets one where lines follow it."""
    if first and second and not first[-1].endswith("\n"):
        return [*first[:-1], f"{first[-1]}\n", *second]
    return [*first, *second]
