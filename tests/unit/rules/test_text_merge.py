from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.rules.alignment import MAX_CELLS, lines_of
from models.rules.text_merge import Hunk, LineRange, Merge, Segment, SegmentKind, Side, both, merge, one_side
from tests.corpus import SOURCE
from tests.merges import Sides

FEW, MANY = 250, 1_300
FEW_REAL, MANY_REAL = 15, 60

REAL = [path.read_text(encoding="utf-8") for path in sorted(SOURCE.glob("r*/*.md"))]


def of_lines(letters: str) -> str:
    """A text with a line for each letter."""
    return "".join(f"{letter}\n" for letter in letters)


def small(alphabet: str) -> st.SearchStrategy[str]:
    return st.text(alphabet, max_size=12).map(of_lines)


def small_sides() -> st.SearchStrategy[Sides]:
    return st.builds(Sides, *[small("abc")] * 3)


@st.composite
def real_sides(draw: st.DrawFn) -> Sides:
    """A real document and two edits of it; some lines that come in stand in it already."""
    base = lines_of(draw(st.sampled_from(REAL)))
    some_lines = st.lists(st.sampled_from(["new\n", "\n", *base]), max_size=2)

    def edited() -> str:
        lines = list(base)
        for start, length, put in draw(
            st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2), some_lines), max_size=3)
        ):
            lines[start : start + length] = put
        return "".join(lines)

    return Sides("".join(base), edited(), edited())


def of_examples(number: int) -> settings:
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def law(check: Callable[[Sides], None]) -> Callable[[str, int], None]:
    """A test that something holds of all short texts of few different lines, and of edits of real documents."""
    sides_of = {"short": small_sides(), "real": real_sides()}

    @pytest.mark.parametrize(
        ("texts", "number"),
        [
            ("short", FEW),
            ("real", FEW_REAL),
            pytest.param("short", MANY, marks=pytest.mark.long),
            pytest.param("real", MANY_REAL, marks=pytest.mark.long),
        ],
    )
    def holds(texts: str, number: int) -> None:
        sides = sides_of[texts]
        of_examples(number)(given(sides)(check))()

    return holds


def merged(sides: Sides) -> Merge:
    return merge(sides.base, sides.current, sides.draft)


@law
def test_what_one_side_left_alone_becomes_what_the_other_made_of_it(sides: Sides) -> None:
    assert merge(sides.base, sides.current, sides.base).text == sides.current
    assert merge(sides.base, sides.base, sides.draft).text == sides.draft


@law
def test_equal_changes_converge(sides: Sides) -> None:
    assert merge(sides.base, sides.current, sides.current).text == sides.current


@given(*[st.tuples(*[small("abc")] * 2)] * 2)
@of_examples(FEW)
def test_changes_in_separate_places_are_both_kept(first: tuple[str, str], second: tuple[str, str]) -> None:
    base, current, draft = f"{first[0]}=\n{second[0]}", f"{first[1]}=\n{second[0]}", f"{first[0]}=\n{second[1]}"
    assert merge(base, current, draft).text == f"{first[1]}=\n{second[1]}"


@law
def test_swapping_the_sides_keeps_the_verdict_and_a_clean_text(sides: Sides) -> None:
    there, back = merged(sides), merge(sides.base, sides.draft, sides.current)
    assert there.text == back.text
    assert [(hunk.base, hunk.draft, hunk.current) for hunk in there.hunks] == [
        (hunk.base, hunk.current, hunk.draft) for hunk in back.hunks
    ]


@law
def test_every_line_of_a_clean_text_comes_from_one_side(sides: Sides) -> None:
    found = merged(sides)
    if found.text is not None:
        assert set(lines_of(found.text)) <= {*lines_of(sides.current), *lines_of(sides.draft)}


@law
def test_the_segments_rebuild_all_three_texts(sides: Sides) -> None:
    segments = merged(sides).segments
    parts: list[tuple[str, Callable[[Segment], LineRange]]] = [
        (sides.base, lambda segment: segment.base),
        (sides.current, lambda segment: segment.current),
        (sides.draft, lambda segment: segment.draft),
    ]
    for text, of in parts:
        lines = lines_of(text)
        assert "".join("".join(lines[of(each).start : of(each).end]) for each in segments) == text


@law
def test_a_segment_is_of_the_kind_that_its_lines_say(sides: Sides) -> None:
    base, current, draft = lines_of(sides.base), lines_of(sides.current), lines_of(sides.draft)
    for segment in merged(sides).segments:
        was = base[segment.base.start : segment.base.end]
        ours = current[segment.current.start : segment.current.end]
        theirs = draft[segment.draft.start : segment.draft.end]
        assert segment.kind is expected_kind(was, ours, theirs)


def expected_kind(was: list[str], ours: list[str], theirs: list[str]) -> SegmentKind:
    if ours == theirs:
        return SegmentKind.UNCHANGED if was == ours else SegmentKind.SAME
    if theirs == was:
        return SegmentKind.CURRENT
    return SegmentKind.DRAFT if ours == was else SegmentKind.CONFLICT


