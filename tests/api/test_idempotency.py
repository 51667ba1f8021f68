"""An Idempotency-Key makes a POST repeatable (publication.md §6)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.client import (
    PREFIX,
    Client,
    Json,
    a_person,
    a_project,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import a_draft, creates, references
from tests.stack import Stack, start_api


def test_the_same_request_again_is_answered_as_the_first_time(api: Client) -> None:
    owner = an_organization(api).owner
    first = owner.post("/projects", {"name": "Once"}, key="k")
    again = owner.post("/projects", {"name": "Once"}, key="k")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["etag"] == first.headers["etag"] == '"1"'
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert len(items(owner.get("/projects"))) == 1


def test_without_a_key_a_request_is_carried_out_again(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/projects", {"name": "Once"}), 201)
    problem(owner.post("/projects", {"name": "Once"}), 409, "already_exists")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [({"name": ""}, 400, "invalid_request"), ({"name": "Taken"}, 409, "already_exists")],
)
def test_a_refusal_is_replayed_even_when_it_would_pass_now(api: Client, body: Json, status: int, code: str) -> None:
    owner = an_organization(api).owner
    taken = ok(owner.post("/projects", {"name": "Taken"}), 201)
    first = owner.post("/projects", body, key="k")
    problem(first, status, code)
    assert owner.delete(f"/projects/{taken['project_id']}", version=1).status_code == 204
    again = owner.post("/projects", body, key="k")
    assert (again.status_code, again.content) == (status, first.content)
    assert again.headers["content-type"] == "application/problem+json"
    assert again.headers["idempotency-replayed"] == "true"


def test_refusals_of_the_path_the_role_and_the_media_type_are_replayed(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    member: Json = {"user_id": person.user_id, "role": "viewer"}
    problem(organization.owner.post("/projects/prj_unknown/members", member, key="k"), 404, "not_found")
    again = organization.owner.post("/projects/prj_unknown/members", member, key="k")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (404, "true")

    problem(person.client.post("/admin/users", {"name": "x", "role": "member"}, key="k"), 403, "forbidden")
    ok(organization.owner.patch(f"/admin/users/{person.user_id}", {"role": "admin"}))
    again = person.client.post("/admin/users", {"name": "x", "role": "member"}, key="k")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (403, "true")

    plain = {"Content-Type": "text/plain", "Idempotency-Key": "k"}
    problem(
        organization.owner.request("POST", "/projects", content=b"{}", headers=plain), 415, "unsupported_media_type"
    )
    again = organization.owner.request("POST", "/projects", content=b"{}", headers=plain)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (415, "true")


def test_a_replay_comes_before_look_ups_and_validation(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_person(organization)
    path, member = f"/projects/{project_id}/members", {"user_id": person.user_id, "role": "viewer"}
    ok(organization.owner.post(path, {**member}, key="k"), 201)
    assert organization.owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    assert organization.owner.post(path, {**member}, key="k").status_code == 201
    problem(organization.owner.post(path, {**member}), 404, "not_found")


def test_a_replay_needs_authentication(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/projects", {"name": "Once"}, key="k"), 201)
    problem(owner.with_token(None).post("/projects", {"name": "Once"}, key="k"), 401, "unauthenticated")


def test_unauthenticated_and_too_large_are_not_stored(api: Client) -> None:
    owner = an_organization(api).owner
    problem(owner.with_token("cnr_no").post("/projects", {"name": "Once"}, key="k"), 401, "unauthenticated")
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    large = owner.request("POST", "/projects", content=b" " * (8 * 1024 * 1024 + 1), headers=headers)
    problem(large, 413, "too_large")
    made = owner.post("/projects", {"name": "Once"}, key="k")
    ok(made, 201)
    assert "idempotency-replayed" not in made.headers


def test_a_key_with_another_body_is_refused_and_does_nothing(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/projects", {"name": "Once"}, key="k"), 201)
    problem(owner.post("/projects", {"name": "Twice"}, key="k"), 422, "idempotency_key_reused")
    assert [item["name"] for item in items(owner.get("/projects"))] == ["Once"]
    assert owner.post("/projects", {"name": "Once"}, key="k").headers["idempotency-replayed"] == "true"


def test_any_other_problem_comes_before_a_reused_key(api: Client) -> None:
    organization = an_organization(api)
    owner = organization.owner
    ok(owner.post("/projects", {"name": "Once"}, key="k"), 201)
    assert refused_fields(owner.post("/projects", {"name": ""}, key="k")) == {("name", "blank")}
    problem(owner.post("/projects", {"name": "ONCE"}, key="k"), 409, "already_exists")
    reader = api.with_token(a_token(owner, None, "read"))
    problem(reader.post("/projects", {"name": "Twice"}, key="k"), 403, "forbidden")


def test_a_key_is_one_user_s_on_one_path(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    first, second = a_project(organization.owner), a_project(organization.owner)
    member: Json = {"user_id": person.user_id, "role": "admin"}
    ok(organization.owner.post(f"/projects/{first}/members", member, key="k"), 201)
    ok(organization.owner.post(f"/projects/{second}/members", member, key="k"), 201)
    ok(organization.owner.post("/projects", {"name": "Mine"}, key="k"), 201)
    problem(person.client.post("/projects", {"name": "Mine"}, key="k"), 409, "already_exists")
    another = an_organization(api).owner
    ok(another.post("/projects", {"name": "Mine"}, key="k"), 201)


def test_the_query_of_a_path_with_an_encoded_question_mark_is_part_of_the_path(api: Client) -> None:
    owner = an_organization(api).owner
    first = owner.post(f"{PREFIX}/projects/a%3Fb/members", {}, key="k")
    second = owner.post(f"{PREFIX}/projects/a%3Fc/members", {}, key="k")
    problem(first, 404, "not_found")
    problem(second, 404, "not_found")
    assert "idempotency-replayed" not in second.headers


def test_only_posts_take_keys(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    headers = {"Idempotency-Key": "k"}
    ok(owner.patch(f"/projects/{project_id}", {"name": "A"}, version=1, headers=headers))
    problem(
        owner.patch(f"/projects/{project_id}", {"name": "A"}, version=1, headers=headers), 412, "precondition_failed"
    )


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "ü"])
def test_a_key_is_1_to_200_visible_ascii_characters(api: Client, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode()), (b"Content-Type", b"application/json")]
    refused = an_organization(api).owner.request("POST", "/projects", content=b'{"name": "a"}', headers=headers)
    assert refused_fields(refused) == {("Idempotency-Key", "visible_ascii")}


@pytest.mark.parametrize("key", ["x", "x" * 200, "!~"])
def test_keys_of_the_allowed_lengths_are_accepted(api: Client, key: str) -> None:
    ok(an_organization(api).owner.post("/projects", {"name": "a"}, key=key), 201)


def test_a_key_is_forgotten_after_7_days(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    ok(organization.owner.post("/projects", {"name": "Old"}, key="k"), 201)
    age = text("update idempotency_keys set created_at = now() - cast(:age as interval) where org_id = :org_id")
    with engine.begin() as connection:
        connection.execute(age, {"age": "6 days 23 hours", "org_id": organization.organization_id})
    problem(organization.owner.post("/projects", {"name": "New"}, key="k"), 422, "idempotency_key_reused")
    with engine.begin() as connection:
        connection.execute(age, {"age": "7 days 1 minute", "org_id": organization.organization_id})
    ok(organization.owner.post("/projects", {"name": "New"}, key="k"), 201)
    assert organization.owner.post("/projects", {"name": "New"}, key="k").headers["idempotency-replayed"] == "true"


def test_a_secret_is_not_replayed(api: Client) -> None:
    organization = an_organization(api)
    body: Json = {"name": "t", "permissions": ["read"]}
    made = organization.owner.post("/admin/tokens", body, key="k")
    ok(made, 201)
    assert made.headers["cache-control"] == "no-store"
    problem(organization.owner.post("/admin/tokens", body, key="k"), 409, "idempotency_key_used")
    assert len(items(organization.owner.get("/admin/tokens"))) == 2

    owner: Json = {"name": "o", "owner": {"name": "x"}}
    ok(api.post("/admin/organizations", owner, key=organization.organization_id), 201)
    problem(api.post("/admin/organizations", owner, key=organization.organization_id), 409, "idempotency_key_used")


def test_of_concurrent_duplicates_one_is_carried_out_and_the_others_replay(api: Client) -> None:
    owner = an_organization(api).owner
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda _: owner.post("/projects", {"name": "Once"}, key="k"), range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
    assert len(items(owner.get("/projects"))) == 1


def test_a_duplicate_that_waits_too_long_is_told_to_come_back(api: Client, stack: Stack, engine: Engine) -> None:
    organization = an_organization(api)
    impatient = start_api(stack, CANONRY_LOCK_TIMEOUT_MS="200")
    try:
        client = Client(impatient.url, organization.owner.token)
        with engine.begin() as first:
            first.execute(
                text("""
                    insert into idempotency_keys (org_id, user_id, method, path, key, body_hash, created_at)
                    values (:org_id, :user_id, 'POST', '/v1/api/projects', 'k', '', now())
                """),
                {"org_id": organization.organization_id, "user_id": organization.owner_id},
            )
            waiting = client.post("/projects", {"name": "a"}, key="k")
            problem(waiting, 409, "operation_in_progress")
            assert waiting.headers["retry-after"] == "1"
            first.rollback()
        ok(client.post("/projects", {"name": "a"}, key="k"), 201)
    finally:
        impatient.stop()


@pytest.mark.usefixtures("worker")
def test_a_replayed_command_answers_its_operation_as_it_is_now(api: Client) -> None:
    owner = an_organization(api).owner
    draft = a_draft(owner, a_project(owner), creates("a.md"))
    body: Json = {"project_id": draft["project_id"], "title": "t", "drafts": references([draft])}
    accepted = owner.post("/reviews", body, key="k")
    location = accepted.headers["location"]
    assert ok(accepted, 202)["operation_id"] == location.rpartition("/")[2]
    ended = ok(owner.get(location, wait=20))
    again = owner.post("/reviews", body, key="k")
    assert (ok(again, 202), again.headers["location"]) == (ended, location)
    assert again.headers["idempotency-replayed"] == "true"
    waited = owner.post("/reviews", body, key="k", headers={"Prefer": "wait=5"})
    assert (ok(waited, 201), waited.headers["location"]) == (ended["result"], location)
    assert waited.headers["idempotency-replayed"] == "true"
    problem(owner.post("/reviews", {**body, "title": "other"}, key="k"), 422, "idempotency_key_reused")
    assert len(items(owner.get("/reviews"))) == 1


def test_a_command_that_is_refused_before_it_is_accepted_is_replayed_as_refused(api: Client) -> None:
    owner = an_organization(api).owner
    body: Json = {"project_id": a_project(owner), "title": "t", "drafts": []}
    problem(owner.post("/reviews", body, key="k"), 400, "invalid_request")
    again = owner.post("/reviews", body, key="k")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (400, "true")


@pytest.mark.usefixtures("worker")
def test_preconditions_and_preferences_are_not_compared(api: Client) -> None:
    owner = an_organization(api).owner
    draft = a_draft(owner, a_project(owner))
    path, body = f"/drafts/{draft['draft_id']}/operations", {"operations": [creates("a.md")]}
    first = owner.post(path, {**body}, key="k", headers={"If-Match": '"1"'})
    again = owner.post(path, {**body}, key="k", headers={"If-Match": '"9"', "Prefer": "wait=1"})
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["etag"] == first.headers["etag"] == '"2"'
