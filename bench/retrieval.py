"""How often a question finds its paragraph: our analyzer and score, against `rank_bm25` and against plain tantivy.

The score is computed here by a second implementation, which is compared with `search.scoring`. The questions are the
excerpt in tests/data/retrieval, or all of XQuAD where a folder with its files is named.
"""

import argparse
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import tantivy
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from bench.measuring import MILLISECONDS, markdown
from search.analysis import query_terms, terms
from search.scoring import score_exhaustively
from tests.retrieval import Questions, excerpt, xquad

AMONG = 5
COMPARED = 40
"""Questions a language on which both implementations are compared."""

AGREEING = 1e-9
KIB = 1024
AT_LEAST = {"en": 0.985, "de": 0.95, "ru": 0.92, "ar": 0.93, "zh": 0.99, "th": 0.97}

Search = Callable[[str], list[int]]
"""The numbers of the paragraphs that a question finds, the best first, and at least five if there are."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--xquad", type=Path, help="a folder with xquad.en.json and the like, instead of the excerpt")
    parser.add_argument("--quick", action="store_true", help="one language: a smoke run")
    arguments = parser.parse_args()
    sets = excerpt() if arguments.xquad is None else xquad(arguments.xquad)
    sets = sets[:1] if arguments.quick else sets
    print(markdown([COSTS, *(cost_row(questions) for questions in sets)]), end="\n\n", flush=True)
    print(markdown([RECALLS, *(recall_row(questions) for questions in sets)]), end="\n\n", flush=True)


RECALLS = ("questions", "", "ours, first", "ours, of 5", "rank_bm25, of 5", "plain tantivy, of 5", "target", "")


def recall_row(questions: Questions) -> tuple[str, ...]:
    """The share of questions whose paragraph comes first, and is among five."""
    index = Index(questions.paragraphs)
    require_agreement(questions, index)
    ours = ranks(questions, index.search)
    target = AT_LEAST[questions.language]
    return (
        questions.language,
        f"{len(questions.asked):,}",
        f"{recall(ours, 1):.3f}",
        f"{recall(ours, AMONG):.4f}",
        f"{recall(ranks(questions, rank_bm25_search(questions.paragraphs)), AMONG):.3f}",
        f"{recall(ranks(questions, tantivy_search(questions.paragraphs)), AMONG):.3f}",
        f"at least {target}",
        "PASS" if recall(ours, AMONG) >= target else "below",
    )


def ranks(questions: Questions, search: Search) -> list[int]:
    """Where each question's paragraph comes, from 0; after all where it is not found."""
    found = ((search(question), paragraph) for question, paragraph in questions.asked)
    return [numbers.index(paragraph) if paragraph in numbers else len(numbers) + AMONG for numbers, paragraph in found]


def recall(found: Sequence[int], among: int) -> float:
    return sum(rank < among for rank in found) / len(found)


class Index:
    """The definition of the score, once more: postings, and the formula as docs/reference/ranking.md prints it."""

    def __init__(self, paragraphs: Sequence[str]) -> None:
        self.postings: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self.lengths: list[int] = []
        for number, paragraph in enumerate(paragraphs):
            counted = Counter(terms(paragraph))
            self.lengths.append(counted.total())
            for term, times in counted.items():
                self.postings[term][number] = times
        self.average = Fraction(sum(self.lengths), len(self.lengths))

    def scores(self, question: str) -> dict[int, float]:
        """The score of each document that holds a term."""
        shares: defaultdict[int, list[float]] = defaultdict(list)
        for term in set(query_terms(question)) & self.postings.keys():
            holding = self.postings[term]
            rarity = math.log(1 + (len(self.lengths) - len(holding) + 0.5) / (len(holding) + 0.5))
            weight = rarity / 2 if is_one_character_of_a_run(term) else rarity
            for number, times in holding.items():
                norm = 1.2 * (1 - 0.75 + 0.75 * self.lengths[number] / float(self.average))
                shares[number].append(weight * times * 2.2 / (times + norm))
        return {number: math.fsum(parts) for number, parts in shares.items()}

    def search(self, question: str) -> list[int]:
        """All that it finds."""
        scores = self.scores(question)
        return sorted(scores, key=lambda number: (-scores[number], number))


def is_one_character_of_a_run(term: str) -> bool:
    """Of a script without spaces: analyzed beside itself, it makes a pair."""
    return len(terms(term)) == 1 and len(terms(term + term)) == 3  # noqa: PLR2004  (twice itself, and the pair)


def require_agreement(questions: Questions, index: Index) -> None:
    """Both implementations give the same documents the same scores."""
    counted = [Counter(terms(paragraph)) for paragraph in questions.paragraphs]
    documents = [(f"{number:05}", counts, counts.total()) for number, counts in enumerate(counted)]
    for question, _ in questions.asked[:: max(1, len(questions.asked) // COMPARED)]:
        expected = {int(name): score for name, score in score_exhaustively(documents, query_terms(question))}
        scores = index.scores(question)
        assert scores.keys() == expected.keys(), question
        assert all(math.isclose(scores[number], expected[number], rel_tol=AGREEING) for number in scores), question


def rank_bm25_search(paragraphs: Sequence[str]) -> Search:
    """The package as its documentation shows it: lower-cased words between spaces."""
    index = BM25Okapi([paragraph.lower().split() for paragraph in paragraphs])

    def search(question: str) -> list[int]:
        scores = index.get_scores(question.lower().split())
        return sorted(range(len(paragraphs)), key=lambda number: (-scores[number], number))[:AMONG]

    return search


def tantivy_search(paragraphs: Sequence[str]) -> Search:
    """Tantivy with its default analyzer."""
    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("body", tokenizer_name="default")
        .add_unsigned_field("number", stored=True)
        .build()
    )
    index = tantivy.Index(schema)
    writer = index.writer(num_threads=1)
    for number, paragraph in enumerate(paragraphs):
        document = tantivy.Document()
        document.add_text("body", paragraph)
        document.add_unsigned("number", number)
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher = index.searcher()
    default = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(40))
        .filter(tantivy.Filter.lowercase())
        .build()
    )

    def search(question: str) -> list[int]:
        words = dict.fromkeys(default.analyze(question))
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", word)) for word in words]
        )
        return [searcher.doc(address)["number"][0] for _, address in searcher.search(query, AMONG).hits]

    return search


COSTS = ("analyzing", "KiB", "first time, ms/KiB", "again, ms/KiB")


def cost_row(questions: Questions) -> tuple[str, ...]:
    """The processor's time for the paragraphs, with nothing remembered of this language and with everything."""
    size = sum(len(paragraph.encode()) for paragraph in questions.paragraphs) / KIB
    first, again = analyzing_ms(questions.paragraphs), min(analyzing_ms(questions.paragraphs) for _ in range(5))
    return questions.language, f"{size:,.0f}", f"{first / size:.3f}", f"{again / size:.3f}"


def analyzing_ms(paragraphs: Sequence[str]) -> float:
    begin = time.process_time()
    for paragraph in paragraphs:
        terms(paragraph)
    return (time.process_time() - begin) * MILLISECONDS


if __name__ == "__main__":
    main()
