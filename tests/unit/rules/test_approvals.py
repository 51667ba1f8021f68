import pytest

from models.errors import Forbidden, SelfApproval
from models.identifiers import UserId
from models.rules.approvals import (
    Approval,
    ApprovalPolicy,
    Electorate,
    approvals_missing,
    require_approver,
    require_merger,
)
from models.rules.path_owners import PathOwners

ANN, BEN, CLEO, DAN = (UserId(f"usr_{name}") for name in ("ann", "ben", "cleo", "dan"))
HASH, OTHER = "a" * 64, "b" * 64
OPEN = ApprovalPolicy()
STRICT = ApprovalPolicy(allow_self_approval=False)


def an_electorate(policy: ApprovalPolicy = OPEN, *, touched: tuple[PathOwners, ...] = ()) -> Electorate:
    """Ann and Ben are admins, Ann is the author."""
    return Electorate(policy, author_id=ANN, administrators={ANN, BEN}, touched=touched)


def owned_by(*users: UserId, glob: str = "docs/**") -> PathOwners:
    return PathOwners(glob, users)


def test_an_approval_counts_only_for_the_result_it_was_given_for() -> None:
    approvals = [Approval(ANN, HASH), Approval(BEN, OTHER)]
    assert an_electorate().counted(approvals, result_hash=HASH) == (ANN,)


def test_an_approval_counts_only_while_its_actor_is_owner_admin_or_path_owner() -> None:
    approvals = [Approval(CLEO, HASH), Approval(DAN, HASH), Approval(BEN, HASH)]
    assert an_electorate(touched=(owned_by(DAN),)).counted(approvals, result_hash=HASH) == (DAN, BEN)


def test_two_approvals_of_one_actor_count_once() -> None:
    assert an_electorate().counted([Approval(BEN, HASH), Approval(BEN, HASH)], result_hash=HASH) == (BEN,)


def test_the_author_counts_unless_the_policy_asks_for_somebody_else() -> None:
    approvals = [Approval(ANN, HASH), Approval(BEN, HASH)]
    assert an_electorate().counted(approvals, result_hash=HASH) == (ANN, BEN)
    assert an_electorate(STRICT).counted(approvals, result_hash=HASH) == (BEN,)


@pytest.mark.parametrize(("required", "given", "suffices"), [(0, 0, False), (0, 1, True), (1, 1, True), (2, 1, False)])
def test_a_review_is_approved_at_the_number_of_the_policy_and_at_one_at_least(
    required: int, given: int, *, suffices: bool
) -> None:
    assert an_electorate(ApprovalPolicy(required)).suffices([ANN, BEN][:given]) is suffices


def test_owners_admins_and_path_owners_approve_and_nobody_else() -> None:
    electorate = an_electorate(touched=(owned_by(DAN),))
    for actor in (ANN, BEN, DAN):
        require_approver(electorate, actor)
    with pytest.raises(Forbidden):
        require_approver(electorate, CLEO)


def test_an_author_who_may_not_approve_at_all_is_told_that_first() -> None:
    with pytest.raises(SelfApproval):
        require_approver(an_electorate(STRICT), ANN)
    with pytest.raises(Forbidden):
        require_approver(Electorate(STRICT, author_id=CLEO, administrators={ANN}), CLEO)


def test_an_author_merges_once_somebody_else_approves() -> None:
    require_merger(an_electorate(), ANN, ())
    require_merger(an_electorate(STRICT), BEN, ())
    require_merger(an_electorate(STRICT), ANN, (BEN,))
    with pytest.raises(SelfApproval):
        require_merger(an_electorate(STRICT), ANN, ())


def test_missing_approvals_name_how_many_are_required_and_given() -> None:
    problem = approvals_missing(an_electorate(ApprovalPolicy(2)), (BEN,))
    assert problem is not None
    assert problem.context == {"required": 2, "given": 1}
    assert approvals_missing(an_electorate(ApprovalPolicy(2)), (BEN, ANN)) is None


def test_whoever_merges_is_one_approval_and_the_clock_is_none() -> None:
    assert approvals_missing(an_electorate(ApprovalPolicy(1)), ()) is None
    for policy in (OPEN, ApprovalPolicy(1)):
        problem = approvals_missing(an_electorate(policy), (), unattended=True)
        assert problem is not None
        assert problem.context == {"required": 1, "given": 0}


def test_each_touched_glob_needs_one_of_its_users_and_not_an_admin() -> None:
    electorate = an_electorate(touched=(owned_by(DAN), owned_by(CLEO, DAN, glob="*.md"), owned_by(BEN, glob="x")))
    problem = approvals_missing(electorate, (ANN, BEN))
    assert problem is not None
    assert problem.context == {"required": 0, "given": 2, "globs": ["docs/**", "*.md"]}
    assert approvals_missing(electorate, (DAN, BEN)) is None
