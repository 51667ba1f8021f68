"""The fields of a structured memory (memory.md §1)."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.structured_fields import (
    broken_content_rule,
    broken_description_rule,
    broken_name_rule,
    normalize_description,
    normalize_name,
)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("My-Key Name", "my_key_name"),
        ("a--b", "a__b"),
        ("  padded  ", "padded"),
        ("E\u0301TUDE", "\u00e9tude"),
        ("\u00c9tude", "\u00e9tude"),
        ("\u1e9e", "\u00df"),
        ("\u6771\u4eac 1", "\u6771\u4eac_1"),
        ("no\u2010break", "no\u2010break"),  # a hyphen, but not the hyphen-minus
        ("\u00a0kept\u00a0", "\u00a0kept\u00a0"),  # only U+0020 is trimmed
        ("-", "_"),
        ("v1.2.3", "v1.2.3"),
        ("...", "..."),
    ],
)
def test_a_name_is_normalized(raw: str, name: str) -> None:
    assert normalize_name(raw) == name
    assert broken_name_rule(name) is None


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ("", "blank"),
        ("   ", "blank"),
        ("x" * 257, "too_long"),
        ("x" * 3_000, "too_long"),
        ("a/b", "reserved_character"),
        ("a?b", "reserved_character"),
        ("a#b", "reserved_character"),
        (".", "dots"),
        ("..", "dots"),
        (" .. ", "dots"),
        ("a\tb", "control_character"),
        ("a\nb", "control_character"),
        ("\n", "control_character"),
        ("..\n", "control_character"),
        ("a\0", "control_character"),
        ("a\x7f", "control_character"),
        ("a\x85", "control_character"),
        ("a\u2028b", "line_break"),
        ("a\u2029b", "line_break"),
        ("a\ud800", "lone_surrogate"),
        *((f"a{character}b", "bidirectional_control") for character in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
    ],
)
def test_a_name_is_refused(raw: str, rule: str) -> None:
    assert broken_name_rule(normalize_name(raw)) == rule


def test_a_name_has_256_characters_of_any_script_after_normalization() -> None:
    for character in ("x", "\u6771", "\U0001f600"):
        assert broken_name_rule(normalize_name(character * 256)) is None
    composed = normalize_name("\u03b1\u0313\u0300\u0345" * 256)
    assert len(composed) == 256
    assert broken_name_rule(composed) is None
    assert broken_name_rule(normalize_name("e\u0301" * 257)) == "too_long"


def test_a_hostile_name_is_refused_at_once() -> None:
    began = time.process_time()
    assert broken_name_rule(normalize_name("a" + "\u0316\u0301" * 500_000)) == "too_long"
    assert time.process_time() - began < 0.5


@given(st.text())
def test_normalizing_a_name_again_changes_nothing(raw: str) -> None:
    name = normalize_name(raw)
    if broken_name_rule(name) is None:
        assert normalize_name(name) == name == unicodedata.normalize("NFC", name)


@given(st.text())
def test_names_of_one_text_in_any_normal_form_are_one_name(raw: str) -> None:
    assert len({normalize_name(unicodedata.normalize(form, raw)) for form in ("NFC", "NFD")}) == 1


@pytest.mark.parametrize(
    ("raw", "description"),
    [
        ("  one\t\ttwo \n three ", "one two three"),
        ("a\u00a0\u2003\u3000b\u2028c\u2029d\x85e", "a b c d e"),
        ("E\u0301", "E\u0301"),
        ("-- Keep: a-b? <x>", "-- Keep: a-b? <x>"),
    ],
)
def test_a_description_is_one_line(raw: str, description: str) -> None:
    assert normalize_description(raw) == description
    assert broken_description_rule(description) is None


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ("", "blank"),
        (" \n\u3000", "blank"),
        ("x" * 513, "too_long"),
        ("a\0", "control_character"),
        ("a\x1f", "control_character"),  # white space to Python, a control to Unicode
        ("a\x1b[31m", "control_character"),
        ("a\udfff", "lone_surrogate"),
    ],
)
def test_a_description_is_refused(raw: str, rule: str) -> None:
    assert broken_description_rule(normalize_description(raw)) == rule


def test_a_description_has_512_code_points_after_normalization() -> None:
    assert broken_description_rule(normalize_description("\U0001f600" * 512 + "   ")) is None


@pytest.mark.parametrize("content", [" padded \n", "\x1b[31m", "\u202e", "x" * 65_536, "a\x01", "\U0001f600" * 65_536])
def test_a_content_may_hold_nearly_anything(content: str) -> None:
    assert broken_content_rule(content) is None


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ("", "blank"),
        (" \n\t\u3000", "blank"),
        ("a\0b", "nul"),
        ("a\ud800", "lone_surrogate"),
        ("x" * 65_537, "too_long"),
    ],
)
def test_a_content_is_refused(content: str, rule: str) -> None:
    assert broken_content_rule(content) == rule


def test_a_contents_limit_may_be_lower() -> None:
    assert broken_content_rule("xxx", limit=2) == "too_long"
