"""Dry runs of submissions and merges: the real answer without ids, or the same problem, and nothing stored (§6)."""

import threading

import pytest
from sqlalchemy import Engine, text

from tests.client import Client, Json, Organization, a_member, a_token, items, ok, problem
from tests.proposals import (
    WAIT,
    a_draft,
    a_place,
    a_review,
    creates,
    decide,
    deletes,
    inside,
    listed,
    merge,
    published,
    references,
    reread,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")

TRIED = "dry_run=true"
COUNTED = (
    "drafts",
    "draft_operations",
    "draft_revisions",
    "reviews",
    "review_submissions",
    "review_approvals",
    "reconciliation_candidates",
    "operations",
    "commits",
    "memory_versions",
    "blobs",
    "events",
    "audit_events",
    "idempotency_keys",
)


def a_submission(*drafts: Json, title: str = "A Review") -> Json:
    return {"project_id": drafts[0]["project_id"], "title": title, "drafts": references(drafts)}


def rows(engine: Engine, organization: Organization) -> dict[str, int]:
    """How many rows of each kind the organization has, and the versions of what may change in place."""
    with engine.connect() as connection:
        names = {"o": organization.organization_id}
        counted = {
            table: int(connection.execute(text(f"select count(*) from {table} where org_id = :o"), names).scalar_one())  # noqa: S608
            for table in COUNTED
        }
        for table in ("drafts", "reviews", "organization_refs", "project_refs"):
            statement = f"select coalesce(sum(version), 0) from {table} where org_id = :o"  # noqa: S608
            counted[f"{table} versions"] = int(connection.execute(text(statement), names).scalar_one())
    return counted


def without(body: Json, *names: str) -> Json:
    return {name: value for name, value in body.items() if name not in names}


MOMENTS = ("created_at", "updated_at", "submissions", "timeline", "approvals")


def test_a_tried_submission_is_answered_like_the_real_one_and_stores_nothing(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    before = rows(engine, organization)
    tried = ok(author.post(f"/reviews?{TRIED}", a_submission(draft), key="one", headers=WAIT))
    assert rows(engine, organization) == before
    made = ok(author.post("/reviews", a_submission(draft), key="one", headers=WAIT), 201)
    assert tried.keys() ^ made.keys() == {"review_id", "dry_run"}
    assert tried["dry_run"] is True
    assert without(tried, "dry_run", *MOMENTS) == without(made, "review_id", *MOMENTS)
    assert [event["event"] for event in listed(tried, "timeline")] == ["submitted"]


def test_a_tried_resubmission_shows_what_becomes_of_approvals(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft, other = (a_draft(author, project_id, creates(path)) for path in ("a.md", "b.md"))
    review = ok(decide(organization.owner, a_review(author, draft), "approved"))
    before = rows(engine, organization)
    body: Json = {"expected_review_version": review["version"], "drafts": references([reread(author, draft), other])}
    path = f"/reviews/{review['review_id']}/submissions"
    tried = ok(author.post(f"{path}?{TRIED}", body))
    assert rows(engine, organization) == before
    assert (tried["status"], tried["approvals"], tried["submission"]) == ("open", [], 2)
    assert tried["review_id"] == review["review_id"]
    made = ok(author.post(path, body, headers=WAIT))
    assert (made["result_hash"], made["version"]) == (tried["result_hash"], tried["version"])
    problem(author.post(f"{path}?{TRIED}", body), 409, "version_conflict")


def test_a_tried_merge_runs_every_check_and_publishes_nothing(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    kept, gone = published(owner, project_id, creates("kept.md"), creates("gone.md"))
    draft = a_draft(owner, project_id, updates(kept, "new\n"), deletes(gone), creates("made.md"))
    review = a_review(owner, draft)
    path, body = f"/reviews/{review['review_id']}/merges", {"expected_review_version": review["version"]}
    before = rows(engine, organization)
    tried = ok(owner.post(f"{path}?{TRIED}", body))
    assert rows(engine, organization) == before
    assert reread(owner, review) == review
    made = ok(owner.post(path, body, headers=WAIT))
    assert tried.keys() ^ made.keys() == {"commit_id", "dry_run"}
    facts = ("applied_operation_count", "already_published", "created")
    assert [tried[name] for name in facts] == [made[name] for name in facts]
    assert inside(tried, "review")["status"] == "merged"
    (approval,) = listed(inside(tried, "review"), "approvals")
    assert approval.keys() == {"actor_id", "submission", "result_hash", "created_at"}
    problem(owner.post(f"{path}?{TRIED}", body), 409, "review_closed")


@pytest.mark.parametrize("tries", ["submission", "resubmission", "merge"])
def test_a_trial_that_needs_reconciliation_shows_candidates_and_keeps_none(
    api: Client, engine: Engine, tries: str
) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    (memory_id,) = published(owner, project_id, creates("a.md", "one\n"))
    draft = a_draft(owner, project_id, updates(memory_id, "ours\n"))
    review = None if tries == "submission" else a_review(owner, draft)
    _let_no_pass_come(engine, organization)
    published(owner, project_id, updates(memory_id, "theirs\n"))
    version = 0 if review is None else review["version"]
    draft = reread(owner, draft)
    path, body = {
        "submission": ("/reviews", a_submission(draft)),
        "resubmission": ("submissions", {"expected_review_version": version, "drafts": references([draft])}),
        "merge": ("merges", {"expected_review_version": version}),
    }[tries]
    path = path if review is None else f"/reviews/{review['review_id']}/{path}"
    tried = problem(owner.post(f"{path}?{TRIED}", body), 409, "reconciliation_required")
    (candidate,) = listed(tried, "candidates")
    assert "candidate_id" not in candidate
    real = problem(owner.post(path, body, headers=WAIT), 409, "reconciliation_required")
    (kept,) = listed(real, "candidates")
    assert without(candidate, "created_at") == without(kept, "created_at", "candidate_id")
    tried = problem(owner.post(f"{path}?{TRIED}", body), 409, "reconciliation_required")
    assert listed(tried, "candidates")[0]["candidate_id"] == kept["candidate_id"]


def _let_no_pass_come(engine: Engine, organization: Organization) -> None:
    """Have the pass after a publication find nothing to do: it would keep a candidate as well, sooner or later."""
    with engine.begin() as connection:
        connection.execute(
            text("update drafts set reconciled_version = 1000 where org_id = :o"), {"o": organization.organization_id}
        )


def test_a_trial_asks_for_what_the_command_asks_for_in_the_same_order(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    merges = f"/reviews/{review['review_id']}/merges?{TRIED}"
    body: Json = {"expected_review_version": review["version"]}
    problem(author.post(merges, body), 403, "forbidden")
    problem(owner.with_token(a_token(owner, None, "read")).post(merges, body), 403, "forbidden")
    problem(owner.post("/reviews/rev_none/merges?dry_run=true", body), 404, "not_found")
    problem(owner.post(f"/reviews/{review['review_id']}/merges?dry_run=yes", body), 400, "invalid_request")
    problem(owner.post(merges, {}), 400, "invalid_request")
    problem(owner.post(merges, body, headers={"If-Match": f'"{"0" * 64}"'}), 412, "precondition_failed")
    stale: Json = {**body, "expected_result_hash": "0" * 64}
    problem(owner.post(merges, stale), 409, "approval_invalidated")
    problem(author.post(f"/reviews?{TRIED}", a_submission(draft)), 409, "draft_submitted")
    problem(owner.post(f"/reviews/{review['review_id']}/decisions?{TRIED}", {}), 400, "invalid_request")


def test_trials_beside_merges_wait_their_turn_and_hold_nobody_up(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    reviews = [a_review(owner, a_draft(owner, project_id, creates(f"{number}.md"))) for number in range(6)]
    tried_one, merged_ones = reviews[0], reviews[1:]
    failures: list[str] = []

    def try_it() -> None:
        for _ in range(6):
            answered = owner.post(f"/reviews/{tried_one['review_id']}/merges?{TRIED}", {"expected_review_version": 1})
            if answered.status_code != 200:
                failures.append(answered.text)

    threads = [threading.Thread(target=try_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for review in merged_ones:
        ok(merge(owner, review))
    for thread in threads:
        thread.join()
    assert failures == []
    assert {memory["path"] for memory in items(owner.get("/org/memories"))} == {f"{n}.md" for n in range(1, 6)}
    ok(merge(owner, tried_one))
