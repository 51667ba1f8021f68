import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.identifiers import UserId
from models.rules.path_owners import (
    MAX_GLOB_CHARACTERS,
    PathOwners,
    broken_glob_rule,
    globs_of,
    pattern_of,
    pattern_of_any,
    uncovered,
)
from models.rules.paths import path_key

ANN, BEN = UserId("usr_ann"), UserId("usr_ben")


def matches(glob: str, path: str) -> bool:
    return re.search(pattern_of(glob), path_key(path), re.DOTALL) is not None


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("a.md", "a.md"),
        ("*", "a.md"),
        ("*.md", "a.md"),
        ("docs/*.md", "docs/a.md"),
        ("docs/*", "docs/a.md"),
        ("docs/**", "docs/a.md"),
        ("docs/**", "docs/x/y/a.md"),
        ("docs/**/a.md", "docs/a.md"),
        ("docs/**/a.md", "docs/x/y/a.md"),
        ("**/a.md", "a.md"),
        ("**/a.md", "x/y/a.md"),
        ("**", "x/y/a.md"),
        ("a**z.md", "a/b/z.md"),
        ("***/a.md", "x/a.md"),
        ("x*y*z", "xyyz"),
        ("DOCS/Ä*", "docs/ä.md"),
        ("straße/*", "STRASSE/a.md"),
        ("a+(b)[c].{d}^$/é", "a+(b)[c].{d}^$/é"),
        (unicodedata.normalize("NFD", "é.md"), "é.md"),
    ],
)
def test_a_glob_matches(glob: str, path: str) -> None:
    assert matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("a.md", "axmd"),
        ("a.md", "x/a.md"),
        ("a.md", "a.md.md"),
        ("*.md", "docs/a.md"),
        ("docs/*", "docs/x/a.md"),
        ("docs/*", "docs"),
        ("docs/**", "docs"),
        ("docs/**", "docs2/a.md"),
        ("docs/**/a.md", "docs/xa.md"),
        ("**/a.md", "xa.md"),
        ("a**/z", "a"),
        ("x*y*z", "xy/yz"),
    ],
)
def test_a_glob_does_not_match(glob: str, path: str) -> None:
    assert not matches(glob, path)


@given(st.text("ab/*.", min_size=1, max_size=8), st.text("ab/.", max_size=8))
def test_a_star_stays_within_a_segment_and_two_cross_it(glob: str, path: str) -> None:
    if matches(glob, path):
        assert matches(glob.replace("*", "**"), path)
    if "**" not in glob and matches(glob, path):
        assert glob.count("/") == path.count("/")


@given(st.lists(st.text("ab/*.", min_size=1, max_size=5), min_size=1, max_size=3), st.text("ab/.", max_size=6))
def test_several_globs_match_what_one_of_them_does(globs: list[str], path: str) -> None:
    found = re.search(pattern_of_any(globs), path_key(path), re.DOTALL) is not None
    assert found == any(matches(glob, path) for glob in globs)


@pytest.mark.parametrize(
    ("glob", "rule"),
    [
        ("", "empty"),
        ("x" * (MAX_GLOB_CHARACTERS + 1), "too_long"),
        ("/docs/**", "absolute"),
        ("docs/", "empty_segment"),
        ("docs//x", "empty_segment"),
        ("docs/?.md", "forbidden_character"),
        ("docs\\x", "forbidden_character"),
    ],
)
def test_a_glob_that_could_match_no_path_is_refused(glob: str, rule: str) -> None:
    assert broken_glob_rule(glob) == rule


def test_every_other_glob_is_accepted() -> None:
    assert [broken_glob_rule(glob) for glob in ("**", "*", "a/**/b*.md", "[x]{y}!")] == [None] * 4


def test_the_globs_of_a_user_are_those_that_list_the_user() -> None:
    owners = [PathOwners("a/**", (ANN,)), PathOwners("b/**", (BEN, ANN)), PathOwners("c/**", (BEN,))]
    assert globs_of(owners, ANN) == ["a/**", "b/**"]


def test_a_glob_is_covered_by_one_of_its_users() -> None:
    touched = [PathOwners("a/**", (ANN,)), PathOwners("b/**", (BEN, ANN)), PathOwners("c/**", ())]
    assert uncovered(touched, [BEN]) == ["a/**", "c/**"]
