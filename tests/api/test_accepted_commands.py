"""What happens between a command's acceptance and its transaction is judged in the transaction (publication.md §6)."""

import pytest
from sqlalchemy import Engine, text

from tests.client import (
    Client,
    Json,
    a_person,
    ok,
)
from tests.held_lane import a_held_lane
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    inside,
    listed,
    outcome,
    published,
    references,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_every_command_is_accepted_whatever_becomes_of_it(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}"
    draft = ok(organization.owner.get(f"/drafts/{listed(review, 'drafts')[0]['draft_id']}"))
    with a_held_lane(engine, organization):
        version: Json = {"expected_review_version": 1}
        accepted = [
            organization.owner.post(f"{path}/submissions", {**version, "drafts": references([draft])}),
            organization.owner.post(f"{path}/decisions", {**version, "decision": "approved"}),
            organization.owner.post(f"{path}/withdrawals", {"expected_review_version": 2}),
            organization.owner.put(f"/projects/{project_id}/org-selections", {"resource_ids": []}, version=0),
        ]
        kinds = [ok(answer, 202)["kind"] for answer in accepted]
    assert kinds == ["review.resubmit", "review.decide", "review.withdraw", "selection.replace"]
    outcomes = [outcome(organization.owner, ok(answer, 202)) for answer in accepted]
    assert [operation["status"] for operation in outcomes] == ["succeeded", "failed", "succeeded", "succeeded"]
    assert inside(outcomes[1], "problem")["code"] == "version_conflict"


def test_of_two_selections_accepted_at_one_revision_the_second_is_a_conflict(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    path = f"/projects/{project_id}/org-selections"
    with a_held_lane(engine, organization):
        first, second = (ok(organization.owner.put(path, {"resource_ids": []}, version=1), 202) for _ in "12")
    assert outcome(organization.owner, first)["status"] == "succeeded"
    refusal = inside(outcome(organization.owner, second), "problem")
    assert (refusal["code"], refusal["expected"], refusal["actual"]) == ("version_conflict", 1, 2)


def test_a_ref_that_moves_after_acceptance_is_a_conflict(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    reviews = [
        a_review(organization.owner, a_draft(organization.owner, project_id, creates(f"{name}.md"))) for name in "ab"
    ]
    with a_held_lane(engine, organization):
        accepted = [
            organization.owner.post(
                f"/reviews/{review['review_id']}/merges",
                {"expected_review_version": 1},
                headers={"If-Match": '"ref-none"'},
            )
            for review in reviews
        ]
    outcomes = [outcome(organization.owner, ok(answer, 202)) for answer in accepted]
    assert sorted(str(operation["status"]) for operation in outcomes) == ["failed", "succeeded"]
    [merged] = [inside(operation, "result") for operation in outcomes if operation["status"] == "succeeded"]
    [refusal] = [inside(operation, "problem") for operation in outcomes if operation["status"] == "failed"]
    assert refusal["code"] == "version_conflict"
    assert (refusal["expected"], refusal["actual"]) == ("ref-none", merged["commit_id"])


def test_a_role_lost_after_acceptance_is_missed_in_the_transaction(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    admin = a_person(organization, "admin")
    with a_held_lane(engine, organization) as connection:
        path = f"/reviews/{review['review_id']}/merges"
        accepted = ok(admin.client.post(path, {"expected_review_version": 1}), 202)
        connection.execute(
            text("update users set role = 'member' where org_id = :org_id and user_id = :user_id"),
            {"org_id": organization.organization_id, "user_id": admin.user_id},
        )
    assert inside(outcome(organization.owner, accepted), "problem")["code"] == "not_found"
    assert ok(organization.owner.get(f"/reviews/{review['review_id']}"))["status"] == "open"
