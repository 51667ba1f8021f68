import pytest

from models.identifiers import UserId
from models.rules.approvals import Approval, counted, needed

ANN, BOB, EVE = UserId("usr_ann"), UserId("usr_bob"), UserId("usr_eve")
HASH, OLD_HASH = "1" * 64, "2" * 64


def test_an_approval_of_this_result_by_somebody_entitled_counts() -> None:
    assert counted([Approval(ANN, HASH)], result_hash=HASH, entitled={ANN}) == (ANN,)


def test_an_approval_of_another_result_does_not_count() -> None:
    assert counted([Approval(ANN, OLD_HASH)], result_hash=HASH, entitled={ANN}) == ()


def test_an_approval_by_somebody_no_longer_entitled_does_not_count() -> None:
    assert counted([Approval(EVE, HASH)], result_hash=HASH, entitled={ANN, BOB}) == ()


def test_an_actor_counts_once() -> None:
    approvals = [Approval(BOB, HASH), Approval(ANN, OLD_HASH), Approval(ANN, HASH), Approval(BOB, HASH)]
    assert counted(approvals, result_hash=HASH, entitled={ANN, BOB, EVE}) == (BOB, ANN)


@pytest.mark.parametrize(("required", "count"), [(0, 1), (1, 1), (2, 2), (5, 5)])
def test_a_review_needs_at_least_one_approval(required: int, count: int) -> None:
    assert needed(required) == count
