"""The sentences of memory.md §4 about the analyzer."""
# ruff: noqa: RUF001  (letters that look alike are what is told apart here)

import pytest

from search.analysis import LONGEST_TERM, document_terms, query_terms, terms


def found_alike(one: str, other: str) -> bool:
    return terms(one) == terms(other)


def finds(query: str, text: str) -> bool:
    return bool(set(query_terms(query)) & set(terms(text)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("İstanbul", "istanbul"),
        ("Привет", "ПРИВЕТ"),
        ("ԵՒ", "և"),
    ],
)
def test_case_is_folded_in_full(one: str, other: str) -> None:
    assert found_alike(one, other)


@pytest.mark.parametrize(
    ("accented", "plain"),
    [
        ("café", "cafe"),
        ("Ångström", "angstrom"),
        ("Tiếng Việt", "tieng viet"),
        ("Ελλάδα", "ελλαδα"),
        ("ὁδός", "οδοσ"),
        ("Øresund", "oresund"),
        ("Łódź", "lodz"),
        ("œuvre", "oeuvre"),
        ("Đà Nẵng", "da nang"),
    ],
)
def test_accents_of_latin_and_greek_are_folded(accented: str, plain: str) -> None:
    assert found_alike(accented, plain)


def test_the_letter_yo_is_found_as_ye_and_short_i_is_not_found_as_i() -> None:
    assert found_alike("ёлка", "елка")
    assert not finds("воина", "война")
    assert not finds("иод", "йод")


def test_other_accents_are_letters_of_their_own() -> None:
    assert not finds("гу", "ѓу")
    assert not finds("か", "が")
    assert not finds("її", "іі")


def test_a_stress_on_a_cyrillic_vowel_does_not_hide_the_word() -> None:
    assert found_alike("Ле\u0301нин", "Ленин")


@pytest.mark.parametrize("word", ["हिन्दी", "কলকাতা", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "संस्कृतम्"])
def test_combining_vowel_signs_belong_to_their_word(word: str) -> None:
    assert set(terms(f"{word}, {word}")) == {word}


def test_a_thai_vowel_sign_or_tone_belongs_to_its_character() -> None:
    assert terms("ไม้") == ["ไ", "ม้", "ไม้"]


def test_a_word_counts_once_as_it_stands_and_once_as_its_stem() -> None:
    assert terms("deploying runs") == ["deploying", "deploy", "runs", "run"]
    assert terms("deploy 42 naïve") == ["deploy", "deploy", "42", "42", "naive", "naiv"]


@pytest.mark.parametrize(("query", "text"), [("deployment", "deployed"), ("databases", "database"), ("flies", "fly")])
def test_english_words_are_found_by_their_stem(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"), [("книгами", "книга"), ("المدرسة", "مدرسة"), ("محمد", "مُحَمَّد"), ("שלום", "שָׁלוֹם")]
)
def test_russian_and_arabic_words_are_found_by_their_stem_and_hebrew_ones_without_points(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("identifier", "whole", "parts"),
    [
        ("snake_case_name", "snake_case_name", ["snake", "case", "name"]),
        ("camelCaseName", "camelcasename", ["camel", "case", "name"]),
        ("HTTPServer", "httpserver", ["http", "server"]),
        ("foo.bar/baz", "foo.bar/baz", ["foo.bar", "foo", "bar", "baz"]),
        ("v1.2.3", "v1.2.3", ["1.2.3", "v1", "1", "2", "3"]),
        ("kebab-case", "kebab_case", ["kebab", "case"]),
        ("user@example.com", "user@example.com", ["user", "example.com", "example", "com"]),
        ("std::vector", "std::vector", ["std", "vector"]),
        ("C:\\temp\\x.txt", "temp\\x.txt", ["temp", "x.txt", "x", "txt"]),
        ("python3", "python3", ["python", "3"]),
        ("2026-07-28", "2026_07_28", ["2026", "07", "28"]),
        ("ПоискПути", "поискпути", ["поиск", "пути"]),
        ("C++", "c++", ["c"]),
        ("C#", "c#", ["c"]),
    ],
)
def test_an_identifier_is_found_whole_and_by_part(identifier: str, whole: str, parts: list[str]) -> None:
    assert {whole, *parts} <= set(terms(f"({identifier}),"))


