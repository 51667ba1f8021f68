"""Text merge: a three-way merge of whole lines, with structured conflicts (reconciliation-table.md, "Text merge")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from models.rules.alignment import Change, aligned, lines_of


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines `[start, end)` of a text, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that both sides changed, each its own way."""

    base: LineRange
    current: LineRange
    draft: LineRange


class SegmentKind(StrEnum):
    """Who changed the lines of a segment; `same` is both sides alike, `conflict` each side in its own way."""

    UNCHANGED = "unchanged"
    CURRENT = "current"
    DRAFT = "draft"
    SAME = "same"
    CONFLICT = "conflict"


class Segment(NamedTuple):
    """Lines of the three texts that stand for one another; the segments of a merge cover each text, in order."""

    kind: SegmentKind
    base_start: int
    base_end: int
    current_start: int
    current_end: int
    draft_start: int
    draft_end: int

    @property
    def base(self) -> LineRange:
        """Its lines of the base."""
        return LineRange(self.base_start, self.base_end)

    @property
    def current(self) -> LineRange:
        """Its lines of Current's text."""
        return LineRange(self.current_start, self.current_end)

    @property
    def draft(self) -> LineRange:
        """Its lines of the Draft's text."""
        return LineRange(self.draft_start, self.draft_end)


@dataclass(frozen=True, slots=True)
class Merge:
    """What merging gave.

    Args:
        text: the merged text; None with conflicts, or if it is too complex.
        hunks: the conflicts, in order.
        segments: all of it; one whole conflict if it is too complex, a side differing from the base in more than can
            be compared (`alignment.MAX_CELLS`).
    """

    text: str | None
    hunks: tuple[Hunk, ...]
    segments: tuple[Segment, ...]


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
    return Merge(text, hunks, segments)


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
        return self.current[segment.current_start : segment.current_end]

    def of_draft(self, segment: Segment) -> list[str]:
        return self.draft[segment.draft_start : segment.draft_end]

    def whole(self, kind: SegmentKind) -> Segment:
        return Segment(kind, 0, len(self.base), 0, len(self.current), 0, len(self.draft))


def _one_segment(kind: SegmentKind, base: str, current: str, draft: str) -> Merge:
    whole = _Lines(lines_of(base), lines_of(current), lines_of(draft)).whole(kind)
    return Merge(draft if kind is SegmentKind.DRAFT else current, (), (whole,))


def _too_complex(texts: _Lines) -> Merge:
    return Merge(None, (), (texts.whole(SegmentKind.CONFLICT),))


def _segments(texts: _Lines, by_current: Sequence[Change], by_draft: Sequence[Change]) -> Iterator[Segment]:
    """Every line of the three texts, in order."""
    base = current = draft = 0
    for group in _touching(by_current, by_draft):
        untouched = group.start - base
        if untouched:
            yield _unchanged(untouched, base, current, draft)
        current, draft = current + untouched, draft + untouched
        # Of a side's lines these are its changes, and what it left alone before, between and after them.
        current_end = current + group.end - group.start + _growth(group.current)
        draft_end = draft + group.end - group.start + _growth(group.draft)
        kind = _kind(group, texts.current[current:current_end], texts.draft[draft:draft_end])
        yield Segment(kind, group.start, group.end, current, current_end, draft, draft_end)
        base, current, draft = group.end, current_end, draft_end
    if base < len(texts.base):
        yield _unchanged(len(texts.base) - base, base, current, draft)


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


def _unchanged(number: int, base: int, current: int, draft: int) -> Segment:
    return Segment(SegmentKind.UNCHANGED, base, base + number, current, current + number, draft, draft + number)


def _growth(changed: Sequence[Change]) -> int:
    grown = 0
    for old_start, old_end, new_start, new_end in changed:
        grown += (new_end - new_start) - (old_end - old_start)
    return grown


def _kind(group: _Group, current: Sequence[str], draft: Sequence[str]) -> SegmentKind:
    if not group.draft:
        return SegmentKind.CURRENT
    if not group.current:
        return SegmentKind.DRAFT
    return SegmentKind.SAME if current == draft else SegmentKind.CONFLICT


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
