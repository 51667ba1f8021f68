import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import OperationInvalid
from models.rules.paths import MAX_PATH_CHARACTERS, MAX_SEGMENT_BYTES, accept_path, ancestor_keys, name_of, path_key
from tests.unit.rules.examples import many

# Few characters, chosen to meet: case, composition, folding to two letters, folding to a third.
TRICKY = "aAeé\u0301\u0345sSßſﬁfikK\u212aÅA\u030aıİΣσς./ -"  # noqa: RUF001  (the look-alikes are the point)


def refused_rule(raw: str) -> str | None:
    try:
        accept_path(raw)
    except OperationInvalid as problem:
        return str(problem.context["rule"])
    return None


def is_accepted(raw: str) -> bool:
    return refused_rule(raw) is None


def accepted_paths() -> st.SearchStrategy[str]:
    segments = st.text(TRICKY.replace("/", ""), min_size=1, max_size=4) | st.text(min_size=1, max_size=4)
    joined = st.lists(segments.filter(is_accepted), min_size=1, max_size=3).map("/".join)
    return joined.filter(is_accepted).map(accept_path)


@st.composite
def pairs_of_accepted_paths(draw: st.DrawFn) -> tuple[str, str]:
    """Two paths that are often one place in two spellings, or one inside the other."""
    path = draw(accepted_paths())
    spellings = [
        path,
        path.upper(),
        path.lower(),
        path.casefold(),
        unicodedata.normalize("NFD", path),
        f"{path}/inside",
        path.rpartition("/")[0],
        path + "x",
        draw(accepted_paths()),
    ]
    return path, accept_path(draw(st.sampled_from([raw for raw in spellings if is_accepted(raw)])))


class Disk:
    """A file system that ignores case and decomposes names, as the strictest that people use."""

    def __init__(self) -> None:
        self.files: set[tuple[str, ...]] = set()
        self.folders: set[tuple[str, ...]] = set()

    def takes(self, path: str) -> bool:
        """Write a file unless something that is no folder of it stands in the way."""
        place = tuple(self._stored_name(segment) for segment in path.split("/"))
        above = {place[:depth] for depth in range(1, len(place))}
        if place in self.files or place in self.folders or above & self.files:
            return False
        self.files.add(place)
        self.folders |= above
        return True

    @staticmethod
    def _stored_name(segment: str) -> str:
        return unicodedata.normalize("NFD", unicodedata.normalize("NFD", segment).casefold())


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "guides/on-call/rotation.md",
        ".hidden",
        "..more/...less",
        "a b/c d.md",
        "日本語/説明.md",
        "emoji-😀.md",
        "a;b,c=d+e(f)[g]{h}'i`j~k!l@m#n$o%p^q&r_s",
        "console.md",
        "com",
        "com10.md",
        "lpt.md",
        "nulls/aux-in.md",
        "README.con",
    ],
)
def test_an_ordinary_path_is_accepted_as_it_is(path: str) -> None:
    assert accept_path(path) == path


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ("", "empty"),
        ("/a", "absolute"),
        ("/", "absolute"),
        ("a//b", "empty_segment"),
        ("a/", "empty_segment"),
        (".", "dot_segment"),
        ("a/../b", "dot_segment"),
        ("./a", "dot_segment"),
        ("a\\b", "backslash"),
        ("C:/a", "forbidden_character"),
        *((f"a{character}b", "forbidden_character") for character in '<>:"|?*'),
        ("a\0b", "nul"),
        ("a\nb", "control_character"),
        ("a\x7fb", "control_character"),
        ("a\x85b", "control_character"),
        ("a\u2028b", "control_character"),
        ("a\u2029b", "control_character"),
        ("a\u200bb", "format_character"),
        ("a\u202eb", "format_character"),
        ("\ufeffa", "format_character"),
        ("a\ud800b", "lone_surrogate"),
        ("a\udfff", "lone_surrogate"),
        (" a", "segment_space"),
        ("a /b", "segment_space"),
        ("a/ b", "segment_space"),
        ("a\u00a0", "segment_space"),
        ("\u3000a", "segment_space"),
        ("a.", "segment_trailing_dot"),
        ("a./b", "segment_trailing_dot"),
        ("...", "segment_trailing_dot"),
    ],
)
def test_a_path_that_some_disk_cannot_hold_is_refused_by_its_rule(raw: str, rule: str) -> None:
    assert refused_rule(raw) == rule


@pytest.mark.parametrize("device", ["CON", "prn", "Aux", "nul", "COM0", "com9", "LPT1", "lpt0", "COM¹", "lpt²", "Lpt³"])
@pytest.mark.parametrize("form", ["{}", "{}.md", "{}.tar.gz", "{} .md", "docs/{}", "{}/a.md"])
def test_a_reserved_device_name_is_refused_with_or_without_an_extension(device: str, form: str) -> None:
    assert refused_rule(form.format(device)) == "reserved_name"


