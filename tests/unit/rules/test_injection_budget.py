"""How much of which contents is shown (memory.md §4)."""

from hypothesis import given
from hypothesis import strategies as st

from models.rules.injection_budget import contents_within


def shown(*contents: str, each: int = 100, total: int = 1_000) -> list[str]:
    return [content.text for content in contents_within(contents, each=each, total=total)]


def test_a_content_of_the_limit_is_shown_whole() -> None:
    (content,) = contents_within(["x" * 100], each=100, total=1_000)
    assert (content.text, content.is_cut) == ("x" * 100, False)


def test_a_longer_content_is_cut_at_the_end_of_a_line() -> None:
    line = "a line of words"
    (content,) = contents_within([f"{line}\n{line}\n{line}"], each=40, total=1_000)
    assert (content.text, content.whole) == (f"{line}\n{line}", 47)


def test_a_line_that_is_longer_than_the_limit_is_cut_at_the_end_of_a_word() -> None:
    assert shown("four four four", each=11) == ["four four"]
    assert shown("four four four", each=9) == ["four four"]


def test_a_text_without_a_space_is_cut_where_the_limit_is() -> None:
    assert shown("x" * 65_536) == ["x" * 100]
    assert shown("title\n" + "漢" * 200) == ["title\n" + "漢" * 94]


def test_the_first_content_that_would_pass_the_total_ends_the_list() -> None:
    assert shown("x" * 60, "y" * 50, "z", total=100) == ["x" * 60]


def test_the_total_counts_contents_as_they_are_shown() -> None:
    assert shown(*["x" * 3_000] * 8, each=2_000, total=12_000) == ["x" * 2_000] * 6


@given(st.lists(st.text(alphabet="ab \n\r\t漢", max_size=60), max_size=8), st.integers(1, 30), st.integers(0, 100))
def test_what_is_shown_begins_the_contents_and_keeps_to_both_limits(contents: list[str], each: int, total: int) -> None:
    parts = contents_within(contents, each=each, total=total)
    assert sum(len(part.text) for part in parts) <= total
    for part, content in zip(parts, contents, strict=False):
        assert content.startswith(part.text)
        assert len(part.text) <= each
        assert part.is_cut == (len(content) > each)
        assert part.text or not content
