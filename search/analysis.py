"""The one analyzer: from text to the terms that every search counts (memory.md §4, docs/reference/ranking.md).

A text is cut at white space into chunks, whose terms depend on nothing else, so that they are remembered; a chunk into
compounds (`snake_case`, `foo.bar/baz`, `don't`) and runs without spaces (Han, Thai); a compound into words.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain, pairwise

from search.base_forms import base_form
from search.characters import MARK_RANGES, UNSPACED_RANGES, folded, legible

ANALYZER_VERSION = f"2/{unicodedata.unidata_version}/{version('tantivy')}"
"""Equal versions make equal terms of equal texts. The first number is ours; then Unicode's and the stemmer's."""

LONGEST_TERM = 100
"""Characters; the rest of a longer one is told by a digest."""

LONGEST_REMEMBERED = 48
REMEMBERED = 32_768
REMEMBERED_TERMS = 98_304
"""Chunks between white space whose terms a process remembers, and their terms: at most some 10 to 20 MB."""

_JOINT = r"(?:://|::|//|[./\\:@+#=&~\-\u2010]|(?<=\d),(?=\d))"
_ENDING = r"(?:\+\+(?!\w)|#(?!\w))?"  # C++, C#


def _compounds_of(letter: str, flags: re.RegexFlag) -> re.Pattern[str]:
    """Letters, digits, marks and `_` with one apostrophe, non-joiner or joint at a time between them."""
    return re.compile(rf"(?:{letter}++(?:(?:['\u200c]|{_JOINT})(?={letter}))?)+{_ENDING}", flags)


_COMPOUNDS = _compounds_of(rf"[\w{MARK_RANGES}]", re.UNICODE)
_ASCII_COMPOUNDS = _compounds_of(r"\w", re.ASCII)
_UNSPACED = re.compile(f"([{UNSPACED_RANGES}]+)")
_CLUSTER = re.compile(f"[^{MARK_RANGES}][{MARK_RANGES}]*")
_SINGLE = re.compile(f"[{UNSPACED_RANGES}][{MARK_RANGES}]*")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_BETWEEN_SEGMENTS = re.compile(r"[/\\:@+#=&~]+")
_BETWEEN_WORDS = re.compile(r"[.,\-\u2010]")
_WITHIN_WORDS = re.compile(r"['\u200c]")
_NUMBERED_VERSION = re.compile(r"v(\d+(?:\.\w+)+)", re.IGNORECASE)
_HYPHENS = str.maketrans("-\u2010", "__")
_LEAVING_THE_WORD = frozenset({"s", "d", "m", "ll", "re", "ve"})  # Alice's, she'll: the word before is meant

# Humps of a word's shape, where U is an upper-case letter, 1 a digit and x everything else.
_HUMPS = re.compile("U+(?!x)|U?x+|1+")
_HUMPS_WITH_DIGITS = re.compile("U[U1]*(?!x)|U?[x1]+|1+")


def document_terms(name: str, description: str, content: str) -> list[str]:
    """The terms of a memory, with repetitions: one document of its name, description and content."""
    return terms(f"{name}\n{description}\n{content}")


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query, in the order of their first appearance; none for a text without a word."""
    return list(dict.fromkeys(terms(text)))


def is_single_character(term: str) -> bool:
    """Whether the term is one character out of a run without spaces, with its marks."""
    return not term.isascii() and _SINGLE.fullmatch(term) is not None


def terms(text: str) -> list[str]:
    """The terms of a text, with repetitions, in time linear in its length.

    Deterministic; raises nothing for any string. A term holds no white space and no U+0000, and at most 100 characters.
    """
    return list(chain.from_iterable(map(_terms_of.__getitem__, text.split())))


class _Remembered(dict[str, tuple[str, ...]]):
    """The terms of what stands between white space, made when they are first asked for; begins anew when it is full."""

    def __init__(self) -> None:
        super().__init__()
        self._terms = 0

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        made = tuple(_chunk_terms(chunk))
        if len(chunk) <= LONGEST_REMEMBERED:
            if len(self) >= REMEMBERED or self._terms >= REMEMBERED_TERMS:
                self.clear()
                self._terms = 0
            self[chunk] = made
            self._terms += len(made)  # two threads may lose a count: it is a bound to the memory, not to the byte
        return made


_terms_of = _Remembered()


