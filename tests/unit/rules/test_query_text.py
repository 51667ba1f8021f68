"""The query of a turn: what the user said last, whatever shape the messages have (memory.md §4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.query_text import MAX_QUERY_CHARACTERS, Said, query_text, user_texts

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["type", "text", "x"]), inner),
    max_leaves=8,
)


def the_query(*messages: Said) -> str:
    return query_text(user_texts(messages))


def user(content: object) -> Said:
    return Said("user", content)


def test_the_query_is_the_last_three_user_messages_joined_by_newlines() -> None:
    assert the_query(*(user(text) for text in ("one", "two", "three", "four"))) == "two\nthree\nfour"


def test_what_others_than_the_user_say_is_not_looked_for() -> None:
    said = [Said(role, role) for role in ("system", "developer", "assistant", "tool", "User")]
    assert the_query(user("mine"), *said) == "mine"


def test_a_message_without_text_does_not_count_as_one_of_the_three() -> None:
    empty = [user(""), user(" \n"), user([{"type": "tool_result", "content": "42"}]), user(None)]
    assert the_query(user("one"), user("two"), empty[0], empty[1], user("three"), *empty[2:]) == "one\ntwo\nthree"


def test_the_text_parts_of_a_message_are_joined_by_newlines() -> None:
    parts = [
        {"type": "text", "text": "first"},
        {"type": "image_url", "text": "not this"},
        {"type": "input_text", "text": "second", "cache_control": {"type": "ephemeral"}},
    ]
    assert the_query(user(parts)) == "first\nsecond"


@pytest.mark.parametrize(
    "content",
    [
        None,
        7,
        True,
        {},
        {"type": "text", "text": "x"},
        ["x"],
        [["x"]],
        [{"type": "text"}],
        [{"type": "text", "text": 7}],
    ],
)
def test_content_of_another_shape_has_no_text(content: object) -> None:
    assert the_query(user(content)) == ""


def test_at_most_the_newest_characters_are_looked_for() -> None:
    assert (
        the_query(user("old " + "x" * MAX_QUERY_CHARACTERS), user("new")) == "x" * (MAX_QUERY_CHARACTERS - 4) + "\nnew"
    )


def test_half_of_a_surrogate_pair_is_no_character() -> None:
    assert the_query(user("cut \ud83d")) == "cut \ufffd"


@given(st.lists(st.builds(Said, st.sampled_from(["user", "assistant"]), ANY_JSON), max_size=6))
def test_no_content_is_too_strange(messages: list[Said]) -> None:
    the_query(*messages).encode()
