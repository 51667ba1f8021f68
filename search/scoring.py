"""The definition of the score: BM25 over the documents of one envelope and no others (memory.md §4).

Everything that ranks gives what this gives; docs/reference/ranking.md has the formula in words.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TypeVar

from search.analysis import is_single_character

K1 = 1.2
B = 0.75

SINGLE_CHARACTER_SHARE = 0.5
"""A character of Han, Thai and the like tells half of what a pair of them or a word does."""

DocumentId = TypeVar("DocumentId", bound=str)


def term_weight(term: str, documents: int, holding: int) -> float:
    """What a query's term weighs: its inverse document frequency, and half of that for a character of a run.

    Args:
        term: as the analyzer made it.
        documents: how many there are in the envelope.
        holding: how many of them hold the term.
    """
    share = SINGLE_CHARACTER_SHARE if is_single_character(term) else 1.0
    return share * inverse_document_frequency(documents, holding)


def inverse_document_frequency(documents: int, holding: int) -> float:
    """How rare a term is that `holding` of `documents` hold: always above zero."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def term_score(weight: float, frequency: int, length: int, average_length: float) -> float:
    """What a term adds to the score of a document of `length` terms that holds it `frequency` times."""
    return weight * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average_length))


def score_exhaustively(
    documents: Iterable[tuple[DocumentId, Mapping[str, int], int]], query_terms: Sequence[str]
) -> list[tuple[DocumentId, float]]:
    """Each document that holds a term of the query, with its score, the highest first and then by id.

    A document is its id, how often it holds each term, and its length in terms. The query's terms are distinct; their
    shares are added in their order.
    """
    envelope = list(documents)
    total_length = sum(length for _, _, length in envelope)
    if not total_length:
        return []
    average_length = total_length / len(envelope)
    weights = {
        term: term_weight(term, len(envelope), sum(term in frequencies for _, frequencies, _ in envelope))
        for term in query_terms
    }
    scores = (
        (
            document,
            # Not `sum`, which from Python 3.12 on rounds otherwise than adding one after the other.
            reduce(
                add,
                (
                    term_score(weights[term], frequencies[term], length, average_length)
                    for term in query_terms
                    if term in frequencies
                ),
                0.0,
            ),
        )
        for document, frequencies, length in envelope
    )
    return sorted((found for found in scores if found[1] > 0), key=lambda found: (-found[1], found[0]))
