"""Of several things that do not hold in a transaction, the first of the list is the answer (publication.md §6)."""

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    a_project,
    ok,
    problem,
)
from tests.proposals import (
    WAIT,
    a_draft,
    a_place,
    a_review,
    append,
    creates,
    decide,
    deletes,
    merge,
    published,
    references,
    resubmit,
    submit,
    updates,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")

TOO_LARGE = b'"' + b"x" * (8 * 1024 * 1024) + b'"'
NOT_JSON = {"Content-Type": "text/plain"}
AS_JSON = {"Content-Type": "application/json"}


def test_a_merges_stale_ref_is_answered_at_once_and_before_anything_of_the_review(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(withdraw(organization.owner, review))
    refused = merge(organization.owner, review, if_match='"ref-other"')
    problem(refused, 412, "precondition_failed")
    assert "location" not in refused.headers
    refused = merge(organization.owner, review, if_match='"ref-none"')
    problem(refused, 409, "review_closed")
    assert "location" in refused.headers


def test_a_closed_review_goes_before_an_archived_project_and_a_stale_version(api: Client) -> None:
    organization, project_id = a_place(api)
    closed = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(withdraw(organization.owner, closed))
    still_open = a_review(organization.owner, a_draft(organization.owner, project_id, creates("b.md")))
    stale: Json = {**still_open, "version": 9}
    problem(decide(organization.owner, stale, "approved"), 409, "version_conflict")
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(merge(organization.owner, closed), 409, "review_closed")
    problem(decide(organization.owner, closed, "approved"), 409, "review_closed")
    problem(withdraw(organization.owner, closed), 409, "review_closed")
    problem(merge(organization.owner, stale), 409, "project_archived")
    problem(decide(organization.owner, stale, "approved"), 409, "project_archived")
    problem(withdraw(organization.owner, stale), 409, "project_archived")


def test_a_drafts_state_goes_before_its_project_and_version(api: Client) -> None:
    organization, project_id = a_place(api)
    gone, in_review, still_open = (a_draft(organization.owner, project_id, creates(f"{n}.md")) for n in "abc")
    ok(organization.owner.delete(f"/drafts/{gone['draft_id']}", version=1))
    a_review(organization.owner, in_review)
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(submit(organization.owner, still_open, in_review, gone), 409, "draft_closed")
    problem(submit(organization.owner, still_open, in_review), 409, "draft_submitted")
    problem(submit(organization.owner, {**still_open, "version": 9}), 409, "project_archived")
    problem(append(organization.owner, {**gone, "version": 2}, deletes("mem_unknown")), 409, "draft_closed")
    problem(append(organization.owner, {**in_review, "version": 2}, deletes("mem_unknown")), 409, "draft_submitted")
    problem(append(organization.owner, still_open, deletes("mem_unknown")), 409, "project_archived")


def test_a_submission_is_stale_before_it_is_empty_and_empty_before_it_is_in_conflict(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    empty = a_draft(organization.owner, project_id)
    behind = a_draft(organization.owner, project_id, updates(known, "mine\n"))
    published(organization.owner, project_id, updates(known, "theirs\n"))
    problem(submit(organization.owner, behind, {**empty, "version": 9}), 409, "version_conflict")
    problem(submit(organization.owner, behind, empty), 422, "draft_empty")
    problem(submit(organization.owner, behind), 409, "reconciliation_required")


def test_an_append_names_syntax_before_targets_and_targets_before_the_selection(api: Client) -> None:
    organization, project_id = a_place(api)
    [elsewhere] = published(organization.owner, a_project(organization.owner), creates("a.md"))
    draft = a_draft(organization.owner, project_id)
    wrong_path, no_target, not_selected = creates("../x"), deletes("mem_unknown"), deletes(elsewhere)
    refused = append(organization.owner, draft, not_selected, no_target, wrong_path)
    assert problem(refused, 422, "operation_invalid")["index"] == 2
    refused = append(organization.owner, draft, not_selected, no_target)
    assert problem(refused, 422, "target_missing")["index"] == 1
    assert problem(append(organization.owner, draft, not_selected), 422, "memory_not_selected")["index"] == 0


def test_a_selection_is_archived_before_stale_duplicates_before_what_is_in_use(api: Client) -> None:
    organization, project_id = a_place(api)
    known, other = published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    a_draft(organization.owner, project_id, deletes(known))
    path = f"/projects/{project_id}/org-selections"
    twice: Json = {"resource_ids": [other, other]}
    problem(organization.owner.put(path, twice, version=1, headers=WAIT), 422, "duplicate_id")
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(organization.owner.put(path, twice, version=1, headers=WAIT), 409, "project_archived")
    problem(organization.owner.put(path, twice, version=0, headers=WAIT), 412, "precondition_failed")


def test_an_approval_that_does_not_cover_the_result_comes_after_everything_about_the_result(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    review = a_review(organization.owner, a_draft(organization.owner, project_id, updates(known, "mine\n")))
    problem(merge(organization.owner, review, expected_result_hash="0" * 64), 409, "approval_invalidated")
    published(organization.owner, project_id, updates(known, "theirs\n"))
    problem(merge(organization.owner, review, expected_result_hash="0" * 64), 409, "reconciliation_required")


def test_a_resubmission_by_somebody_else_is_forbidden_before_its_drafts_are_looked_for(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    review = a_review(author, a_draft(author, project_id, creates("a.md")))
    other = a_draft(author, project_id, creates("b.md"))
    admin = a_person(organization, "admin").client
    problem(resubmit(admin, review, other), 403, "forbidden")
    body: Json = {"expected_review_version": 1, "drafts": references([other])}
    problem(author.post(f"/reviews/{review['review_id']}/submissions", {**body, "no_such": 1}), 400, "invalid_request")