@law
def test_settling_every_conflict_gives_a_text_without_conflict_markers_or_losses(sides: Sides) -> None:
    found = merged(sides)
    base, current, draft = sides.base, sides.current, sides.draft
    ours = one_side(base, current, draft, found.segments, Side.CURRENT)
    theirs = one_side(base, current, draft, found.segments, Side.DRAFT)
    if found.text is not None:
        assert ours == theirs == found.text
    for text, current_first in ((ours, True), (theirs, False)):
        doubled = both(base, current, draft, found.segments, current_first=current_first)
        assert len(lines_of(doubled)) == len(lines_of(text)) + sum(
            (hunk.draft.end - hunk.draft.start) if current_first else (hunk.current.end - hunk.current.start)
            for hunk in found.hunks
        )


@pytest.mark.parametrize(
    ("base", "current", "draft", "text"),
    [
        ("abcde", "Abcde", "abcdE", "AbcdE"),
        ("abc", "Abc", "abC", "AbC"),
        ("abc", "bc", "ab", "b"),
        ("abc", "axbc", "abyc", "axbyc"),
        ("ab", "axb", "axb", "axb"),
        ("abcd", "aXcd", "aXcD", "aXcD"),
        ("", "a", "a", "a"),
    ],
)
def test_changes_with_an_untouched_line_between_them_are_combined(
    base: str, current: str, draft: str, text: str
) -> None:
    assert merge(*map(of_lines, (base, current, draft))).text == of_lines(text)


@pytest.mark.parametrize(
    ("base", "current", "draft"),
    [
        ("ab", "Ab", "aB"),
        ("ab", "b", "a"),
        ("a", "ax", "ay"),
        ("ab", "axb", "ayb"),
        ("ab", "xb", "yb"),
        ("abc", "ac", "axc"),
        ("", "a", "b"),
    ],
)
def test_changes_that_touch_each_other_are_a_conflict(base: str, current: str, draft: str) -> None:
    found = merge(*map(of_lines, (base, current, draft)))
    assert found.text is None
    assert len(found.hunks) == 1


def test_two_sides_that_each_add_one_of_equal_lines_name_the_same_place() -> None:
    """The one inserted before, the other after the line that was there: without sliding, a line would be doubled."""
    assert merge(of_lines("xaay"), of_lines("xaaay"), of_lines("xaaayz")).text == of_lines("xaaayz")


def test_a_conflict_names_the_lines_of_all_three_texts() -> None:
    found = merge(of_lines("abcde"), of_lines("abXYde"), of_lines("newabcDe"))
    assert found.hunks == (Hunk(LineRange(2, 4), LineRange(2, 5), LineRange(5, 7)),)
    assert [segment.kind for segment in found.segments] == ["draft", "unchanged", "conflict", "unchanged"]


def test_what_is_clean_beside_a_conflict_is_merged_when_it_is_settled() -> None:
    base, current, draft = map(of_lines, ("abcdefg", "Abc1efg", "abc2efG"))
    segments = merge(base, current, draft).segments
    assert one_side(base, current, draft, segments, Side.CURRENT) == of_lines("Abc1efG")
    assert one_side(base, current, draft, segments, Side.DRAFT) == of_lines("Abc2efG")
    assert both(base, current, draft, segments, current_first=True) == of_lines("Abc12efG")
    assert both(base, current, draft, segments, current_first=False) == of_lines("Abc21efG")


def test_two_last_lines_without_an_end_do_not_run_together() -> None:
    segments = merge("a", "b", "c").segments
    assert both("a", "b", "c", segments, current_first=True) == "b\nc"


def test_lines_end_at_lf_only() -> None:
    base = "a\u2028b\x0cc\n=\nend\n"
    assert merge(base, base.replace("b", "B"), base.replace("c", "C")).text is None
    assert merge(base, base.replace("b", "B"), base.replace("end", "END")).text == "a\u2028B\x0cc\n=\nEND\n"


def test_conflict_markers_in_a_text_are_text() -> None:
    marked = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    assert merge(f"{marked}x\nend\n", f"0\n{marked}x\nend\n", f"{marked}x\nEND\n").text == f"0\n{marked}x\nEND\n"


def test_texts_beyond_the_bound_are_too_complex() -> None:
    side = int(MAX_CELLS**0.5) + 1
    base = "".join(f"{number}\n" for number in range(side))
    current, draft = base.replace("\n", "c\n"), f"{base}more\n"
    found = merge(base, current, draft)
    assert (found.text, found.hunks) == (None, ())
    assert found.segments == (Segment(SegmentKind.CONFLICT, 0, side, 0, side, 0, side + 1),)
    turned = merge(base, draft, current)
    assert (turned.text, turned.hunks) == (None, ())


def test_a_long_text_with_few_changes_is_not_too_complex() -> None:
    base = "".join(f"{number}\n" for number in range(30_000))
    current, draft = base.replace("\n7\n", "\nseven\n"), base.replace("\n29000\n", "\n")
    assert merge(base, current, draft).text == current.replace("\n29000\n", "\n")