def test_every_control_and_format_character_is_refused() -> None:
    refused = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Cc", "Cf"}]
    assert len(refused) > 200
    assert not [character for character in refused if is_accepted(f"a{character}b")]


def test_every_bidirectional_control_is_refused() -> None:
    controls = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    assert not [character for character in controls if is_accepted(f"a{character}b")]


def test_a_decomposed_path_is_brought_to_nfc_and_not_refused() -> None:
    assert accept_path("re\u0301sume\u0301.md") == "r\u00e9sum\u00e9.md"


def test_a_refusal_names_the_field_it_was_given() -> None:
    with pytest.raises(OperationInvalid) as caught:
        accept_path("a//b", field="new_path")
    assert caught.value.context == {"field": "new_path", "rule": "empty_segment"}


def test_a_path_may_have_512_characters() -> None:
    path = "ab/" * 170 + "ab"
    assert len(path) == MAX_PATH_CHARACTERS
    assert accept_path(path) == path
    assert refused_rule(path + "c") == "too_long"


def test_the_characters_of_a_path_are_counted_in_nfc() -> None:
    decomposed = "e\u0301a/" * 170 + "ab"
    assert len(decomposed) > MAX_PATH_CHARACTERS
    assert len(accept_path(decomposed)) == MAX_PATH_CHARACTERS
    assert refused_rule(decomposed + "c") == "too_long"


def test_the_longest_decomposition_of_512_characters_is_still_accepted() -> None:
    segment = "\u1f82" * 2  # one character in NFC, four code points when decomposed
    composed = "/".join([segment] * 170) + "/" + "\u1f82" * 3
    assert len(composed) == MAX_PATH_CHARACTERS + 1
    assert refused_rule(unicodedata.normalize("NFD", composed)) == "too_long"
    assert accept_path(unicodedata.normalize("NFD", composed[:-1])) == composed[:-1]


def test_a_segment_may_have_255_bytes() -> None:
    assert is_accepted("a" * MAX_SEGMENT_BYTES)
    assert refused_rule("a" * (MAX_SEGMENT_BYTES + 1)) == "segment_too_long"


def test_the_length_of_a_segment_is_counted_in_bytes() -> None:
    assert is_accepted("é" * 127)
    assert refused_rule("é" * 128) == "segment_too_long"


def test_a_long_run_of_combining_marks_is_refused_without_being_sorted() -> None:
    assert refused_rule("a" + "\u0301\u0316" * 1_000_000) == "too_long"  # minutes, if it were normalized first


@given(st.text() | st.text(TRICKY))
@many
def test_an_accepted_path_is_accepted_again_unchanged(raw: str) -> None:
    if is_accepted(raw):
        assert accept_path(accept_path(raw)) == accept_path(raw)


@given(st.text() | st.text(TRICKY))
@many
def test_the_verdict_on_a_path_does_not_depend_on_its_normal_form(raw: str) -> None:
    assert refused_rule(unicodedata.normalize("NFD", raw)) == refused_rule(raw)


@given(accepted_paths())
@many
def test_no_segment_of_an_accepted_path_is_changed_by_a_disk_that_drops_final_dots_or_spaces(path: str) -> None:
    assert [segment.rstrip(". ") for segment in path.split("/")] == path.split("/")


@given(pairs_of_accepted_paths())
@many
def test_two_accepted_paths_stand_beside_each_other_on_a_disk_unless_their_keys_are_equal_or_nested(
    paths: tuple[str, str],
) -> None:
    one, other = map(path_key, paths)
    collide = one == other or one in ancestor_keys(other) or other in ancestor_keys(one)
    disk = Disk()
    assert disk.takes(paths[0])
    assert disk.takes(paths[1]) is not collide


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("readme.md", "README.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("Straße.md", "STRASSE.MD"),
        ("ﬁle.md", "file.md"),
        ("ΟΔΟΣ", "οδος"),
        ("\u212aelvin", "kelvin"),
        ("\u1f80\u0323", "\u1f00\u0323\u03b9"),  # equal only if decomposed before folding
        ("Docs/a.md", "docs/A.md"),
    ],
)
def test_spellings_that_a_disk_may_take_for_one_share_a_key(one: str, other: str) -> None:
    assert path_key(one) == path_key(other)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("cafe", "café"), ("a/b", "a-b"), ("a/b", "b/a")])
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert path_key(one) != path_key(other)


@given(accepted_paths())
@many
def test_a_key_is_its_own_key(path: str) -> None:
    assert path_key(path_key(path)) == path_key(path)


@given(accepted_paths())
@many
def test_the_key_of_a_path_is_made_segment_by_segment(path: str) -> None:
    assert path_key(path) == "/".join(path_key(segment) for segment in path.split("/"))


def test_the_ancestors_of_a_key_are_its_folders_outermost_first() -> None:
    assert ancestor_keys("a/b/c") == ("a", "a/b")
    assert ancestor_keys("a") == ()


def test_the_name_of_a_path_is_its_last_segment() -> None:
    assert name_of("a/b/c.md") == "c.md"
    assert name_of("c.md") == "c.md"
