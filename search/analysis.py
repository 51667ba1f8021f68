"""The one analyzer: from text to the terms that every search counts (memory.md §4, docs/reference/ranking.md).

A text is cut into compounds (what stands together: `snake_case`, `foo.bar/baz`, `don't`, a run of Han). A compound's
terms depend on nothing else, so that they are remembered.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import version
from itertools import chain, pairwise

import tantivy

from search.characters import MARK_RANGES, UNSPACED_RANGES, folded, legible

ANALYZER_VERSION = f"1/{unicodedata.unidata_version}/{version('tantivy')}"
"""Equal versions make equal terms of equal texts. The first number is ours; then Unicode's and the stemmer's."""

LONGEST_TERM = 100
"""Characters; the rest of a longer one is told by a digest."""

LONGEST_REMEMBERED = 48
REMEMBERED = 32_768
"""Compounds, and words, whose terms a process remembers: some 20 MB."""

LONGEST_STEMMED = 40
SHORTEST_STEMMED = 3

_JOINT = r"(?:://|::|//|[./\\:@+#=&~\-\u2010]|(?<=\d),(?=\d))"
_ENDING = r"(?:\+\+(?!\w)|#(?!\w))?"  # C++, C#


def _compounds_of(letter: str, flags: re.RegexFlag) -> re.Pattern[str]:
    """Words joined without a space; a word is letters, digits, marks and `_`, apostrophes and non-joiners inside."""
    word = rf"{letter}+(?:['\u200c]{letter}+)*"
    return re.compile(rf"{word}(?:{_JOINT}{word})*{_ENDING}", flags)


_COMPOUNDS = _compounds_of(rf"[\w{MARK_RANGES}]", re.UNICODE)
_ASCII_COMPOUNDS = _compounds_of(r"\w", re.ASCII)
_UNSPACED = re.compile(f"([{UNSPACED_RANGES}]+)")
_CLUSTER = re.compile(f"[^{MARK_RANGES}][{MARK_RANGES}]*")
_BETWEEN_SEGMENTS = re.compile(r"[/\\:@+#=&~]+")
_BETWEEN_WORDS = re.compile(r"[.,\-\u2010]")
_VERSION = re.compile(r"v(\d+(?:\.\w+)+)", re.IGNORECASE)
_HYPHENS = str.maketrans("-\u2010", "__")
_CONTRACTIONS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_stem: Callable[[str], list[str]] = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build().analyze
)


def document_terms(name: str, description: str, content: str) -> list[str]:
    """The terms of a memory, with repetitions: one document of its name, description and content."""
    return terms(f"{name}\n{description}\n{content}")


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query, in the order of their first appearance; none for a text without a word."""
    return list(dict.fromkeys(terms(text)))


def terms(text: str) -> list[str]:
    """The terms of a text, with repetitions, in time linear in its length.

    Deterministic; raises nothing for any string. A term holds no white space and no U+0000, and at most 100 characters.
    """
    if text.isascii():
        return list(chain.from_iterable(map(_terms_of, _ASCII_COMPOUNDS.findall(text))))
    pieces = _UNSPACED.split(legible(text))
    found: list[str] = []
    for spaced, unspaced in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        found.extend(chain.from_iterable(map(_terms_of, _COMPOUNDS.findall(spaced))))
        found.extend(_grams(unspaced))
    return found


def _terms_of(compound: str) -> tuple[str, ...]:
    return _remembered(compound) if len(compound) <= LONGEST_REMEMBERED else tuple(_compound_terms(compound))


@lru_cache(maxsize=REMEMBERED)
def _remembered(compound: str) -> tuple[str, ...]:
    return tuple(_compound_terms(compound))


def _grams(run: str) -> Iterator[str]:
    """Single characters, each with its marks, and pairs of neighbours."""
    clusters = [_bounded(cluster) for cluster in _CLUSTER.findall(run)]
    yield from clusters
    yield from (_bounded(one + other) for one, other in pairwise(clusters))


def _compound_terms(compound: str) -> Iterator[str]:
    """The whole, where it has parts; each segment of a path or an address, where it has; each word."""
    segments = [segment for segment in _BETWEEN_SEGMENTS.split(compound) if segment]
    if [compound] != segments:
        yield _bounded(folded(compound).translate(_HYPHENS))
    for segment in segments:
        words = _BETWEEN_WORDS.split(segment)
        if len(words) > 1:
            yield from _joined_terms(segment)
        for word in words:
            yield from _word_terms(word)


def _joined_terms(segment: str) -> Iterator[str]:
    yield _bounded(folded(segment).translate(_HYPHENS))
    numbered = _VERSION.fullmatch(segment)
    if numbered:
        yield _bounded(folded(numbered[1]))
    elif "," in segment:
        yield _bounded(folded(segment).replace(",", ""))


def _word_terms(word: str) -> Iterator[str]:
    """A word of snake_case whole and by part."""
    parts = [part for part in word.split("_") if part]
    if len(parts) > 1:
        yield _bounded(folded(word.strip("_")))
    for part in parts:
        yield from _part_terms(part)


def _part_terms(part: str) -> Iterator[str]:
    pieces = re.split("['\u200c]", part)
    yield from _plain_terms("".join(pieces))


def _plain_terms(plain: str) -> Iterator[str]:
    word = folded(plain)
    yield _bounded(word)
    if word.isascii() and word.isalpha() and SHORTEST_STEMMED <= len(word) <= LONGEST_STEMMED:
        yield _stem(word)[0]


def _bounded(term: str) -> str:
    if len(term) <= LONGEST_TERM:
        return term
    digest = hashlib.blake2b(term.encode(errors="surrogatepass"), digest_size=10).hexdigest()
    return term[: LONGEST_TERM - len(digest)] + digest
