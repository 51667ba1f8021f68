import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.snippets import SNIPPET_CHARACTERS, snippet
from search.analysis import query_terms

FILLER = "alpha beta gamma delta " * 30


def test_a_short_content_is_shown_whole_on_one_line() -> None:
    assert snippet("first\n\n  second\tthird", ["second"]) == "first second third"


def test_a_long_content_is_shown_around_what_is_looked_for() -> None:
    shown = snippet(f"{FILLER}the deploy key rotates monthly. {FILLER}", ["deploy", "rotates"])
    assert "the deploy key rotates monthly." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) <= SNIPPET_CHARACTERS + 4


def test_where_nothing_occurs_the_beginning_is_shown() -> None:
    assert snippet(FILLER, ["nothing"]).startswith("alpha beta")


def test_the_part_with_the_most_different_words_is_shown() -> None:
    shown = snippet(f"token token token {FILLER} token rotation schedule {FILLER}", ["token", "rotation", "schedule"])
    assert "token rotation schedule" in shown


def test_a_term_in_the_middle_of_another_word_is_not_it() -> None:
    assert "CI runs" in snippet(f"special {FILLER} CI runs {FILLER}", ["ci"])


def test_a_word_of_another_script_is_found_within_a_run() -> None:
    shown = snippet(f"{'测试文字' * 100}数据库迁移{'测试文字' * 100}", ["数据", "据库", "迁移"])
    assert "数据库迁移" in shown


def test_what_changes_its_length_in_lower_case_moves_nothing() -> None:
    assert "deploy" in snippet(f"{'İ' * 500} deploy {FILLER}", ["deploy"])


def test_controls_and_directions_are_shown_as_escapes() -> None:
    assert snippet("a\x1b[31mred\u202eb\u2066", ["red"]) == "a\\u001b[31mred\\u202eb\\u2066"


@pytest.mark.parametrize("content", ["x" * 65_536, "a " * 32_768, "\u0301" * 5_000, "deploy " * 9_000])
def test_a_hostile_content_has_a_snippet_of_one_short_line(content: str) -> None:
    shown = snippet(content, query_terms("deploy the key"))
    assert len(shown) <= SNIPPET_CHARACTERS + 4
    assert "\n" not in shown


@given(st.text(max_size=600), st.text(max_size=40))
def test_any_content_and_query_have_a_snippet_on_one_line(content: str, query: str) -> None:
    assert len(snippet(content, query_terms(query)).splitlines()) <= 1
