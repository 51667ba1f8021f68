"""Submit and poll: what is accepted, waited for, replayed and read (publication.md §6)."""

import time

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    a_token,
    an_organization,
    ok,
    problem,
)
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
    outcome,
    published,
    references,
    select,
    submit,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_command_is_accepted_with_its_operation(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    accepted = organization.owner.post("/reviews", body)
    operation = ok(accepted, 202)
    assert accepted.headers["location"] == f"/v1/api/operations/{operation['operation_id']}"
    assert "preference-applied" not in accepted.headers
    assert operation == {
        "operation_id": operation["operation_id"],
        "kind": "review.submit",
        "status": "pending",
        "progress": {"step": "accepted", "done": 0, "total": 1},
        "result": None,
        "problem": None,
        "workflow_id": operation["workflow_id"],
        "created_at": operation["created_at"],
        "updated_at": operation["created_at"],
    }
    assert str(operation["workflow_id"]).startswith("review/rev_")


def test_the_operations_result_is_what_a_synchronous_route_would_answer(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    operation = outcome(organization.owner, ok(organization.owner.post("/reviews", body), 202))
    review = inside(operation, "result")
    assert (operation["status"], operation["problem"]) == ("succeeded", None)
    assert operation["progress"] == {"step": "succeeded", "done": 1, "total": 1}
    assert review == ok(organization.owner.get(f"/reviews/{review['review_id']}"))
    waited = merge(organization.owner, review)
    assert waited.headers["preference-applied"] == "wait=25"
    merged = ok(organization.owner.get(waited.headers["location"]))
    assert (merged["kind"], merged["result"]) == ("review.merge", ok(waited))


def test_a_refusal_is_the_operations_problem_and_the_answer_of_who_waits(api: Client) -> None:
    organization, project_id = a_place(api)
    waited = submit(organization.owner, a_draft(organization.owner, project_id))
    document = problem(waited, 422, "draft_empty")
    assert waited.headers["preference-applied"] == "wait=25"
    operation = ok(organization.owner.get(waited.headers["location"]))
    assert (operation["status"], operation["result"]) == ("failed", None)
    stored = inside(operation, "problem")
    assert stored == {name: document[name] for name in stored}
    assert set(document) - set(stored) == {"error", "instance", "request_id"}


@pytest.mark.parametrize("preference", ["wait=0", "wait=-1", "wait=soon", "respond-async", "wait"])
def test_an_invalid_preference_is_ignored(api: Client, preference: str) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    accepted = organization.owner.post("/reviews", body, headers={"Prefer": preference})
    assert accepted.status_code == 202
    assert "preference-applied" not in accepted.headers


def test_a_longer_wait_is_held_for_thirty_seconds_at_most(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    waited = organization.owner.post("/reviews", body, headers={"Prefer": "respond-async, wait=600"})
    assert (waited.status_code, waited.headers["preference-applied"]) == (201, "wait=30")


def test_an_operation_is_read_by_its_caller_owners_and_admins_only(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    draft = a_draft(person.client, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    path = f"/operations/{ok(person.client.post('/reviews', body), 202)['operation_id']}"
    for reader in (person.client, organization.owner, a_person(organization, "admin").client):
        ok(reader.get(path))
    for stranger in (
        a_member(organization, project_id, "admin").client,
        a_person(organization).client,
        an_organization(api).owner,
    ):
        problem(stranger.get(path), 404, "not_found")


def test_a_replayed_command_answers_its_operation_in_its_present_state(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    body: Json = {"project_id": project_id, "title": "T", "drafts": references([draft])}
    first = ok(organization.owner.post("/reviews", body, key="k"), 202)
    finished = outcome(organization.owner, first)
    again = organization.owner.post("/reviews", body, key="k")
    assert again.headers["idempotency-replayed"] == "true"
    assert ok(again, 202) == finished
    waited = organization.owner.post("/reviews", body, key="k", headers=WAIT)
    assert ok(waited, 201) == finished["result"]
    assert waited.headers["idempotency-replayed"] == "true"
    reviews = listed(ok(organization.owner.get("/reviews")), "items")
    assert len(reviews) == 1


def test_a_replayed_refusal_is_the_same_refusal(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {
        "project_id": project_id,
        "title": "T",
        "drafts": references([a_draft(organization.owner, project_id)]),
    }
    problem(organization.owner.post("/reviews", body, key="k", headers=WAIT), 422, "draft_empty")
    again = organization.owner.post("/reviews", body, key="k", headers=WAIT)
    problem(again, 422, "draft_empty")
    assert again.headers["idempotency-replayed"] == "true"


def test_a_key_of_a_command_is_not_good_for_another_body(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}/merges"
    ok(organization.owner.post(path, {"expected_review_version": 1}, key="k", headers=WAIT))
    refused = organization.owner.post(path, {"expected_review_version": 2}, key="k", headers=WAIT)
    problem(refused, 422, "idempotency_key_reused")


def test_a_merge_is_repeated_by_its_key_though_the_ref_has_moved(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}/merges"
    body: Json = {"expected_review_version": 1}
    headers = {**WAIT, "If-Match": '"ref-none"'}
    first = ok(organization.owner.post(path, body, key="k", headers=headers))
    published(organization.owner, project_id, creates("b.md"))
    assert ok(organization.owner.post(path, body, key="k", headers=headers)) == first


def test_a_lost_merge_answer_retried_without_a_key_says_what_became_of_it(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    commit_id = ok(merge(organization.owner, review))["commit_id"]
    document = problem(merge(organization.owner, review), 409, "review_closed")
    assert (document["review_status"], document["commit_id"]) == ("merged", commit_id)
    problem(decide(organization.owner, review, "approved"), 409, "review_closed")
    withdrawn = problem(withdraw(organization.owner, review), 409, "review_closed")
    assert withdrawn["commit_id"] == commit_id


def test_a_withdrawn_review_has_no_commit_to_name(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(withdraw(organization.owner, review))
    document = problem(merge(organization.owner, review), 409, "review_closed")
    assert (document["review_status"], document["commit_id"]) == ("withdrawn", None)


def test_polling_waits_for_the_outcome(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}/merges"
    accepted = ok(organization.owner.post(path, {"expected_review_version": 1}), 202)
    started = time.monotonic()
    assert outcome(organization.owner, accepted)["status"] == "succeeded"
    assert time.monotonic() - started < 20


def test_merges_accepted_together_are_all_published(api: Client) -> None:
    organization, project_id = a_place(api)
    reviews = [
        a_review(organization.owner, a_draft(organization.owner, project_id, creates(f"{number}.md")))
        for number in range(8)
    ]
    accepted = [
        ok(organization.owner.post(f"/reviews/{review['review_id']}/merges", {"expected_review_version": 1}), 202)
        for review in reviews
    ]
    outcomes = [outcome(organization.owner, operation) for operation in accepted]
    assert [operation["status"] for operation in outcomes] == ["succeeded"] * 8
    commits = listed(ok(organization.owner.get("/org/commits")), "items")
    assert [commit["version"] for commit in commits] == list(range(8, 0, -1))
    assert [commit["parent_commit_id"] for commit in commits] == [
        *(commit["commit_id"] for commit in commits[1:]),
        None,
    ]


def test_a_token_that_only_reads_commands_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    reader = organization.owner.with_token(a_token(organization.owner, organization.owner_id, "read"))
    writer = organization.owner.with_token(a_token(organization.owner, organization.owner_id, "write"))
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    document = problem(merge(reader, review), 403, "forbidden")
    assert document["permission"] == "write"
    problem(writer.get(f"/reviews/{review['review_id']}"), 403, "forbidden")
    ok(merge(writer, review))


def test_a_selection_change_is_an_operation_too(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    waited = select(organization.owner, project_id, [])
    selection = ok(waited)
    assert (selection["resource_ids"], waited.headers["etag"]) == ([], f'"{selection["revision"]}"')
    operation = ok(organization.owner.get(waited.headers["location"]))
    assert (operation["kind"], operation["result"]) == ("selection.replace", selection)
    assert operation["workflow_id"] == f"projection/{project_id}"
    body: Json = {"project_id": project_id, "operations": [deletes(known)]}
    problem(organization.owner.post("/drafts", body), 422, "memory_not_selected")
