"""Reviews as they are read, listed and amended (publication.md §4, §6)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
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
    all_items,
    append,
    at_version,
    creates,
    decide,
    deletes,
    final,
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
from tests.reconciliation_over_http import make_candidate

pytestmark = pytest.mark.usefixtures("worker")


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
    refused = organization.owner.patch(path, {"status": "merged"}, version=1)
    assert refused_fields(refused) == {("status", "unknown")}


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
    changes = [updates(known, "mine\n"), creates("new.md")]
    drafts = [a_draft(organization.owner, project_id, change) for change in changes]
    review = a_review(organization.owner, *drafts)
    published(organization.owner, project_id, updates(known, "theirs\n"), renames(moved, "NEW.md"))
    mergeability = ok(organization.owner.get(f"/reviews/{review['review_id']}/mergeability"))
    assert mergeability["state"] == "blocked"
    blockers = listed(mergeability, "blockers")
    assert [blocker["code"] for blocker in blockers] == ["reconciliation_required", "reconciliation_required"]
    assert [blocker["draft_id"] for blocker in blockers] == [draft["draft_id"] for draft in drafts]
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


@pytest.mark.parametrize("ending", ["withdrawn", "rejected"])
def test_what_becomes_of_a_draft_after_its_review_is_seen_by_its_author_alone(api: Client, ending: str) -> None:
    organization, project_id = a_place(api)
    author, colleague = a_member(organization, project_id).client, a_member(organization, project_id).client
    (known,) = published(organization.owner, project_id, creates("a.md"))
    draft = a_draft(author, project_id, updates(known, "mine\n"), title="As submitted")
    review = a_review(author, draft)
    ok(withdraw(author, review) if ending == "withdrawn" else decide(organization.owner, review, "rejected"))
    path = f"/reviews/{review['review_id']}"
    before, (listed_before,) = ok(colleague.get(path)), items(colleague.get("/reviews", status=ending))
    draft = reread(author, draft)
    ok(author.patch(f"/drafts/{draft['draft_id']}", {"title": "Private"}, headers=at_version(draft)))
    ok(append(author, reread(author, draft), creates("secret.md")))
    published(organization.owner, project_id, updates(known, "theirs\n"))
    draft = reread(author, draft)
    ok(make_candidate(author, draft))
    assert inside(reread(author, draft), "coordination")["reconciliation"] == "conflicts"
    after, (listed_after,) = ok(colleague.get(path)), items(colleague.get("/reviews", status=ending))
    assert (_without(after, "mergeability"), listed_after) == (_without(before, "mergeability"), listed_before)
    (shown,) = listed(after, "drafts")
    assert (shown["title"], shown["status"], shown["freshness"], shown["reconciliation"]) == (
        "As submitted",
        "open",
        None,
        None,
    )


def test_a_draft_that_another_review_holds_now_shows_how_it_stands_in_that_one_alone(api: Client) -> None:
    organization, project_id = a_place(api)
    author = organization.owner
    draft = a_draft(author, project_id, creates("a.md"), title="First")
    withdrawn = a_review(author, draft)
    ok(withdraw(author, withdrawn))
    draft = reread(author, draft)
    titled = ok(author.patch(f"/drafts/{draft['draft_id']}", {"title": "Second"}, headers=at_version(draft)))
    holding = a_review(author, titled)
    shown = {
        review["review_id"]: [(each["title"], each["status"], each["freshness"]) for each in listed(review, "drafts")]
        for review in items(author.get("/reviews"))
    }
    assert shown == {
        withdrawn["review_id"]: [("First", "submitted", None)],
        holding["review_id"]: [("Second", "submitted", "current")],
    }


def _without(body: Json, *names: str) -> Json:
    return {name: value for name, value in body.items() if name not in names}
