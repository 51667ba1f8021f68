import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import OperationInvalid
from models.rules.bodies import MAX_BODY_BYTES, MAX_DESCRIPTION_CHARACTERS, accept_body, accept_description
from tests.unit.rules.examples import many

LINES = st.text("ab \t\r\n\ufeff\x0b\x0c\u2028\u0301")


def body_refused(raw: str) -> str | None:
    try:
        accept_body(raw)
    except OperationInvalid as problem:
        return str(problem.context["rule"])
    return None


def description_refused(raw: str) -> str | None:
    try:
        accept_description(raw)
    except OperationInvalid as problem:
        return str(problem.context["rule"])
    return None


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        ("a", "a\n"),
        ("a\n", "a\n"),
        ("a\n\n\n", "a\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\r", "a\nb\n"),
        ("a\r\r\nb", "a\n\nb\n"),
        ("\ufeffa", "a\n"),
        ("\ufeff\ufeffa", "a\n"),
        ("\n\na", "\n\na\n"),
        ("a\n \n", "a\n \n"),
        ("  a  ", "  a  \n"),
    ],
)
def test_a_body_gets_lf_line_ends_no_bom_and_one_final_newline(raw: str, body: str) -> None:
    assert accept_body(raw) == body


@pytest.mark.parametrize(
    "raw", ["e\u0301\n", "\u00e9\n", "a\u2028b\n", "a\x0cb\n", "a\ufeffb\n", "a\x85b\n", "\ufb01\n"]
)
def test_nothing_else_in_a_body_is_changed(raw: str) -> None:
    assert accept_body(raw) == raw


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ("", "blank"),
        ("\n", "blank"),
        (" \t\r\n\u3000", "blank"),
        ("\ufeff", "blank"),
        ("a\0", "nul"),
        ("a\ud800", "lone_surrogate"),
        ("\udc00a", "lone_surrogate"),
    ],
)
def test_a_body_that_says_nothing_or_cannot_be_stored_is_refused(raw: str, rule: str) -> None:
    assert body_refused(raw) == rule


def test_a_body_may_have_262144_bytes_after_normalization() -> None:
    assert len(accept_body("a" * (MAX_BODY_BYTES - 1))) == MAX_BODY_BYTES
    assert body_refused("a" * MAX_BODY_BYTES) == "too_long"
    assert body_refused("\r\n" * (MAX_BODY_BYTES // 2) + "a") is None
    assert body_refused("a" + "\n" * MAX_BODY_BYTES) is None


def test_the_length_of_a_body_is_counted_in_bytes() -> None:
    assert body_refused("é" * (MAX_BODY_BYTES // 2 - 1)) is None
    assert body_refused("é" * (MAX_BODY_BYTES // 2)) == "too_long"


@given(LINES | st.text())
@many
def test_normalizing_a_body_twice_changes_nothing_more(raw: str) -> None:
    if body_refused(raw) is None:
        assert accept_body(accept_body(raw)) == accept_body(raw)


@given(LINES)
@many
def test_a_normalized_body_has_no_carriage_return_no_bom_and_one_final_newline(raw: str) -> None:
    if body_refused(raw) is None:
        body = accept_body(raw)
        assert "\r" not in body
        assert not body.startswith("\ufeff")
        assert body.endswith("\n")
        assert not body.endswith("\n\n")


@pytest.mark.parametrize(
    ("raw", "description"),
    [("", ""), ("   ", ""), (" a b ", "a b"), ("\ta\n", "a"), ("e\u0301", "e\u0301"), ("a\tb", "a\tb")],
)
def test_a_description_is_trimmed_and_may_be_empty(raw: str, description: str) -> None:
    assert accept_description(raw) == description


@pytest.mark.parametrize(
    "line_break", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_a_description_is_one_line(line_break: str) -> None:
    assert description_refused(f"a{line_break}b") == "line_break"


@pytest.mark.parametrize(("raw", "rule"), [("a\0b", "nul"), ("a\udc80", "lone_surrogate")])
def test_a_description_that_cannot_be_stored_is_refused(raw: str, rule: str) -> None:
    assert description_refused(raw) == rule


def test_a_description_may_have_1024_characters_after_trimming() -> None:
    assert len(accept_description(f"  {'é' * MAX_DESCRIPTION_CHARACTERS}  ")) == MAX_DESCRIPTION_CHARACTERS
    assert description_refused("é" * (MAX_DESCRIPTION_CHARACTERS + 1)) == "too_long"


@given(st.text())
@many
def test_trimming_a_description_twice_changes_nothing_more(raw: str) -> None:
    if description_refused(raw) is None:
        assert accept_description(accept_description(raw)) == accept_description(raw)


def test_a_refusal_names_the_field() -> None:
    with pytest.raises(OperationInvalid) as body:
        accept_body("")
    with pytest.raises(OperationInvalid) as description:
        accept_description("a\nb")
    assert body.value.context == {"field": "content.content", "rule": "blank"}
    assert description.value.context == {"field": "content.description", "rule": "line_break"}