def test_a_hash_is_not_taken_apart() -> None:
    assert terms("3f2a9c11") == ["3f2a9c11", "3f2a9c11"]


@pytest.mark.parametrize("word", ["CI", "DB", "a", "7", "猫", "й"])
def test_short_words_are_found(word: str) -> None:
    assert finds(word, f"the {word}.")


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("数据库", ["数", "据", "库", "数据", "据库"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("ภาษา", ["ภ", "า", "ษ", "า", "ภา", "าษ", "ษา"]),
        ("手机app很好", ["手", "机", "手机", "app", "app", "很", "好", "很好"]),
    ],
)
def test_runs_without_spaces_are_found_by_character_and_by_pair(run: str, found: list[str]) -> None:
    assert terms(run) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("don't", "don’t"),
        ("Alice's", "Alice"),
        ("O'Brien", "O’Brien"),
        ("'deploy_key'", "deploy_key"),
        ("“deploy key”", "deploy key"),
        ("`deploy`", "deploy"),
        ("צה״ל", 'צה"ל'),
        ("п’ять", "п'ять"),
    ],
)
def test_apostrophes_and_quotes_do_not_hide_a_word(one: str, other: str) -> None:
    assert found_alike(one, other)


@pytest.mark.parametrize(
    ("query", "text"), [("dont", "don't"), ("OBrien", "O'Brien"), ("Brien", "O'Brien"), ("avion", "l'avion")]
)
def test_a_word_with_an_apostrophe_is_found_joined_and_by_piece(query: str, text: str) -> None:
    assert finds(query, text)


def test_a_contraction_is_not_another_word() -> None:
    assert not finds("shell", "she'll")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ１２３", "ABC123"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("ﬁle", "file"),
        ("٣٤", "34"),
        ("४५", "45"),
        ("๑๒", "12"),
        ("soft\u00adhyphen", "softhyphen"),
        ("क\u094d\u200dष", "क\u094dष"),
        ("\ufeffword\u200b", "word"),
        ("ـمـ", "م"),
    ],
)
def test_what_reads_alike_is_found_alike(one: str, other: str) -> None:
    assert found_alike(one, other)


@pytest.mark.parametrize("piece", ["می", "خواهم", "میخواهم"])
def test_a_persian_word_with_a_non_joiner_is_found_joined_and_by_piece(piece: str) -> None:
    assert finds(piece, "می\u200cخواهم")


def test_a_number_is_found_with_and_without_its_comma() -> None:
    assert finds("1000", "1,000")


@pytest.mark.parametrize(
    "text", ["???", "", "\x00", "_", "-- ' _._ ::", "\u0301\u0301", "\U0001f680", "។", "\ud800", "\u200d"]
)
def test_a_text_without_a_letter_or_a_digit_has_no_term(text: str) -> None:
    assert query_terms(text) == []


@pytest.mark.parametrize(
    "query",
    [
        "deploy AND",
        "title:deploy",
        '"deploy',
        "deploy*",
        "-deploy",
        "(deploy",
        "deploy~2",
        "deploy^",
        "\x00deploy\\",
        "deploy?",
    ],
)
def test_no_character_of_a_query_hides_a_match(query: str) -> None:
    assert finds(query, "We deploy on Fridays.")


def test_a_query_has_each_term_once_in_the_order_of_its_appearance() -> None:
    assert query_terms("runs beta, run Beta 42") == ["runs", "run", "beta", "42"]


def test_a_document_is_its_name_description_and_content() -> None:
    assert document_terms("deploy_key", "Where it is", "vault") == [
        *terms("deploy_key"),
        *terms("Where it is"),
        *terms("vault"),
    ]


def test_a_long_term_is_cut_and_still_tells_itself_from_others() -> None:
    one, other = terms("x" * 500), terms("x" * 501)
    assert {len(term) for term in one + other} == {LONGEST_TERM}
    assert set(one).isdisjoint(other)
