import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.alignment import MAX_CELLS, changes, lines_of
from models.rules.differences import unified_diff
from tests.unit.rules.examples import many

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")
NO_NEWLINE = "\\ No newline at end of file\n"


def diff(old: str | None, new: str | None) -> str:
    return unified_diff(old, new, old_path="p.md", new_path="p.md")


def body_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n", text)


def applied(patch: str, old: str) -> str:
    """A strict applier: every line, number and length of the patch has to be right."""
    source, result, position = re.findall(r"[^\n]*\n|[^\n]+", old), list[str](), 0
    lines = body_lines(patch)[2:]
    while lines:
        header = HUNK.fullmatch(lines.pop(0))
        assert header
        old_start, old_length, new_start, new_length = (int(number or 1) for number in header.groups())
        start = old_start - 1 if old_length else old_start
        result += source[position:start]
        assert len(result) == (new_start - 1 if new_length else new_start)
        removed, added = 0, 0
        position = start
        while removed < old_length or added < new_length:
            sign, text = lines[0][0], lines[0][1:]
            lines.pop(0)
            if lines and lines[0] == NO_NEWLINE:
                lines.pop(0)
                text = text.removesuffix("\n")
            if sign in " -":
                assert source[position] == text
                position, removed = position + 1, removed + 1
            if sign in " +":
                result.append(text)
                added += 1
            assert sign in " -+"
        assert (removed, added) == (old_length, new_length)
    return "".join(result + source[position:])


def documents() -> st.SearchStrategy[str]:
    few = st.lists(
        st.sampled_from(["a\n", "b\n", "c\n", "\n", "-a\n", "+b\n", "@@ -1 +1 @@\n", "x\u2028y\x0c\n"]), max_size=40
    )
    return few.map("".join) | st.text()


@st.composite
def edited_documents(draw: st.DrawFn) -> tuple[str, str]:
    """Two long documents that differ in few places, so that there are several hunks."""
    lines = [f"line {number}\n" for number in range(draw(st.integers(0, 80)))]
    edited = list(lines)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(edited)))
        edited[at : at + draw(st.integers(0, 3))] = draw(st.lists(st.sampled_from(["new\n", "line 3\n"]), max_size=3))
    return "".join(lines), "".join(edited)


@given(st.tuples(documents(), documents()) | edited_documents())
@many
def test_applying_the_diff_to_the_old_text_gives_the_new_one(texts: tuple[str, str]) -> None:
    old, new = texts
    assert applied(diff(old, new), old) == new


@given(st.tuples(documents(), documents()) | edited_documents())
@many
def test_a_diff_changes_no_more_lines_than_it_must(texts: tuple[str, str]) -> None:
    old, new = (lines_of(text) for text in texts)
    changed = sum(change.old_end - change.old_start + change.new_end - change.new_start for change in changes(old, new))
    assert changed == len(old) + len(new) - 2 * longest_common(tuple(old), tuple(new))


def longest_common(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    row = [0] * (len(new) + 1)
    for ours in old:
        above = row
        row = [0]
        for column, theirs in enumerate(new):
            row.append(above[column] + 1 if ours == theirs else max(above[column + 1], row[column]))
    return row[-1]


@given(documents())
@many
def test_equal_texts_have_an_empty_diff(text: str) -> None:
    assert diff(text, text) == ""


@given(documents())
@many
def test_the_lines_of_a_text_make_the_text_again(text: str) -> None:
    assert "".join(lines_of(text)) == text


def test_a_diff_shows_three_lines_around_a_change() -> None:
    old = "".join(f"{number}\n" for number in range(1, 11))
    assert diff(old, old.replace("5\n", "five\n")) == (
        "--- a/p.md\n+++ b/p.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


@pytest.mark.parametrize(("apart", "hunks"), [(6, 1), (7, 2)])
def test_changes_whose_surroundings_touch_share_a_hunk(apart: int, hunks: int) -> None:
    between = "".join(f"{number}\n" for number in range(apart))
    patch = diff(f"a\n{between}z\n", f"A\n{between}Z\n")
    assert patch.count("@@ -") == hunks


def test_a_new_text_comes_from_nowhere() -> None:
    assert unified_diff(None, "a\nb\n", old_path=None, new_path="n.md") == (
        "--- /dev/null\n+++ b/n.md\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    )


def test_a_deleted_text_goes_nowhere() -> None:
    assert unified_diff("a\n", None, old_path="o.md", new_path=None) == (
        "--- a/o.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    )


def test_a_renamed_text_is_shown_under_both_paths() -> None:
    assert unified_diff("a\n", "b\n", old_path="o.md", new_path="n.md").startswith("--- a/o.md\n+++ b/n.md\n")


def test_a_move_alone_has_an_empty_diff() -> None:
    assert unified_diff("a\n", "a\n", old_path="o.md", new_path="n.md") == ""


def test_a_missing_final_newline_is_marked() -> None:
    assert diff("a\n", "a") == f"--- a/p.md\n+++ b/p.md\n@@ -1 +1 @@\n-a\n+a\n{NO_NEWLINE}"


def test_lines_are_split_on_lf_only() -> None:
    assert lines_of("a\u2028b\x0cc\x85d\n") == ["a\u2028b\x0cc\x85d\n"]


def test_texts_beyond_the_bound_are_one_replacement_of_their_middle() -> None:
    side = int(MAX_CELLS**0.5) + 1
    old = ["first\n", *(f"{number}\n" for number in range(side)), "last\n"]
    new = ["first\n", *(f"{number}\n" for number in reversed(range(side))), "last\n"]
    [change] = changes(old, new)
    assert (change.old_start, change.old_end) == (1, side + 1)
    assert (change.new_start, change.new_end) == (1, side + 1)


def test_a_large_text_with_a_small_change_is_compared_exactly() -> None:
    lines = [f"{number}\n" for number in range(100_000)]
    [change] = changes(lines, [*lines[:50_000], "new\n", *lines[50_000:]])
    assert (change.old_start, change.old_end, change.new_start, change.new_end) == (50_000, 50_000, 50_000, 50_001)


def test_documents_of_repeated_lines_are_compared_exactly() -> None:
    old = ["a\n", "b\n"] * 4_000
    new = ["b\n", "a\n", "a\n"] * 3_000
    assert applied(diff("".join(old), "".join(new)), "".join(old)) == "".join(new)
