"""The bound on what was not scored holds for every document there could be (docs/decisions/0017)."""

from hypothesis import given
from hypothesis import strategies as st

from search.certificate import certifies, highest_ratio
from search.scoring import term_score

averages = st.floats(1, 5_000)


@given(
    average=averages,
    proposed=averages,
    lengths=st.tuples(st.integers(1, 70_000), st.integers(1, 70_000), st.integers(1, 70_000)).map(sorted),
    frequency=st.integers(1, 70_000),
    rounding=st.floats(0.875, 1),
)
def test_no_share_is_more_times_the_proposed_one_than_the_bound(
    average: float, proposed: float, lengths: list[int], frequency: int, rounding: float
) -> None:
    shortest, length, longest = lengths
    exact = term_score(1.0, frequency, length, average)
    theirs = term_score(1.0, frequency, int((length + 1) * rounding), proposed)
    assert exact <= theirs * highest_ratio(average, proposed, shortest, longest) * (1 + 1e-9)


def test_what_scores_the_same_is_not_certified() -> None:
    assert not certifies(1.0, 1.0, 1.0, 1)
    assert certifies(1.0, 0.9, 1.0, 40)
    assert not certifies(1.0, 0.9, 1.2, 40)
