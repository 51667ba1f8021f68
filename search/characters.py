"""Which characters make words, and how writing is folded so that what reads alike is found alike.

Fixed by the version of Unicode that Python carries, which is part of `ANALYZER_VERSION`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby

LAST_WITH_MARKS = 0x1F000
"""No combining mark is above this but the variation selectors, which are dropped."""

LONGEST_ORDINARY_MARKS = 30
"""Marks in a row, as the Stream-Safe Text Format allows; longer rows are sorted before Unicode's own, slower way."""

# Ligatures of phrases, 18 and 8 characters in compatibility form. Taken apart they would cost a multiple of what was
# sent; they stay as they are, each a word of its own.
_PHRASES = "\ufdfa\ufdfb"

# Han, Kana, Hangul, and the scripts of South East Asia that are written without spaces between words. Digits are apart:
# they are words everywhere.
UNSPACED_RANGES = (
    f"{_PHRASES}"  # ligatures of Arabic phrases
    "\u0e01-\u0e3e\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0eff"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\uaa60-\uaa76\uaa7a-\uaa7f"  # Myanmar
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c"  # iteration marks, numerals
    "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Kana
    "\u3105-\u318f\u31a0-\u31bf"  # Bopomofo, Hangul for compatibility
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
)

# Invisible by definition (Default_Ignorable_Code_Point), but for the non-joiner, which parts Persian words; and the
# Arabic tatweel, which only makes words longer.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200d-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_PHRASE = re.compile(f"([{_PHRASES}]+)")
_APOSTROPHES = re.compile('[\u2018\u2019\u02bc\u05f3\u05f4]|(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])')
_LATIN_OR_GREEK = re.compile("[A-Za-z\u00c0-\u02af\u0370-\u03ff\u1e00-\u1fff\u2c60-\u2c7f\ua722-\ua7ff\uab30-\uab6f]")
# Dictionaries and encyclopedias stress Cyrillic vowels; ѓ and ќ are letters of their own.
_STRESS, _STRESSED = "\u0301", frozenset("аеиоуыэюяєії")
_LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ŧ": "t", "\u0131": "i"}
    | {"\u0451": "\u0435"}  # the letter yo is found as ye
)


def ranges_of(characters: Iterable[int]) -> str:
    """Code points as the inside of a character class."""
    runs = [list(run) for _, run in groupby(enumerate(characters), key=lambda pair: pair[1] - pair[0])]
    return "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)


_MARKS = frozenset({"Mn", "Mc", "Me"})
# By `map`, in half the time: it is 126,000 code points, at the start of every process.
MARK_RANGES = ranges_of(
    point
    for point, category in enumerate(map(unicodedata.category, map(chr, range(0x300, LAST_WITH_MARKS))), 0x300)
    if category in _MARKS
)
_MARK = re.compile(f"[{MARK_RANGES}]")
_LONG_MARKS = re.compile(f"[{MARK_RANGES}\uff9e\uff9f]{{{LONGEST_ORDINARY_MARKS},}}")  # and what becomes a mark


def legible(text: str) -> str:
    """The text in Unicode's compatibility form, without what cannot be seen; letters keep their case.

    Equal for composed and decomposed forms, and for full and half width. Linear in the length of the text, and at most
    six times as long.
    """
    if text.isascii():
        return text
    visible = _INVISIBLE.sub("", text)
    pieces = _PHRASE.split(_LONG_MARKS.sub(_in_canonical_order, visible))
    pieces[::2] = [unicodedata.normalize("NFKC", piece) for piece in pieces[::2]]
    composed = "".join(pieces)
    return _APOSTROPHES.sub("'", _INVISIBLE.sub("", composed))


def _in_canonical_order(marks: re.Match[str]) -> str:
    """A long row of marks, decomposed and sorted: normalizing sorts by insertion, in the square of the length."""
    decomposed = "".join(unicodedata.normalize("NFKD", mark) for mark in marks.group())
    return "".join(
        "".join(run) if starts else "".join(sorted(run, key=unicodedata.combining))
        for starts, run in groupby(decomposed, key=lambda mark: not unicodedata.combining(mark))
    )


def folded(word: str) -> str:
    """A legible word without case, accents of Latin and Greek, and the Cyrillic ё; digits become those of ASCII."""
    if word.isascii():
        return word.lower()
    bare = "".join(_without_accents(unicodedata.normalize("NFKD", word)))
    composed = unicodedata.normalize("NFC", bare.casefold())
    return "".join(map(_ascii_digit, composed.translate(_LETTERS_WITHOUT_DECOMPOSITION)))


def _without_accents(decomposed: str) -> Iterator[str]:
    letter = ""
    for character in decomposed:
        if not _MARK.match(character):
            letter = character
        elif _LATIN_OR_GREEK.match(letter) or (character == _STRESS and letter.casefold() in _STRESSED):
            continue
        yield character


def _ascii_digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if character.isdecimal() else character
