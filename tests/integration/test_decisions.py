"""Approve, reject and withdraw: who may, when, and what counts (publication.md §4)."""

from sqlalchemy import Engine

from models.identifiers import new_review_id
from tests.commands import (
    a_decision,
    a_review,
    carried_out,
    decided,
    merged,
    problem_of,
    result_of,
    review,
    withdrawn,
)
from tests.invariants import check_invariants
from tests.rows import (
    Somewhere,
    a_draft,
    a_member,
    a_user,
    an_organization,
    creates,
    current,
    execute,
    fetch,
    leaves,
    with_role,
    with_state,
)


def with_required_approvals(place: Somewhere, number: int) -> None:
    execute(place, "update organizations set required_approvals = :n where org_id = :o", n=number)


def test_an_approval_names_the_submission_its_hash_and_the_actor(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    admin = a_user(place, "admin")
    body = result_of(decided(place, review_id, "approved", actor=admin, body="Good."))
    assert (body["status"], body["version"]) == ("approved", 2)
    (approval,) = body["approvals"]
    assert (approval["actor_id"], approval["submission"], approval["result_hash"]) == (admin, 1, body["result_hash"])
    assert [(event["event"], event.get("reason")) for event in body["timeline"]] == [
        ("submitted", None),
        ("approved", "Good."),
    ]
    check_invariants(engine, place.org_id)


def test_the_same_approval_twice_changes_nothing_even_at_the_version_it_named(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    again = a_decision(place, review_id, "approved")
    once = result_of(decided(place, review_id, "approved"))
    assert result_of(carried_out(place, again)) == once
    check_invariants(engine, place.org_id)


def test_a_second_approver_is_counted_beside_the_first(engine: Engine) -> None:
    place = an_organization(engine)
    with_required_approvals(place, 2)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    assert result_of(decided(place, review_id, "approved"))["status"] == "open"
    body = result_of(decided(place, review_id, "approved", actor=a_user(place, "admin")))
    assert (body["status"], len(body["approvals"])) == ("approved", 2)
    check_invariants(engine, place.org_id)


def test_only_owners_and_admins_decide(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    for decision in ("approved", "rejected"):
        assert problem_of(decided(place, review_id, decision, actor=a_member(place, "admin")))["code"] == "forbidden"
        assert problem_of(decided(place, review_id, decision, actor=a_user(place)))["code"] == "not_found"


def test_a_review_that_does_not_exist_is_not_found(engine: Engine) -> None:
    place = an_organization(engine)
    known = a_review(place, a_draft(place, creates("a.md")))
    operation = a_decision(place, known, "approved")
    execute(
        place,
        "update operations set review_id = :r where org_id = :o and operation_id = :id",
        r=new_review_id(),
        id=operation.operation_id,
    )
    assert problem_of(carried_out(place, operation))["code"] == "not_found"


def test_a_rejection_reopens_the_drafts_and_drops_the_approvals(engine: Engine) -> None:
    place = an_organization(engine)
    draft = a_draft(place, creates("a.md"))
    review_id = a_review(place, draft)
    decided(place, review_id, "approved")
    body = result_of(decided(place, review_id, "rejected", body="Not yet."))
    assert (body["status"], body["approvals"], body["closed_reason"]) == ("rejected", [], None)
    assert (current(place, draft).status, current(place, draft).version) == ("open", 3)
    check_invariants(engine, place.org_id)


def test_a_rejected_review_takes_no_decision_merge_or_withdrawal(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "rejected")
    for operation in (
        decided(place, review_id, "approved"),
        decided(place, review_id, "rejected"),
        merged(place, review_id),
        withdrawn(place, review_id),
    ):
        problem = problem_of(operation)
        assert (problem["code"], problem["status"]) == ("review_closed", 409)
        assert (problem["review_status"], problem["commit_id"]) == ("rejected", None)


def test_the_author_owners_and_admins_withdraw_and_nobody_else(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    draft = a_draft(place, creates("a.md"), author=author)
    for actor in (author, place.owner, a_user(place, "admin")):
        review_id = a_review(place, current(place, draft))
        assert problem_of(withdrawn(place, review_id, actor=a_member(place, "admin")))["code"] == "forbidden"
        body = result_of(withdrawn(place, review_id, actor=actor, reason="Later."))
        assert (body["status"], body["closed_reason"], body["approvals"]) == ("withdrawn", "withdrawn", [])
        assert body["timeline"][-1]["reason"] == "Later."
        assert current(place, draft).status == "open"
    check_invariants(engine, place.org_id)


def test_an_author_who_left_the_project_does_not_find_the_review(engine: Engine) -> None:
    place = an_organization(engine)
    author = a_member(place)
    review_id = a_review(place, a_draft(place, creates("a.md"), author=author))
    leaves(place, author)
    assert problem_of(withdrawn(place, review_id, actor=author))["code"] == "not_found"


def test_closed_goes_before_archived_and_archived_before_another_version(engine: Engine) -> None:
    place = an_organization(engine)
    open_one, closed = (a_review(place, a_draft(place, creates(path))) for path in ("a.md", "b.md"))
    withdrawn(place, closed)
    with_state(place, place.project_id, "archived")
    for review_id, code in ((closed, "review_closed"), (open_one, "project_archived")):
        for operation in (
            decided(place, review_id, "approved", expected_review_version=9),
            decided(place, review_id, "rejected", expected_review_version=9),
            withdrawn(place, review_id, expected_review_version=9),
            merged(place, review_id, expected_review_version=9),
        ):
            assert problem_of(operation)["code"] == code
    with_state(place, place.project_id, "active")
    for operation in (
        decided(place, open_one, "rejected", expected_review_version=9),
        withdrawn(place, open_one, expected_review_version=9),
    ):
        problem = problem_of(operation)
        assert (problem["code"], problem["expected"], problem["actual"]) == ("version_conflict", 9, 1)


def test_an_approval_of_somebody_who_is_no_admin_any_more_does_not_count(engine: Engine) -> None:
    place = an_organization(engine)
    admin = a_user(place, "admin")
    review_id = a_review(place, a_draft(place, creates("a.md")))
    decided(place, review_id, "approved", actor=admin)
    with_required_approvals(place, 2)
    with_role(place, admin, "member")
    problem = problem_of(merged(place, review_id))
    assert (problem["code"], problem["status"]) == ("approvals_missing", 409)
    assert (problem["required"], problem["given"]) == (2, 1)
    with_role(place, admin, "admin")
    assert merged(place, review_id).status == "succeeded"
    check_invariants(engine, place.org_id)


def test_what_was_submitted_can_be_read_after_its_drafts_changed(engine: Engine) -> None:
    place = an_organization(engine)
    review_id = a_review(place, a_draft(place, creates("a.md")))
    states = "select number, path, created_for from review_submission_states where org_id = :o and review_id = :r"
    before = fetch(place, states, r=review_id)
    decided(place, review_id, "rejected")
    assert fetch(place, states, r=review_id) == before
    assert review(place, review_id).submission == 1
