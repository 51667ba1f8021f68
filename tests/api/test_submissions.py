"""Submitting Drafts: what becomes a Review, and every refusal (publication.md §4, §6)."""

import hashlib
import json

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_project,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    append,
    creates,
    decide,
    deletes,
    final,
    inside,
    listed,
    merge,
    provisional,
    published,
    references,
    reread,
    select,
    submit,
    updates,
    while_away,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_review_does_not_exist_when_its_submit_was_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    problem(submit(organization.owner, draft), 422, "draft_empty")
    assert items(organization.owner.get("/reviews")) == []
    assert reread(organization.owner, draft)["version"] == 1


def test_unknown_and_foreign_drafts_are_not_found_at_once(api: Client) -> None:
    organization, project_id = a_place(api)
    mine = a_draft(organization.owner, project_id, creates("a.md"))
    theirs = a_draft(a_member(organization, project_id).client, project_id, creates("b.md"))
    unknown: Json = {"draft_id": "drf_unknown", "version": 1}
    for other in (theirs, unknown):
        body: Json = {"project_id": project_id, "title": "T", "drafts": references([mine, other])}
        problem(organization.owner.post("/reviews", body), 404, "not_found")


REFUSED_SUBMISSIONS: list[tuple[Json, str, str]] = [
    ({"drafts": []}, "drafts", "too_short"),
    ({"title": " "}, "title", "blank"),
    ({"title": "t" * 201}, "title", "too_long"),
    ({"title": None}, "title", "null"),
    ({"publish_when": "2030-01-01T00:00:00Z"}, "publish_when", "unknown"),
    ({"description": "d" * 65_537}, "description", "too_long"),
]


@pytest.mark.parametrize(("change", "field", "rule"), REFUSED_SUBMISSIONS)
def test_what_a_schema_can_tell_of_a_submission_is_refused_at_once(
    api: Client, change: Json, field: str, rule: str
) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    assert refused_fields(organization.owner.post("/reviews", {**body, **change})) == {(field, rule)}


def test_a_review_holds_at_most_a_hundred_drafts(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft] * 101)}
    assert refused_fields(organization.owner.post("/reviews", body)) == {("drafts", "too_long")}


