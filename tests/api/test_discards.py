"""Discarding Drafts, one's own and others', and what becomes of their Reviews (publication.md §2)."""

import pytest

from tests.client import (
    Client,
    a_member,
    a_person,
    items,
    ok,
    problem,
)
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    listed,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_its_author_discards_a_draft_at_the_version_that_was_read(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    path = f"/drafts/{draft['draft_id']}"
    problem(author.delete(path), 428, "precondition_required")
    problem(author.delete(path, version=7), 412, "precondition_failed")
    discarded = author.delete(path, version=1)
    assert (ok(discarded)["status"], ok(discarded)["version"], discarded.headers["etag"]) == ("discarded", 2, '"2"')
    assert ok(discarded)["operations"] == draft["operations"]
    assert ok(discarded)["coordination"] is None
    document = problem(author.delete(path, version=2), 409, "draft_closed")
    assert document["draft_id"] == draft["draft_id"]


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_discard_their_own_draft_without_a_version_but_a_given_one_is_compared(
    api: Client, role: str
) -> None:
    organization, project_id = a_place(api)
    author = a_person(organization, role).client
    draft = a_draft(author, project_id, creates("a.md"))
    path = f"/drafts/{draft['draft_id']}"
    problem(author.delete(path, version=7), 412, "precondition_failed")
    assert ok(author.delete(path))["operations"] == draft["operations"]


def test_owners_and_admins_discard_anybodys_draft_unseen(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    first, second = (a_draft(author, project_id, creates("a.md")) for _ in range(2))
    gone = ok(organization.owner.delete(f"/drafts/{first['draft_id']}"))
    assert gone == {"draft_id": first["draft_id"], "status": "discarded", "version": 2}
    problem(organization.owner.delete(f"/drafts/{second['draft_id']}", version=9), 412, "precondition_failed")
    ok(organization.owner.delete(f"/drafts/{second['draft_id']}", version=1))
    audited = items(organization.owner.get("/admin/audit-events", resource_id=str(first["draft_id"])))
    assert ("draft.discard", organization.owner_id) in {(event["action"], event["actor"]) for event in audited}


def test_other_members_cannot_discard_a_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(a_member(organization, project_id).client, project_id)
    other = a_member(organization, project_id, "admin").client
    problem(other.delete(f"/drafts/{draft['draft_id']}", version=1), 404, "not_found")


def test_discarding_one_of_a_reviews_drafts_submits_what_is_left(api: Client) -> None:
    organization, project_id = a_place(api)
    first, second = (a_draft(organization.owner, project_id, creates(f"{name}.md")) for name in "ab")
    review = a_review(organization.owner, first, second)
    ok(organization.owner.delete(f"/drafts/{first['draft_id']}", version=2))
    left = ok(organization.owner.get(f"/reviews/{review['review_id']}"))
    assert (left["status"], left["submission"]) == ("open", 2)
    assert left["result_hash"] != review["result_hash"]
    assert [draft["draft_id"] for draft in listed(left, "drafts")] == [second["draft_id"]]


def test_discarding_the_last_draft_of_a_review_withdraws_it(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    ok(organization.owner.delete(f"/drafts/{draft['draft_id']}"))
    withdrawn = ok(author.get(f"/reviews/{review['review_id']}"))
    assert (withdrawn["status"], withdrawn["closed_reason"]) == ("withdrawn", "last_draft_discarded")
