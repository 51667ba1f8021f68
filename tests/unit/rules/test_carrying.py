import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.alignment import lines_of
from models.rules.carrying import carried
from tests.unit.rules.examples import many


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        ("abc", "abc", {1: 1, 2: 2, 3: 3}),
        ("abc", "xabc", {1: 2, 2: 3, 3: 4}),
        ("abc", "abxc", {1: 1, 2: 2, 3: 4}),
        ("abc", "ac", {1: 1, 3: 2}),
        ("abc", "aBc", {1: 1, 3: 3}),
        ("abcd", "bxd", {2: 1, 4: 3}),
        ("abc", "abcx", {1: 1, 2: 2, 3: 3}),
        ("abc", "", {}),
        ("abc", "xyz", {}),
    ],
)
def test_a_line_is_found_where_it_stands_unchanged(earlier: str, later: str, found: dict[int, int]) -> None:
    texts = ["".join(f"{letter}\n" for letter in letters) for letters in (earlier, later)]
    assert carried(range(1, len(earlier) + 1), *texts) == found


def documents() -> st.SearchStrategy[str]:
    return st.text("ab\n", max_size=30)


@given(documents(), documents())
@many
def test_a_found_line_reads_as_it_did_and_lines_keep_their_order(earlier: str, later: str) -> None:
    old, new = lines_of(earlier), lines_of(later)
    found = carried(range(1, len(old) + 1), earlier, later)
    assert [new[there - 1] for there in found.values()] == [old[line - 1] for line in found]
    assert list(found.values()) == sorted(set(found.values()))


@given(documents(), documents())
@many
def test_a_line_is_found_alike_whatever_else_is_asked_for(earlier: str, later: str) -> None:
    lines = range(1, len(lines_of(earlier)) + 1)
    together = carried(lines, earlier, later)
    alone: dict[int, int] = {}
    for line in lines:
        alone |= carried([line], earlier, later)
    assert alone == together
