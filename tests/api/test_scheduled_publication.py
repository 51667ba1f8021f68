"""`publish_at` over HTTP: set, moved, cancelled, and kept by the clock (publication.md §4)."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from tests.client import Client, Json, a_member, ok, problem, refused_fields
from tests.proposals import a_draft, a_place, a_review, creates, decide, listed, reread, resubmit, submit

pytestmark = pytest.mark.usefixtures("worker")

PATIENCE_S = 25


def from_now(seconds: float) -> str:
    """RFC 3339, as the API answers it."""
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def becomes(client: Client, review: Json, **expected: JsonValue) -> Json:
    """The Review once it is as expected."""
    deadline = time.monotonic() + PATIENCE_S
    while not (now := reread(client, review)).items() >= expected.items():
        assert time.monotonic() < deadline, now
        time.sleep(0.1)
    return now


def change(client: Client, review: Json, **changes: JsonValue) -> Json:
    version = reread(client, review)["version"]
    assert isinstance(version, int)
    return ok(client.patch(f"/reviews/{review['review_id']}", changes, version=version))


def test_an_approved_review_is_published_at_its_time_in_the_name_of_who_approved_last(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    at = from_now(2)
    review = ok(submit(organization.owner, draft, publish_at=at), 201)
    assert review["publish_at"] == at
    ok(decide(organization.owner, review, "approved"))
    assert ok(organization.owner.get("/org/commit-state"))["latest"] is None
    merged = becomes(organization.owner, review, status="merged")
    assert datetime.now(UTC) >= datetime.fromisoformat(at)
    last = listed(merged, "timeline")[-1]
    assert (last["event"], last["actor_id"]) == ("merged", organization.owner_id)
    assert ok(organization.owner.get("/org/commit-state"))["latest"] is not None


def test_what_is_not_approved_at_its_time_is_skipped(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    assert change(organization.owner, review, publish_at=from_now(1))["version"] == 2
    skipped = becomes(organization.owner, review, publish_at=None)
    last = listed(skipped, "timeline")[-1]
    assert (last["event"], last["reason"], last["actor_id"]) == ("publish_skipped", "approvals_missing", "system")
    assert (skipped["status"], skipped["version"]) == ("open", 3)


def test_a_time_is_moved_cancelled_and_kept_over_resubmissions(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    assert review["publish_at"] is None
    first, second = from_now(3_600), from_now(7_200)
    assert change(author, review, publish_at=first)["publish_at"] == first
    assert change(author, review, title="Another")["publish_at"] == first
    assert change(organization.owner, review, publish_at=second)["publish_at"] == second
    again = ok(resubmit(author, reread(author, review), reread(author, draft)))
    assert again["publish_at"] == second
    cancelled = change(author, review, publish_at=None)
    assert (cancelled["publish_at"], change(author, review, publish_at=None)["version"]) == (None, cancelled["version"])


@pytest.mark.parametrize(
    ("at", "rule"),
    [
        ("2020-01-01T00:00:00Z", "not_in_the_future"),
        ("2126-01-01T00:00:00", "rfc_3339"),
        ("tomorrow", "rfc_3339"),
        (1, "type"),
    ],
)
def test_a_time_that_is_past_or_names_no_instant_is_refused(api: Client, at: JsonValue, rule: str) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    assert refused_fields(submit(organization.owner, draft, publish_at=at)) == {("publish_at", rule)}
    review = a_review(organization.owner, draft)
    path = f"/reviews/{review['review_id']}"
    assert refused_fields(organization.owner.patch(path, {"publish_at": at}, version=1)) == {("publish_at", rule)}


def test_null_is_no_time_to_submit_with(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    assert refused_fields(submit(organization.owner, draft, publish_at=None)) == {("publish_at", "null")}


def test_the_author_owners_and_admins_schedule_and_nobody_else(api: Client) -> None:
    organization, project_id = a_place(api)
    author, other = (a_member(organization, project_id, role).client for role in ("member", "admin"))
    review = a_review(author, a_draft(author, project_id, creates("a.md")))
    path, body = f"/reviews/{review['review_id']}", {"publish_at": from_now(3_600)}
    problem(other.patch(path, body, version=1), 403, "forbidden")
    problem(author.patch(path, body), 428, "precondition_required")
    problem(author.patch(path, body, version=7), 412, "precondition_failed")
    ok(author.patch(path, body, version=1))


def test_a_policy_withdraws_a_review_that_waits_for_too_long(api: Client) -> None:
    organization, project_id = a_place(api)
    policy = {"review_reminder_after": 1, "review_expires_after": 2}
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(organization.owner.patch("/admin/organization", policy, version=1))
    expired = becomes(organization.owner, review, status="withdrawn", closed_reason="expired")
    assert [event["event"] for event in listed(expired, "timeline")] == ["submitted", "reminded", "expired"]
    assert {event["actor_id"] for event in listed(expired, "timeline")[1:]} == {"system"}
