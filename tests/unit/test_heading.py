import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonry.documents.heading import first_heading
from models.rules.bodies import accept_description
from tests.growth import require_linear


@pytest.mark.parametrize(
    ("markdown", "heading"),
    [
        ("# Title\n", "Title"),
        ("intro\n\n### Third\n# First\n", "Third"),
        ("   ##  *Marked* `up`  ##  \n", "*Marked* `up`"),
        ("# C#\n", "C#"),
        ("# C #\n", "C"),
        ("#\tTab\n", "Tab"),
        ("Title\n=====\n", "Title"),
        ("Title\n-\n", "Title"),
        ("Two\nlines\n---\n", "Two lines"),
        ("| a |\n\nTitle\n===\n", "Title"),
        ("#\n## \n# ##\n# Later\n", "Later"),
        ("```\n# code\n```\n# Title\n", "Title"),
        ("~~~~ sh\n# code\n~~~\n```\n~~~~\n# Title\n", "Title"),
        ("``` a`b\n# Title\n", "Title"),
        ("```sh\ncode\n``` no end\n# code\n", None),
        ("<!--\n# comment\n-->\n# Title\n", "Title"),
        ("    # indented\n# Title\n", "Title"),
        ("#Hashtag\n####### seven\n", None),
        ("> quoted\n---\n- item\n---\n1. one\n===\n***\n---\n", None),
        ("text\n\n---\n", None),
        ("\\# escaped\n", None),
        ("# 記憶\n", "記憶"),
        ("# one\u2028line\n", "one line"),
        ("# " + "x" * 2000 + "\n", "x" * 1024),
        ("\n", None),
    ],
)
def test_the_first_heading_is_the_one_a_reader_sees(markdown: str, heading: str | None) -> None:
    assert first_heading(markdown) == heading


pieces = st.sampled_from(
    ["# ", "#", "---", "===", "```", "~~~", "<!--", "-->", "\n", " ", "\t", "- ", "> ", "\u2028", "\0"]
)


@given(markdown=st.lists(pieces | st.text(max_size=4)).map("".join))
def test_a_heading_can_always_be_a_description(markdown: str) -> None:
    heading = first_heading(markdown)
    if heading is not None and "\0" not in heading:
        assert accept_description(heading) == heading != ""


@pytest.mark.parametrize(
    ("begin", "repeated", "end"),
    [("# ", "  ", "#x"), ("# ", " #", ""), ("", "a\n", ""), ("", "- ", "x"), ("", "``", ""), ("", "<<", "")],
    ids=["spaces", "closings", "paragraph", "breaks", "ticks", "markup"],
)
def test_a_hostile_text_is_read_in_time_that_grows_with_its_length(begin: str, repeated: str, end: str) -> None:
    require_linear(first_heading, begin + repeated * 125_000 + end, begin + repeated * 62_500 + end)
