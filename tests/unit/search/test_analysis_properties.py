"""What holds of the terms of any text, and what hostile ones cost."""

import unicodedata
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search import analysis
from search.analysis import LONGEST_TERM, query_terms, terms
from search.characters import folded, legible
from tests.growth import require_linear
from tests.unit.rules.examples import a_few

HOSTILE = 65_536
"""As many characters as a content may have."""

MARKED = "a\u0435и\u03b1kक日ก한ß0 '._-/\u0301\u0306\u0308\u0327\u0e33\u0e48\u0940\u093c\u3099\uff9e\u200c\u200d\u00ad"
texts = st.text(st.characters()) | st.text(st.sampled_from(MARKED))


@a_few
@given(texts)
@example("a/_-_ a'\u0301 A1\u0301\u0301")
def test_terms_are_short_and_hold_a_letter_or_digit_and_no_white_space(text: str) -> None:
    for term in terms(text):
        assert 1 <= len(term) <= LONGEST_TERM
        assert not any(character.isspace() or character == "\x00" for character in term)
        term.encode()


@a_few
@given(texts)
def test_composed_and_decomposed_texts_have_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@a_few
@given(texts)
def test_what_is_legible_and_folded_stays_as_it_is(text: str) -> None:
    once = folded(legible(text))
    assert folded(legible(once)) == once


@a_few
@given(st.lists(texts, max_size=4), st.data())
def test_a_documents_own_words_have_terms_of_it(pieces: list[str], data: st.DataObject) -> None:
    text = " ".join(pieces)
    words = text.split()
    if words:
        assert set(query_terms(data.draw(st.sampled_from(words)))) <= set(terms(text))


def repeated(piece: str) -> str:
    return piece * (HOSTILE // len(piece))


def marks() -> str:
    every = [chr(point) for point in range(0x300, 0x1F000) if unicodedata.category(chr(point)).startswith("M")]
    return "a" + "".join(Random(0).choices(every, k=HOSTILE))  # noqa: S311  (any will do)


# One word, one compound, one run, and marks in an order that costs Unicode's own sorting the square of their number.
HOSTILE_PIECES = ("aA", "a.", "漢", "\ufdfa", "\u0301\u0316", "\uff9e\u0316")


@pytest.mark.parametrize(
    "hostile", [*map(repeated, HOSTILE_PIECES), marks()], ids=[*map(ascii, HOSTILE_PIECES), "marks"]
)
def test_hostile_text_takes_time_in_proportion_to_its_length(hostile: str) -> None:
    require_linear(terms, hostile, hostile[: HOSTILE // 2])


def test_no_character_becomes_more_than_six() -> None:
    assert max(len(legible(chr(point))) for point in range(0x110000)) <= 6


def test_what_stands_for_a_phrase_is_found_by_itself_whatever_it_touches() -> None:
    assert query_terms("\ufdfa") == ["\ufdfa"]
    assert {"\ufdfa", "محمد"} <= set(terms("محمد\ufdfa"))


def test_what_is_remembered_is_bounded_by_its_terms() -> None:
    random = Random(0)  # noqa: S311  (any will do)
    terms(" ".join("".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(48)) for _ in range(2_000)))
    assert sum(map(len, analysis._terms_of.values())) < analysis.REMEMBERED_TERMS + 100
