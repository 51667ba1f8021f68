"""Two things that happen to a Review at once, over and over: each time one of the allowed outcomes, and no deadlock."""

from collections import Counter
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.invariants import check_invariants
from tests.racing import together, without_deadlocks
from tests.review_races import RACES, Arrangement
from tests.rows import an_organization

QUICK, THOROUGH = 4, 200


@pytest.fixture
def pool(engine: Engine) -> Iterator[Engine]:
    with without_deadlocks(engine, connections=4) as racing:
        yield racing


@pytest.mark.parametrize("trials", [QUICK, pytest.param(THOROUGH, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
@pytest.mark.parametrize("arrange", RACES, ids=lambda arrange: arrange.__name__)
def test_a_race_has_one_of_its_allowed_outcomes(
    engine: Engine, pool: Engine, arrange: Arrangement, trials: int
) -> None:
    place = an_organization(pool)
    outcomes: Counter[tuple[str, str]] = Counter()
    for number in range(trials):
        ready = arrange(place, number)
        one, other = together(ready.one, ready.other)
        assert (one, other) in ready.allowed, (number, one, other)
        assert ready.holds(one, other), (number, one, other)
        outcomes[one, other] += 1
    assert trials < THOROUGH or len(outcomes) > 1, outcomes
    check_invariants(engine, place.org_id)
