"""What every route has in common is produced on every route: credentials, origins, strictness, keys."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from pydantic import JsonValue
from sqlalchemy import Engine, text

from tests.client import (
    PREFIX,
    Client,
    Json,
    Organization,
    a_member,
    a_project,
    an_organization,
    every_route,
    filled,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.imports_over_http import a_file, an_import
from tests.migrated import migrated
from tests.proposals import a_draft, a_review, creates, published
from tests.reconciliation_over_http import a_draft_on_an_older_base, make_candidate
from tests.sessions import a_session, a_workstream
from tests.stack import Stack, start_api

LIMIT = 8 * 1024 * 1024
A_MEMORY: Json = {"name": "known", "description": "One that stays.", "content": "text"}
BODILESS = ("GET", "DELETE")


@dataclass(frozen=True)
class World:
    """One of everything, and the ids that paths name."""

    api: Client
    organization: Organization
    ids: dict[str, str]

    @property
    def owner(self) -> Client:
        return self.organization.owner

    def routes(self) -> list[tuple[str, str]]:
        return [(method, self.at(path)) for method, path in every_route(self.owner)]

    def at(self, path: str) -> str:
        """A path template filled: two kinds of memories have ids of their own."""
        kind = "structured_memory_id" if path.startswith(f"{PREFIX}/admin/memories/") else "memory_id"
        return filled(path, {**self.ids, "memory_id": self.ids[kind]})


@pytest.fixture(scope="module")
def world(api: Client, worker: object, engine: Engine) -> World:
    organization = an_organization(api)
    owner, project_id = organization.owner, a_project(organization.owner)
    (memory_id,) = published(owner, project_id, creates("published.md"))
    migrated(engine, organization, project_id, memory_id)
    review = a_review(owner, a_draft(owner, project_id, creates("submitted.md")))
    comment = ok(owner.post(f"/reviews/{review['review_id']}/comments", {"body": "b"}), 201)
    accepted = owner.post(f"/reviews/{review['review_id']}/decisions", a_decision(99))
    draft = a_draft_on_an_older_base(owner, project_id)
    ids = {
        "project_id": project_id,
        "user_id": a_member(organization, project_id).user_id,
        "token_id": str(items(owner.get("/admin/tokens"))[0]["token_id"]),
        "draft_id": str(draft["draft_id"]),
        "candidate_id": str(ok(make_candidate(owner, draft))["candidate_id"]),
        "review_id": str(review["review_id"]),
        "import_id": str(an_import(owner, project_id)["import_id"]),
        "comment_id": str(comment["comment_id"]),
        "number": "1",
        "commit_id": str(items(owner.get("/org/commits"))[0]["commit_id"]),
        "memory_id": memory_id,
        "structured_memory_id": str(ok(owner.post("/memories", A_MEMORY), 201)["memory_id"]),
        "operation_id": str(ok(accepted, 202)["operation_id"]),
        "workstream_id": a_workstream(owner),
        "session_id": str(a_session(owner)["session_id"]),
    }
    return World(api, organization, ids)


def a_decision(version: int) -> Json:
    return {"decision": "rejected", "expected_review_version": version}


def test_every_route_needs_a_credential(world: World) -> None:
    for method, path in world.routes():
        refused = world.owner.with_token(None).request(method, path)
        problem(refused, 401, "unauthenticated")
        assert refused.headers["www-authenticate"] == "Bearer"


def test_every_route_refuses_pages_of_other_origins(world: World) -> None:
    for method, path in world.routes():
        problem(world.owner.request(method, path, headers={"Origin": "https://evil.example"}), 403, "forbidden")


def test_every_route_hides_what_another_organization_has(world: World) -> None:
    stranger = an_organization(world.api).owner
    for method, path in every_route(world.owner):
        if "{" in path:
            problem(stranger.request(method, world.at(path), body={}), 404, "not_found")


def test_every_route_finds_nothing_under_an_unknown_id(world: World) -> None:
    for method, path in every_route(world.owner):
        if "{" in path:
            problem(world.owner.request(method, filled(path), body={}), 404, "not_found")


def test_every_route_refuses_unknown_parameters_and_members(world: World) -> None:
    for method, path in world.routes():
        body = None if method in BODILESS else {"unknown": 1}
        refused = world.api if path.endswith("/admin/organizations") else world.owner
        fields = refused_fields(refused.request(method, path, body=body, query={"strange": 1}))
        expected = {("strange", "unknown")} | (set() if body is None else {("unknown", "unknown")})
        assert fields >= expected, (method, path)


def test_every_body_is_json_of_8_mib_at_most(world: World) -> None:
    for method, path in world.routes():
        if method not in BODILESS:
            client = world.api if path.endswith("/admin/organizations") else world.owner
            problem(client.request(method, path, content=b" " * (LIMIT + 1)), 413, "too_large")
            problem(client.request(method, path, content=b"{}"), 415, "unsupported_media_type")


def test_every_repeated_post_waits_for_the_first_or_comes_back(world: World, stack: Stack, engine: Engine) -> None:
    service = start_api(stack, CANONRY_LOCK_TIMEOUT_MS="100")
    impatient = Client(service.url, world.owner.token)
    insert = text("""
        insert into idempotency_keys (org_id, user_id, method, path, key, body_hash, created_at)
        values (:org_id, :user_id, 'POST', :path, 'k', '', now())
    """)
    names = {"org_id": world.organization.organization_id, "user_id": world.organization.owner_id}
    posts = [path for method, path in world.routes() if method == "POST"]
    try:
        with engine.begin() as first:
            for path in posts:
                first.execute(insert, {**names, "path": path})
            for path in posts:
                problem(impatient.post(path, {}, key="k"), 409, "operation_in_progress")
            first.rollback()
    finally:
        service.stop()


def bodies(world: World) -> Iterator[tuple[str, Json, Json | bytes]]:
    """For each POST two bodies that differ, of which the first is accepted and the second would be."""
    project_id, draft_id = world.ids["project_id"], world.ids["draft_id"]
    other = a_member(world.organization, a_project(world.owner)).user_id
    another = a_member(world.organization, a_project(world.owner)).user_id
    reviews = f"/reviews/{world.ids['review_id']}"
    references: list[JsonValue] = [{"draft_id": draft_id, "expected_draft_version": 99}]
    submission: Json = {"expected_review_version": 99, "drafts": references}
    yield "/admin/organizations", {"name": "a", "owner": {"name": "a"}}, {"name": "b", "owner": {"name": "b"}}
    yield "/admin/users", {"name": "a", "role": "member"}, {"name": "b", "role": "member"}
    yield "/admin/tokens", {"name": "a", "permissions": ["read"]}, {"name": "b", "permissions": ["read"]}
    yield "/projects", {"name": "One of a kind"}, {"name": "Another of a kind"}
    yield (
        f"/projects/{project_id}/members",
        {"user_id": other, "role": "viewer"},
        {"user_id": another, "role": "viewer"},
    )
    yield "/workstreams", {"title": "a"}, {"title": "b"}
    yield "/sessions", {"kind": "interactive"}, {"kind": "coordinator"}
    yield f"/sessions/{world.ids['session_id']}/tools/memory", {"action": "list"}, {"action": "list", "limit": 1}
    yield f"/sessions/{world.ids['session_id']}/context", {"messages": []}, {"messages": [], "k": 1}
    memory: Json = {"name": "x", "description": "It will be deleted.", "content": "a"}
    yield "/memories", memory, {**memory, "content": "b"}
    yield "/memories/search", {"query": "a"}, {"query": "b"}
    ok(world.owner.delete("/memories/x"))
    yield "/memories/x/restorations", {}, b"{ }"
    yield "/drafts", {"project_id": project_id, "title": "a"}, {"project_id": project_id, "title": "b"}
    yield f"/drafts/{draft_id}/operations", {"operations": [creates("a.md")]}, {"operations": [creates("b.md")]}
    yield "/draft-operation-batches", a_batch(draft_id, "a", 2), a_batch(draft_id, "b", 3)
    candidates, rebases = f"/drafts/{draft_id}/reconciliation-candidates", f"/drafts/{draft_id}/rebases"
    confirmed: Json = {"candidate_id": world.ids["candidate_id"]}
    yield candidates, {"expected_draft_version": 98}, {"expected_draft_version": 99}
    yield rebases, {**confirmed, "expected_draft_version": 98}, {**confirmed, "expected_draft_version": 99}
    yield (
        "/reviews",
        {"project_id": project_id, "title": "a", "drafts": references},
        {"project_id": project_id, "title": "b", "drafts": references},
    )
    yield f"{reviews}/submissions", {**submission, "title": "a"}, {**submission, "title": "b"}
    yield f"{reviews}/withdrawals", {"expected_review_version": 98}, {"expected_review_version": 99}
    yield f"{reviews}/decisions", a_decision(98), a_decision(99)
    yield f"{reviews}/merges", {"expected_review_version": 98}, {"expected_review_version": 99}
    yield f"{reviews}/comments", {"body": "a"}, {"body": "b"}
    latest, former = (str(commit["commit_id"]) for commit in items(world.owner.get("/org/commits"))[:2])
    reverts: list[Json] = [{"project_id": project_id, "commit_id": commit_id} for commit_id in (latest, former)]
    yield "/org/reverts", reverts[0], reverts[1]
    imports = f"/imports/{world.ids['import_id']}"
    yield "/imports", {"project_id": project_id, "title": "a"}, {"project_id": project_id, "title": "b"}
    yield f"{imports}/files", {"files": [a_file("a.md")]}, {"files": [a_file("b.md")]}
    yield f"{imports}/start", {}, b"{ }"  # nothing can be said, but it can be written in two ways


def a_batch(draft_id: str, name: str, version: int) -> Json:
    item: Json = {"local_operation_id": name, "draft_id": draft_id, "expected_draft_version": version}
    return {"operations": [{**item, "operation": creates(f"batched-{name}.md")}]}


def again(client: Client, path: str, body: Json | bytes, headers: dict[str, str]) -> httpx.Response:
    if not isinstance(body, bytes):
        return client.post(path, body, key="route", headers=headers)
    as_json = {"Idempotency-Key": "route", "Content-Type": "application/json"}
    return client.request("POST", path, content=body, headers=as_json)


def test_every_post_refuses_its_key_for_another_body(world: World) -> None:
    tried = set()
    for path, first, second in bodies(world):
        client = world.api if path == "/admin/organizations" else world.owner
        headers = {"If-Match": '"1"'} if path.endswith("/operations") else None
        answered = client.post(path, first, key="route", headers=headers)
        assert answered.status_code in (200, 201, 202), answered.text
        headers = {"If-Match": '"2"'} if path.endswith("/operations") else None
        if path.endswith("/restorations"):
            ok(world.owner.delete("/memories/x"))
        problem(again(client, path, second, headers or {}), 422, "idempotency_key_reused")
        tried.add(PREFIX + path)
    assert tried == {path for method, path in world.routes() if method == "POST"}
