"""A new submission of a Review: Drafts come and go, approvals stay or fall (publication.md §4)."""

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_project,
    ok,
    problem,
)
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    decide,
    deletes,
    listed,
    merge,
    provisional,
    published,
    reread,
    resubmit,
    select,
    updates,
    while_away,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_resubmission_replaces_the_drafts_and_those_left_out_reopen(api: Client) -> None:
    organization, project_id = a_place(api)
    kept, left, joins = (a_draft(organization.owner, project_id, creates(f"{name}.md")) for name in "abc")
    review = a_review(organization.owner, kept, left)
    kept = reread(organization.owner, kept)
    review = ok(resubmit(organization.owner, review, kept, joins, title="Again", description="More"))
    assert (review["submission"], review["version"], review["status"]) == (2, 2, "open")
    assert (review["title"], review["description"]) == ("Again", "More")
    assert [draft["draft_id"] for draft in listed(review, "drafts")] == [kept["draft_id"], joins["draft_id"]]
    assert reread(organization.owner, left)["status"] == "open"
    assert reread(organization.owner, kept)["version"] == kept["version"]
    assert [event["event"] for event in listed(review, "timeline")] == ["submitted", "resubmitted"]


def test_a_resubmission_is_refused_like_a_first_one(api: Client) -> None:
    organization, project_id = a_place(api)
    owner, person = organization.owner, a_member(organization, project_id)
    author = person.client
    paths = ("a.md", "taken.md", "unselected.md")
    known, taken, unselected = published(owner, project_id, *(creates(path) for path in paths))
    behind = a_draft(author, project_id, updates(known, "mine\n"))
    published(owner, project_id, updates(known, "theirs\n"))
    not_selected = a_draft(author, project_id, deletes(unselected))
    while_away(organization, project_id, person, lambda: ok(select(owner, project_id, [known, taken])))
    member = a_draft(author, project_id, creates("b.md"))
    review = a_review(author, member)
    member = reread(author, member)
    other, gone, later = (a_draft(author, project_id, creates(f"{name}.md")) for name in "cde")
    a_review(author, other)
    ok(author.delete(f"/drafts/{gone['draft_id']}", version=1))
    refusals: list[tuple[Json, int, str]] = [
        (reread(author, gone), 409, "draft_closed"),
        (reread(author, other), 409, "draft_submitted"),
        ({**later, "version": 9}, 409, "version_conflict"),
        (a_draft(author, project_id), 422, "draft_empty"),
        (a_draft(author, a_project(author), creates("f.md")), 422, "operation_invalid"),
        (a_draft(author, project_id, updates(provisional(later), "x\n")), 422, "target_missing"),
        (not_selected, 422, "memory_not_selected"),
        (member, 422, "duplicate_id"),
        (behind, 409, "reconciliation_required"),
        (a_draft(author, project_id, creates("taken.md/g.md")), 409, "path_collision"),
    ]
    for draft, status, code in refusals:
        problem(resubmit(author, review, member, draft), status, code)
    assert reread(author, review) == review
    ok(owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(resubmit(author, review, member), 409, "project_archived")


def test_only_the_author_resubmits(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    problem(resubmit(organization.owner, review, reread(author, draft)), 403, "forbidden")
    problem(resubmit(author, review, {"draft_id": "drf_unknown", "version": 1}), 404, "not_found")


def test_a_resubmission_of_the_same_result_keeps_the_approval_and_another_drops_it(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    review = ok(decide(organization.owner, a_review(organization.owner, draft), "approved"))
    approval = listed(review, "approvals")
    review = ok(resubmit(organization.owner, review, reread(organization.owner, draft)))
    assert (review["status"], review["approvals"]) == ("approved", approval)
    other = a_draft(organization.owner, project_id, creates("b.md"))
    changed = ok(resubmit(organization.owner, review, reread(organization.owner, draft), other))
    assert (changed["status"], changed["approvals"]) == ("open", [])
    dropped = [event for event in listed(changed, "timeline") if event["event"] == "approval_dropped"]
    assert [(event["old_hash"], event["new_hash"]) for event in dropped] == [
        (review["result_hash"], changed["result_hash"])
    ]


def test_a_rejected_review_opens_again_by_resubmission(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    rejected = ok(decide(organization.owner, a_review(organization.owner, draft), "rejected"))
    review = ok(resubmit(organization.owner, rejected, reread(organization.owner, draft)))
    assert (review["status"], review["submission"]) == ("open", 2)
    ok(merge(organization.owner, review))
