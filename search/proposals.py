"""Candidates from tantivy: documents whose exact scores are worth computing, and a bound on all others.

The index is in memory and holds tokens that begin with their place's prefix, so that neither postings nor counts of a
place touch those of another. What tantivy would make of a token is corrected by its boost: the token's weight in the
envelope, divided by what tantivy takes it for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import orjson
import tantivy

from search.columns import Counts, Integers
from search.corpus import Changes
from search.vocabulary import Vocabulary

NUMBER, TOKENS = "number", "tokens"
MARK = "*"
"""A token of every document: it tells how many tantivy counts, those that were removed included."""

WRITER_BYTES = 50_000_000
"""What is written between two commits in one piece; more is written in several."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The best documents by tantivy's score, by number, and how many match at all.

    None that is not among them scores higher there than `last`; it is 0 where all that match are.
    """

    numbers: Integers
    last: float
    matching: int


@dataclass(slots=True)
class Proposals:
    """Tantivy's documents as of one moment: those up to the number `last` that lived at the clock.

    `average_length` is that of tantivy, whose documents are one token longer.
    """

    schema: tantivy.Schema
    searcher: tantivy.Searcher
    last: int
    clock: int
    documents: int = 0
    average_length: float = 1.0
    _known: dict[str, tuple[float, tantivy.Query] | None] = field(default_factory=dict)

    def propose(self, weights: Sequence[tuple[str, float]], limit: int) -> Proposed | None:
        """The best `limit` documents for weighted tokens; None if tantivy's numbers are too coarse for the query."""
        query = self.query(weights)
        if query is None:
            return None
        # Counting has every match scored. Without it blocks may be skipped by their best score, which is not kept for
        # the average length of now: something above the bound could be missing. It takes no longer (measured).
        found = self.searcher.search(query, limit, count=True)
        hits = found.hits
        numbers = self.searcher.fast_field_values(NUMBER, [address for _, address in hits])
        matching = _count(found)
        last = hits[-1][0] if matching > len(hits) else 0.0
        return Proposed(np.array(numbers, np.int64), last, matching)

    def query(self, weights: Sequence[tuple[str, float]]) -> tantivy.Query | None:
        """What tantivy is asked for weighted tokens; None if its numbers are too coarse for them."""
        self._look_up([token for token, _ in weights if token not in self._known])
        clauses = []
        for token, weight in weights:
            known = self._known[token]
            if known is None:
                continue
            idf, term = known
            if idf <= 0:
                return None
            clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(term, weight / idf)))
        return tantivy.Query.boolean_query(clauses) if clauses else tantivy.Query.empty_query()

    def _look_up(self, tokens: Sequence[str]) -> None:
        """Know for each token what tantivy takes it for, computed as it does, in 32 bits; None if it has none."""
        holding = np.array([self.searcher.doc_freq(TOKENS, token) for token in tokens], np.float32)
        one, half = np.float32(1), np.float32(0.5)
        idfs = np.log(one + ((np.float32(self.documents) - holding) + half) / (holding + half))
        for token, idf, held in zip(tokens, idfs.tolist(), holding.tolist(), strict=True):
            term = tantivy.Query.term_query(self.schema, TOKENS, token, "freq") if held else None
            self._known[token] = None if term is None else (idf, term)


class Proposer:
    """Writes the index; one thread's own."""

    def __init__(self) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field(NUMBER, indexed=True, fast=True)
        builder.add_text_field(TOKENS, tokenizer_name="spaced", index_option="freq")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        spaced = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("spaced", spaced)
        self._writer = self._index.writer(heap_size=WRITER_BYTES, num_threads=1)

    def write(self, changes: Changes, vocabulary: Vocabulary) -> Proposals:
        """Take the changes in, and answer for the moment that they lead to."""
        for number in changes.removals:
            # By query: a term made of a Python integer is a signed one, which this field does not have.
            self._writer.delete_documents_by_query(tantivy.Query.term_query(self._schema, NUMBER, number))
        for addition in changes.additions:
            columns, prefix, terms = addition.view.columns, addition.prefix, vocabulary.terms
            for row in addition.rows:
                entries = slice(columns.starts[row], columns.starts[row + 1])
                document = tantivy.Document()
                document.add_unsigned(NUMBER, int(columns.numbers[row]))
                document.add_text(TOKENS, _text(prefix, terms, columns.terms[entries], columns.counts[entries]))
                self._writer.add_document(document)
        self._writer.commit()
        self._index.reload()
        proposals = Proposals(self._schema, self._index.searcher(), changes.last, changes.clock)
        marked = tantivy.Query.term_query(self._schema, TOKENS, MARK, "freq")
        if proposals.searcher.num_docs:
            address = proposals.searcher.search(marked, 1, count=False).hits[0][1]
            proposals.documents = proposals.searcher.doc_freq(TOKENS, MARK)
            proposals.average_length = _average_length(marked.explain(proposals.searcher, address))
        return proposals


def _text(prefix: str, terms: Sequence[str], numbers: npt.NDArray[np.int32], counts: Counts) -> str:
    tokens = [MARK]
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        token = prefix + terms[number]
        if count == 1:
            tokens.append(token)
        else:
            tokens.extend([token] * count)
    return " ".join(tokens)


def _count(found: tantivy.SearchResult) -> int:
    count = getattr(found, "count", None)  # not in its stub
    return count if isinstance(count, int) else len(found.hits)


def _average_length(explanation: tantivy.Explanation) -> float:
    """The average that tantivy divides lengths by, which it tells in explanations alone."""
    parts = [orjson.loads(explanation.to_json())]
    while parts:
        part = parts.pop()
        if part["description"].startswith("avgdl"):
            return float(part["value"])
        parts.extend(part.get("details", ()))
    raise LookupError("tantivy does not explain its average length")
