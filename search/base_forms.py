"""The form under which a word's inflections meet: its stem, by the rules of the language that its script suggests."""

import re
from collections.abc import Callable

import tantivy

LONGEST_STEMMED = 40
"""Characters; nothing that is longer is inflected."""


def base_form(word: str) -> str:
    """The stem of a folded word of English, Russian or Arabic, or the word itself. Hebrew loses its vowel points.

    Latin letters are taken for English, Cyrillic for Russian, Arabic for Arabic; words of other languages in these
    scripts get a stem that does no harm, beside the form that stands there.
    """
    if len(word) <= LONGEST_STEMMED:
        for script, stemmed in _STEMMERS:
            if script.fullmatch(word):
                return stemmed(word) or word
    return word


def _stemmer(language: str) -> Callable[[str], str]:
    analyze = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer(language)).build().analyze
    )
    return lambda word: analyze(word)[0]


def _without_points(word: str) -> str:
    return re.sub("[\u0591-\u05bd\u05bf-\u05c7]", "", word)


# Shorter words are left alone: at three letters a Russian stem is hardly more than the letter that й or и follows.
_STEMMERS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile("[a-z]{3,}"), _stemmer("english")),
    (re.compile("[\u0430-\u045f]{4,}"), _stemmer("russian")),
    (re.compile("[\u0610-\u06ff]{3,}"), _stemmer("arabic")),
    (re.compile("[\u0591-\u05f2]+"), _without_points),
)