def _chunk_terms(chunk: str) -> Iterator[str]:
    """Nothing outside of the chunk changes its terms: normalizing joins nothing over white space."""
    for compound, run in _pieces(chunk):
        # What is minified has few spaces, and the same words again and again.
        worth_remembering = len(compound) <= LONGEST_REMEMBERED < len(chunk)
        yield from _terms_of[compound] if worth_remembering else _compound_terms(compound)
        yield from _grams(run)


def _pieces(chunk: str) -> Iterator[tuple[str, str]]:
    """The chunk's compounds and runs without spaces, in their order; one of the two is empty."""
    if chunk.isascii():
        yield from ((compound, "") for compound in _ASCII_COMPOUNDS.findall(chunk))
        return
    pieces = _UNSPACED.split(legible(chunk))
    for spaced, run in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        yield from ((compound, "") for compound in _COMPOUNDS.findall(spaced))
        yield ("", run)


def _grams(run: str) -> Iterator[str]:
    """Single characters, each with its marks, and pairs of neighbours."""
    clusters = [_bounded(cluster) for cluster in _CLUSTER.findall(run)]
    yield from clusters
    yield from (_bounded(one + other) for one, other in pairwise(clusters))


def _compound_terms(compound: str) -> Iterator[str]:
    """The whole, where it has parts; each segment of a path or an address, where it has; each word."""
    segments = [segment for segment in _BETWEEN_SEGMENTS.split(compound) if _LETTER_OR_DIGIT.search(segment)]
    if segments and segments != [compound]:
        yield _whole(compound)
    for segment in segments:
        words = _BETWEEN_WORDS.split(segment)
        if len(words) > 1:
            yield from _segment_terms(segment)
        for word in words:
            yield from _word_terms(word)


def _segment_terms(segment: str) -> Iterator[str]:
    """`foo.bar` whole; also `v1.2` without its letter and `1,000` without its comma."""
    yield _whole(segment)
    numbered = _NUMBERED_VERSION.fullmatch(segment)
    if numbered:
        yield _whole(numbered[1])
    elif "," in segment:
        yield _whole(segment.replace(",", ""))


def _word_terms(word: str) -> Iterator[str]:
    """A word of snake_case whole and by part."""
    parts = [part for part in word.split("_") if _LETTER_OR_DIGIT.search(part)]
    if len(parts) > 1:
        yield _whole(word)
    for part in parts:
        yield from _part_terms(part) if _WITHIN_WORDS.search(part) else _hump_terms(part)


def _part_terms(part: str) -> Iterator[str]:
    """A word with apostrophes (`don't`, `O'Brien`) or non-joiners: joined and by piece."""
    pieces = _WITHIN_WORDS.split(part)
    if "'" in part and folded(pieces[-1]) in _LEAVING_THE_WORD:
        pieces.pop()
    if len(pieces) > 1:
        yield from _plain_terms("".join(pieces))
    if folded(pieces[-1]) != "t":
        for piece in pieces:
            yield from _hump_terms(piece)


def _hump_terms(part: str) -> Iterator[str]:
    """A word of camelCase, or one that ends in a number, whole and by part."""
    yield from _plain_terms(part)
    if part.isalpha() and (part.islower() or part.isupper() or part.istitle()):
        return
    shape = "".join("U" if letter.isupper() else "1" if letter.isdecimal() else "x" for letter in part)
    # Digits in several places are a hash or a number, not words with numbers.
    humps = list((_HUMPS if len(re.findall("1+", shape)) == 1 else _HUMPS_WITH_DIGITS).finditer(shape))
    if len(humps) > 1:
        for hump in humps:
            piece = part[hump.start() : hump.end()]
            if len(piece) > 1 or piece.isdecimal():
                yield from _plain_terms(piece)


def _plain_terms(plain: str) -> Iterator[str]:
    """The form that stands there and its base form: two terms of every word, so that all count alike."""
    if _LETTER_OR_DIGIT.search(plain):
        word = folded(plain)
        yield _bounded(word)
        yield _bounded(base_form(word))


def _whole(identifier: str) -> str:
    return _bounded(folded(identifier).translate(_HYPHENS).strip("_"))


def _bounded(term: str) -> str:
    if len(term) <= LONGEST_TERM:
        return term
    digest = hashlib.blake2b(term.encode(), digest_size=10).hexdigest()
    return term[: LONGEST_TERM - len(digest)] + digest