def test_a_draft_stands_once_in_a_review(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    document = problem(submit(organization.owner, draft, draft), 422, "duplicate_id")
    assert document["draft_id"] == draft["draft_id"]


def test_a_draft_is_submitted_at_the_version_its_author_saw(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    ok(append(organization.owner, draft, creates("b.md")))
    document = problem(submit(organization.owner, draft), 409, "version_conflict")
    assert (document["expected"], document["actual"]) == (1, 2)


def test_drafts_of_two_projects_make_no_review(api: Client) -> None:
    organization, project_id = a_place(api)
    here = a_draft(organization.owner, project_id, creates("a.md"))
    there = a_draft(organization.owner, a_project(organization.owner), creates("b.md"))
    document = problem(submit(organization.owner, here, there), 422, "operation_invalid")
    assert (document["index"], document["rule"]) == (1, "other_project")


def test_a_draft_is_in_one_review_at_a_time(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    a_review(organization.owner, draft)
    problem(submit(organization.owner, reread(organization.owner, draft)), 409, "draft_submitted")


def test_an_archived_project_takes_no_submissions(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    review = a_review(organization.owner, draft)
    other = a_draft(organization.owner, project_id, creates("b.md"))
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(submit(organization.owner, other), 409, "project_archived")
    problem(decide(organization.owner, review, "approved"), 409, "project_archived")
    problem(merge(organization.owner, review), 409, "project_archived")
    problem(withdraw(organization.owner, review), 409, "project_archived")
    patched = organization.owner.patch(f"/reviews/{review['review_id']}", {"title": "x"}, version=1)
    problem(patched, 409, "project_archived")
    blockers = listed(inside(reread(organization.owner, review), "mergeability"), "blockers")
    assert [blocker["code"] for blocker in blockers] == ["project_archived"]


def test_a_change_that_current_already_holds_is_empty(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    draft = a_draft(organization.owner, project_id, updates(known, "two\n"))
    published(organization.owner, project_id, updates(known, "two\n"))
    document = problem(submit(organization.owner, draft), 422, "draft_empty")
    assert document["draft_id"] == draft["draft_id"]


def test_a_draft_whose_result_stays_equal_is_brought_up_to_date_by_submit(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    draft = a_draft(organization.owner, project_id, updates(known, "two\n"))
    published(organization.owner, project_id, creates("apart.md"))
    review = a_review(organization.owner, draft)
    state = ok(organization.owner.get("/org/commit-state"))
    after = reread(organization.owner, draft)
    assert after["base_commit_id"] == inside(state, "ref")["commit_id"]
    assert (after["version"], inside(after, "coordination")["freshness"]) == (2, "current")
    ok(merge(organization.owner, review))


def test_a_draft_that_current_changed_needs_reconciliation(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    draft = a_draft(organization.owner, project_id, updates(known, "mine\n"))
    published(organization.owner, project_id, updates(known, "theirs\n"))
    document = problem(submit(organization.owner, draft), 409, "reconciliation_required")
    assert document["memory_id"] == known
    [candidate] = listed(document, "candidates")
    assert candidate["draft_id"] == draft["draft_id"]
    assert [conflict["code"] for conflict in listed(candidate, "conflicts")] == ["body.overlap"]


def test_two_drafts_of_a_review_cannot_change_one_field_of_a_memory_each_its_own_way(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    drafts = [a_draft(organization.owner, project_id, updates(known, description=text)) for text in ("a", "b")]
    problem(submit(organization.owner, *drafts), 409, "reconciliation_required")
    ok(submit(organization.owner, drafts[0], a_draft(organization.owner, project_id, updates(known, "two\n"))), 201)


def test_a_memory_has_to_be_selected_when_its_draft_is_submitted(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id, updates(known, "mine\n"))
    while_away(organization, project_id, author, lambda: ok(select(organization.owner, project_id, [])))
    document = problem(submit(author.client, draft), 422, "memory_not_selected")
    assert (document["draft_id"], document["memory_id"]) == (draft["draft_id"], known)


def test_a_later_draft_may_build_on_what_an_earlier_one_creates(api: Client) -> None:
    organization, project_id = a_place(api)
    first = a_draft(organization.owner, project_id, creates("a.md", "one\n"))
    second = a_draft(organization.owner, project_id, updates(provisional(first), "two\n"))
    outcome = ok(merge(organization.owner, a_review(organization.owner, first, second)))
    assert [created["draft_id"] for created in listed(outcome, "created")] == [first["draft_id"]]
    assert outcome["applied_operation_count"] == 1
    memory = ok(organization.owner.get(f"/org/memories/{final(provisional(first))}"))
    assert memory["content"] == "two\n"


def test_the_order_of_the_drafts_matters(api: Client) -> None:
    organization, project_id = a_place(api)
    first = a_draft(organization.owner, project_id, creates("a.md", "one\n"))
    second = a_draft(organization.owner, project_id, updates(provisional(first), "two\n"))
    document = problem(submit(organization.owner, second, first), 422, "target_missing")
    assert (document["draft_id"], document["index"]) == (second["draft_id"], 0)


def test_a_result_hash_is_the_hash_of_the_final_states(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n", "About"))
    draft = a_draft(organization.owner, project_id, creates("b.md", "two\n"), deletes(known))
    review = a_review(organization.owner, draft)
    made = final(provisional(draft))
    rows = [
        [known, False, None, None, None, None],
        [made, True, "b.md", "", f"sha256:{_sha256('two' + chr(10))}", project_id],
    ]
    canonical = json.dumps(sorted(rows, key=lambda row: str(row[0])), separators=(",", ":"))
    assert review["result_hash"] == _sha256(canonical)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
