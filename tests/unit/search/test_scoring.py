from collections import Counter

import pytest

from search.analysis import query_terms, terms
from search.scoring import inverse_document_frequency, score_exhaustively, term_weight


def ranked(texts: dict[str, str], query: str) -> list[tuple[str, float]]:
    documents = [(name, Counter(terms(text)), len(terms(text))) for name, text in texts.items()]
    return score_exhaustively(documents, query_terms(query))


def found(texts: dict[str, str], query: str) -> list[str]:
    return [name for name, _ in ranked(texts, query)]


def test_the_score_is_bm25_over_the_terms_of_the_documents_given() -> None:
    documents = [("a", {"x": 1, "y": 3}, 4), ("b", {"y": 2}, 2), ("c", {"z": 6}, 6)]
    # Three documents of four terms on average: ln(1 + 2.5/1.5) for x, ln(1 + 1.5/2.5) for y; k1 1.2, b 0.75.
    scores = dict(score_exhaustively(documents, ["x", "y", "w"]))
    assert list(scores) == ["a", "b"]
    assert scores["a"] == pytest.approx(0.980829 * 2.2 / 2.2 + 0.470004 * 3 * 2.2 / 4.2, rel=1e-5)
    assert scores["b"] == pytest.approx(0.470004 * 2 * 2.2 / (2 + 1.2 * 0.625), rel=1e-5)


def test_a_term_that_every_document_holds_still_weighs_something() -> None:
    assert inverse_document_frequency(5, 5) > 0


def test_equal_scores_are_ordered_by_id() -> None:
    assert found({"c": "deploy", "a": "deploy", "b": "deploy"}, "deploy") == ["a", "b", "c"]


def test_a_document_without_a_term_of_the_query_is_not_found() -> None:
    assert found({"a": "deploy", "b": "release"}, "deploy") == ["a"]


@pytest.mark.parametrize("texts", [{}, {"a": "", "b": "???"}])
def test_nothing_is_found_among_documents_without_terms(texts: dict[str, str]) -> None:
    assert found(texts, "deploy") == []


def test_a_query_without_terms_finds_nothing() -> None:
    assert found({"a": "deploy"}, "???") == []


@pytest.mark.parametrize("query", ["deploy", "deploys", "deployed", "deploying", "deployment"])
def test_the_exact_form_ranks_first(query: str) -> None:
    forms = ("deploy", "deploys", "deployed", "deploying", "deployment")
    assert found({form: f"we {form} here" for form in forms}, query)[0] == query


@pytest.mark.parametrize("query", ["C", "C++", "C#", "foo.bar", "foo bar", "userName"])
def test_an_identifier_written_the_same_way_ranks_first(query: str) -> None:
    texts = {text: f"in {text} we trust" for text in ("C", "C++", "C#", "foo.bar", "foo bar", "user_name", "userName")}
    assert found(texts, query)[0] == query


def test_a_pair_of_characters_outranks_the_same_characters_apart() -> None:
    assert found({"apart": "库数据", "together": "据数库"}, "数库") == ["together", "apart"]


def test_a_single_character_weighs_half() -> None:
    assert term_weight("猫", 10, 2) == inverse_document_frequency(10, 2) / 2
    assert term_weight("ก็", 10, 2) == inverse_document_frequency(10, 2) / 2
    assert term_weight("猫犬", 10, 2) == inverse_document_frequency(10, 2)
    assert term_weight("a", 10, 2) == inverse_document_frequency(10, 2)
