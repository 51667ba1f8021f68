"""Reviews: submitted, read, resubmitted, decided, withdrawn, merged (publication.md §4, §6)."""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client import (
    Client,
    Json,
    Organization,
    Person,
    a_member,
    a_person,
    a_project,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    a_draft,
    a_review,
    all_items,
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
    renames,
    resubmit,
    select,
    submit,
    updates,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")


def a_place(api: Client) -> tuple[Organization, str]:
    organization = an_organization(api)
    return organization, a_project(organization.owner)


def reread(client: Client, resource: Json) -> Json:
    kind = "review" if "submissions" in resource else "draft"
    return ok(client.get(f"/{kind}s/{resource[f'{kind}_id']}"))


def test_a_new_review_has_everything_the_contract_names(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"), title="First")
    made = submit(organization.owner, draft, title="Say it", description="Why")
    review = ok(made, 201)
    assert made.headers["etag"] == '"1"'
    memory = {"memory_id": final(provisional(draft)), "path": "a.md"}
    submission = {
        "number": 1,
        "result_hash": review["result_hash"],
        "created_at": review["created_at"],
        "drafts": [{"draft_id": draft["draft_id"], "draft_version": 2}],
    }
    assert review == {
        "review_id": review["review_id"],
        "project_id": project_id,
        "author_id": organization.owner_id,
        "title": "Say it",
        "description": "Why",
        "status": "open",
        "closed_reason": None,
        "version": 1,
        "drafts": [
            {
                "draft_id": draft["draft_id"],
                "draft_version": 2,
                "title": "First",
                "status": "submitted",
                "freshness": "current",
                "reconciliation": "clean",
            }
        ],
        "submission": 1,
        "submissions": [submission],
        "approvals": [],
        "timeline": [
            {
                "at": review["created_at"],
                "actor_id": organization.owner_id,
                "event": "submitted",
                "submission": 1,
                "new_hash": review["result_hash"],
            }
        ],
        "mergeability": {
            "state": "mergeable",
            "computed_for": {"org_commit_id": None, "review_version": 1},
            "blockers": [],
            "result_hash": review["result_hash"],
            "creates": [memory],
            "updates": [],
            "deletes": [],
        },
        "result_hash": review["result_hash"],
        "publish_at": None,
        "created_at": review["created_at"],
        "updated_at": review["updated_at"],
    }
    assert reread(organization.owner, review) == review


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
    ({"publish_at": "2030-01-01T00:00:00Z"}, "publish_at", "unknown"),
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


@pytest.mark.parametrize("later", ["candidate_id", "resolved_state"])
def test_members_that_come_with_reconciliation_are_unknown_so_far(api: Client, later: str) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    reference: Json = {"draft_id": draft["draft_id"], "expected_draft_version": 1, later: "x"}
    body: Json = {"project_id": project_id, "title": "T", "drafts": [reference]}
    assert refused_fields(organization.owner.post("/reviews", body)) == {(f"drafts[0].{later}", "unknown")}


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
    assert (document["candidates"], document["memory_id"]) == ([], known)


def test_two_drafts_of_a_review_cannot_yet_change_one_memory(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    drafts = [a_draft(organization.owner, project_id, updates(known, description=text)) for text in ("a", "b")]
    problem(submit(organization.owner, *drafts), 409, "reconciliation_required")


def test_a_memory_has_to_be_selected_when_its_draft_is_submitted(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id, updates(known, "mine\n"))
    _while_away(organization, project_id, author, lambda: ok(select(organization.owner, project_id, [])))
    document = problem(submit(author.client, draft), 422, "memory_not_selected")
    assert (document["draft_id"], document["memory_id"]) == (draft["draft_id"], known)


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


def test_lists_leave_out_timeline_and_mergeability_and_filter(api: Client) -> None:
    organization, project_id = a_place(api)
    other_project = a_project(organization.owner)
    ids = [
        a_review(organization.owner, a_draft(organization.owner, project, creates(path)))["review_id"]
        for project, path in ((project_id, "a.md"), (project_id, "b.md"), (other_project, "c.md"))
    ]
    shown = items(organization.owner.get("/reviews"))
    assert [review["review_id"] for review in shown] == ids[::-1]
    assert not {"timeline", "mergeability"} & set(shown[0])
    assert [review["review_id"] for review in all_items(organization.owner, "/reviews", limit=1)] == ids[::-1]
    in_other = items(organization.owner.get("/reviews", project_id=other_project))
    assert [review["review_id"] for review in in_other] == ids[2:]
    assert items(organization.owner.get("/reviews", status="merged")) == []
    member = a_member(organization, other_project).client
    assert [review["review_id"] for review in items(member.get("/reviews"))] == ids[2:]
    assert items(member.get("/reviews", project_id=project_id)) == []
    assert refused_fields(member.get("/reviews", status="closed")) == {("status", "not_allowed")}


def test_diff_and_submissions_show_what_was_proposed_for_ever(api: Client) -> None:
    organization, project_id = a_place(api)
    known, gone = published(organization.owner, project_id, creates("a.md", "one\n"), creates("gone.md"))
    draft = a_draft(organization.owner, project_id, updates(known, "two\n"), deletes(gone))
    review = ok(decide(organization.owner, a_review(organization.owner, draft), "rejected"))
    draft = ok(append(organization.owner, reread(organization.owner, draft), updates(known, "three\n")))
    review = ok(resubmit(organization.owner, review, draft))
    path = f"/reviews/{review['review_id']}"

    def proposed(answer: Json) -> object:
        by_id = {memory["memory_id"]: memory for memory in listed(answer, "memories")}
        assert by_id[gone]["result"] is None
        assert inside(by_id[known], "base")["content"] == "one\n"
        return inside(by_id[known], "result")["content"]

    assert proposed(ok(organization.owner.get(f"{path}/diff"))) == "three\n"
    assert proposed(ok(organization.owner.get(f"{path}/diff", submission=1))) == "two\n"
    first = ok(organization.owner.get(f"{path}/submissions/1"))
    assert proposed(first) == "two\n"
    assert {name: first[name] for name in first if name != "memories"} == listed(review, "submissions")[0]
    for missing in (f"{path}/submissions/3", f"{path}/submissions/0", f"{path}/submissions/one"):
        problem(organization.owner.get(missing), 404, "not_found")
    problem(organization.owner.get(f"{path}/diff", submission=3), 404, "not_found")
    assert refused_fields(organization.owner.get(f"{path}/diff", submission="one")) == {("submission", "type")}


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
    _while_away(organization, project_id, person, lambda: ok(select(owner, project_id, [known, taken])))
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


def _while_away(organization: Organization, project_id: str, person: Person, act: Callable[[], object]) -> None:
    """Do something while a member has left the project, so that the member's open Drafts hold nothing."""
    members = f"/projects/{project_id}/members"
    assert organization.owner.delete(f"{members}/{person.user_id}").status_code == 204
    act()
    ok(organization.owner.post(members, {"user_id": person.user_id, "role": "member"}), 201)


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


def test_a_rejected_review_opens_again_by_resubmission(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    rejected = ok(decide(organization.owner, a_review(organization.owner, draft), "rejected"))
    review = ok(resubmit(organization.owner, rejected, reread(organization.owner, draft)))
    assert (review["status"], review["submission"]) == ("open", 2)
    ok(merge(organization.owner, review))


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


def test_title_and_description_change_the_version_and_nothing_else(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    review = ok(decide(organization.owner, a_review(author, a_draft(author, project_id, creates("a.md"))), "approved"))
    path = f"/reviews/{review['review_id']}"
    changed = author.patch(path, {"title": "Better", "description": "Said so"}, version=2)
    assert changed.headers["etag"] == '"3"'
    expected = {**review, "title": "Better", "description": "Said so", "version": 3}
    assert _without(ok(changed), "updated_at", "mergeability") == _without(expected, "updated_at", "mergeability")
    assert ok(organization.owner.patch(path, {"title": "Better"}, version=3))["version"] == 3
    assert ok(organization.owner.patch(path, {}, version=3))["version"] == 3
    outcome = ok(merge(organization.owner, ok(author.get(path))))
    assert inside(ok(author.get("/org/commit-state")), "latest")["message"] == "Better"
    merged = inside(outcome, "review")
    document = problem(author.patch(path, {"title": "Late"}, version=int(str(merged["version"]))), 409, "review_closed")
    assert (document["review_status"], document["commit_id"]) == ("merged", outcome["commit_id"])


def test_a_review_is_changed_at_the_version_that_was_read(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}"
    problem(organization.owner.patch(path, {"title": "x"}), 428, "precondition_required")
    document = problem(organization.owner.patch(path, {"title": "x"}, version=7), 412, "precondition_failed")
    assert (document["expected"], document["actual"]) == (7, 1)
    refused = organization.owner.patch(path, {"publish_at": None}, version=1)
    assert refused_fields(refused) == {("publish_at", "unknown")}


def test_somebody_elses_review_is_changed_by_owners_and_admins_only(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    review = a_review(author, a_draft(author, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}"
    problem(a_member(organization, project_id, "admin").client.patch(path, {"title": "x"}, version=1), 403, "forbidden")
    admin = a_person(organization, "admin").client
    assert ok(admin.patch(path, {"title": "x"}, version=1))["title"] == "x"


def test_mergeability_names_every_blocker_at_once(api: Client) -> None:
    organization, project_id = a_place(api)
    known, moved = published(organization.owner, project_id, creates("a.md", "one\n"), creates("moved.md"))
    draft = a_draft(organization.owner, project_id, updates(known, "mine\n"), creates("new.md"))
    review = a_review(organization.owner, draft)
    published(organization.owner, project_id, updates(known, "theirs\n"), renames(moved, "NEW.md"))
    mergeability = ok(organization.owner.get(f"/reviews/{review['review_id']}/mergeability"))
    assert mergeability["state"] == "blocked"
    blockers = listed(mergeability, "blockers")
    assert [blocker["code"] for blocker in blockers] == ["reconciliation_required", "reconciliation_required"]
    assert {blocker["draft_id"] for blocker in blockers} == {draft["draft_id"]}
    ref = inside(ok(organization.owner.get("/org/commit-state")), "ref")
    assert mergeability["computed_for"] == {"org_commit_id": ref["commit_id"], "review_version": 1}
    problem(merge(organization.owner, review), 409, "reconciliation_required")
    assert reread(organization.owner, review)["status"] == "open"


def test_mergeability_lists_what_would_be_created_updated_and_deleted(api: Client) -> None:
    organization, project_id = a_place(api)
    changed, gone = published(organization.owner, project_id, creates("a.md"), creates("gone.md"))
    draft = a_draft(organization.owner, project_id, renames(changed, "b.md"), deletes(gone), creates("c.md"))
    review = a_review(organization.owner, draft)
    mergeability = ok(organization.owner.get(f"/reviews/{review['review_id']}/mergeability"))
    assert mergeability["creates"] == [{"memory_id": final(provisional(draft, 2)), "path": "c.md"}]
    assert mergeability["updates"] == [{"memory_id": changed, "path": "b.md"}]
    assert mergeability["deletes"] == [{"memory_id": gone, "path": "gone.md"}]


def test_a_review_is_shown_as_it_was_at_one_moment_while_it_is_merged(api: Client) -> None:
    organization, project_id = a_place(api)
    seen: list[Json] = []
    with ThreadPoolExecutor(4) as readers:
        for number in range(5):
            operations = [creates(f"{number}/{name}.md") for name in range(50)]
            review = a_review(organization.owner, a_draft(organization.owner, project_id, *operations))
            merging = readers.submit(merge, organization.owner, review)
            while not merging.done():
                seen += readers.map(reread, [organization.owner] * 3, [review] * 3)
            ok(merging.result())
    moments = {
        (
            str(review["status"]),
            str(inside(review, "mergeability")["state"]),
            str(listed(review, "drafts")[0]["status"]),
        )
        for review in seen
    }
    assert moments <= {("open", "mergeable", "submitted"), ("merged", "closed", "merged")}


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


def test_deleting_a_project_leaves_its_reviews_to_owners_and_admins(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    assert organization.owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    problem(author.get(f"/reviews/{review['review_id']}"), 404, "not_found")
    problem(author.get(f"/drafts/{draft['draft_id']}"), 404, "not_found")
    closed = reread(organization.owner, review)
    assert (closed["status"], closed["closed_reason"]) == ("withdrawn", "project_deleted")
    assert [item["review_id"] for item in items(organization.owner.get("/reviews"))] == [review["review_id"]]


def test_deleting_a_user_withdraws_the_users_reviews(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    review = a_review(person.client, a_draft(person.client, project_id, creates("a.md")))
    assert organization.owner.delete(f"/admin/users/{person.user_id}").status_code == 204
    closed = reread(organization.owner, review)
    assert (closed["status"], closed["closed_reason"]) == ("withdrawn", "user_deleted")
    assert [draft["status"] for draft in listed(closed, "drafts")] == ["discarded"]


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


def _without(body: Json, *names: str) -> Json:
    return {name: value for name, value in body.items() if name not in names}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
