"""Approve, reject, withdraw and merge (publication.md §4)."""

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    decide,
    inside,
    listed,
    merge,
    provisional,
    published,
    renames,
    reread,
    resubmit,
    submit,
    updates,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_review_that_lost_the_draft_it_built_on_cannot_be_merged(api: Client) -> None:
    organization, project_id = a_place(api)
    first = a_draft(organization.owner, project_id, creates("a.md", "one\n"))
    second = a_draft(organization.owner, project_id, updates(provisional(first), "two\n"))
    review = a_review(organization.owner, first, second)
    ok(organization.owner.delete(f"/drafts/{first['draft_id']}", version=2))
    left = reread(organization.owner, review)
    assert inside(left, "mergeability")["state"] == "blocked"
    document = problem(merge(organization.owner, left), 422, "target_missing")
    assert (document["draft_id"], document["index"]) == (second["draft_id"], 0)


def test_a_review_that_lost_the_draft_that_freed_a_path_cannot_be_merged(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    freeing = a_draft(organization.owner, project_id, renames(known, "b.md"))
    taking = a_draft(organization.owner, project_id, creates("a.md"))
    review = a_review(organization.owner, freeing, taking)
    ok(organization.owner.delete(f"/drafts/{freeing['draft_id']}", version=2))
    document = problem(merge(organization.owner, reread(organization.owner, review)), 409, "path_collision")
    assert document["draft_id"] == taking["draft_id"]


def test_an_approval_binds_submission_hash_and_actor(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    approved = ok(decide(organization.owner, review, "approved", body="Good"))
    assert (approved["status"], approved["version"]) == ("approved", 2)
    [approval] = listed(approved, "approvals")
    assert {name: approval[name] for name in ("actor_id", "submission", "result_hash")} == {
        "actor_id": organization.owner_id,
        "submission": 1,
        "result_hash": review["result_hash"],
    }
    assert listed(approved, "timeline")[-1]["reason"] == "Good"


def test_the_same_approval_twice_is_one(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    approved = ok(decide(organization.owner, review, "approved"))
    assert ok(decide(organization.owner, approved, "approved")) == approved
    assert ok(decide(organization.owner, review, "approved")) == approved


def test_a_rejection_reopens_the_drafts_and_drops_approvals(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    approved = ok(decide(organization.owner, a_review(organization.owner, draft), "approved"))
    rejected = ok(decide(organization.owner, approved, "rejected", body="Not yet"))
    assert (rejected["status"], rejected["approvals"], rejected["version"]) == ("rejected", [], 3)
    assert reread(organization.owner, draft)["status"] == "open"
    assert inside(rejected, "mergeability")["state"] == "closed"
    for refused in (
        decide(organization.owner, rejected, "approved"),
        withdraw(organization.owner, rejected),
        merge(organization.owner, rejected),
    ):
        document = problem(refused, 409, "review_closed")
        assert (document["review_status"], document["commit_id"]) == ("rejected", None)


def test_a_withdrawal_is_final_and_reopens_the_drafts(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    withdrawn = ok(withdraw(author, a_review(author, draft), reason="Changed my mind"))
    assert (withdrawn["status"], withdrawn["closed_reason"]) == ("withdrawn", "withdrawn")
    assert listed(withdrawn, "timeline")[-1]["reason"] == "Changed my mind"
    reopened = reread(author, draft)
    assert (reopened["status"], reopened["review_id"]) == ("open", None)
    document = problem(resubmit(author, withdrawn, reopened), 409, "review_closed")
    assert document["review_status"] == "withdrawn"


def test_commands_name_the_version_they_saw(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    review = a_review(organization.owner, draft)
    stale: Json = {**review, "version": 0}
    for refused in (
        decide(organization.owner, stale, "approved"),
        decide(organization.owner, stale, "rejected"),
        withdraw(organization.owner, stale),
        merge(organization.owner, stale),
        resubmit(organization.owner, stale, reread(organization.owner, draft)),
    ):
        document = problem(refused, 409, "version_conflict")
        assert (document["expected"], document["actual"]) == (0, 1)


def test_a_direct_merge_counts_as_its_actors_approval(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    merged = inside(ok(merge(organization.owner, review)), "review")
    assert merged["status"] == "merged"
    assert [approval["actor_id"] for approval in listed(merged, "approvals")] == [organization.owner_id]
    assert [event["event"] for event in listed(merged, "timeline")] == ["submitted", "merged"]


def test_what_would_be_published_has_to_be_what_the_caller_expects(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    refused = merge(organization.owner, review, expected_result_hash="0" * 64)
    document = problem(refused, 409, "approval_invalidated")
    assert (document["expected"], document["actual"]) == ("0" * 64, review["result_hash"])
    assert document["detail"] == "The result is not the one that was expected."


@pytest.mark.parametrize("expected", ["x", "", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n"])
def test_an_expected_result_hash_is_64_lower_case_hexadecimal_digits(api: Client, expected: str) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    refused = merge(organization.owner, review, expected_result_hash=expected)
    assert refused_fields(refused) == {("expected_result_hash", "sha_256")}


def test_two_memories_at_one_path_are_told_by_that_path_once(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("n/a.md"))
    detail = {}
    for path in ("n/a.md", "n/A.md"):
        refused = submit(organization.owner, a_draft(organization.owner, project_id, creates(path)))
        detail[path] = problem(refused, 409, "path_collision")["detail"]
    assert detail == {
        "n/a.md": "Two Memories would stand at n/a.md.",
        "n/A.md": "n/A.md and n/a.md cannot both stand.",
    }


def test_a_merge_may_name_the_organizations_ref(api: Client) -> None:
    organization, project_id = a_place(api)
    first = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    second = a_review(organization.owner, a_draft(organization.owner, project_id, creates("b.md")))
    problem(merge(organization.owner, first, if_match="ref-none"), 400, "invalid_request")
    commit_id = ok(merge(organization.owner, first, if_match='"ref-none"'))["commit_id"]
    document = problem(merge(organization.owner, second, if_match='"ref-none"'), 412, "precondition_failed")
    assert (document["expected"], document["actual"]) == ("ref-none", commit_id)
    ok(merge(organization.owner, second, if_match=f'"{commit_id}"'))


def test_a_review_that_current_already_holds_merges_without_a_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    first, second = (
        a_review(organization.owner, a_draft(organization.owner, project_id, updates(known, "two\n"))) for _ in "12"
    )
    commit_id = ok(merge(organization.owner, first))["commit_id"]
    outcome = ok(merge(organization.owner, second))
    assert (outcome["already_published"], outcome["applied_operation_count"]) == (True, 0)
    assert (outcome["commit_id"], outcome["created"]) == (commit_id, [])
    assert len(items(organization.owner.get("/org/commits"))) == 2


def test_an_approval_counts_while_its_actor_is_owner_or_admin(api: Client) -> None:
    organization, project_id = a_place(api)
    admin = a_person(organization, "admin")
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    approved = ok(decide(admin.client, review, "approved"))
    ok(organization.owner.patch(f"/admin/users/{admin.user_id}", {"role": "member"}))
    problem(merge(admin.client, approved), 404, "not_found")
    merged = inside(ok(merge(organization.owner, approved)), "review")
    assert {approval["actor_id"] for approval in listed(merged, "approvals")} == {
        admin.user_id,
        organization.owner_id,
    }
