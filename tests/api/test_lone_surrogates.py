"""A lone surrogate is no text: every member of every body refuses it by its name, and nothing fails of it."""

import json
from dataclasses import dataclass

import httpx
import pytest
from pydantic import JsonValue

from tests.client import Client, Json, a_member, an_organization, items, problem, refused_fields
from tests.proposals import a_draft, a_place, a_review, creates

pytestmark = pytest.mark.usefixtures("worker")

LONE = "a\ud800"


@dataclass(frozen=True)
class Site:
    """Someone's client and the ids that the paths of routes ask for."""

    client: Client
    ids: dict[str, str]

    def send(self, method: str, path: str, body: Json) -> httpx.Response:
        """Send a body whose texts are escaped, so that any of them can be told."""
        content = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "If-Match": '"1"'}
        return self.client.request(method, path.format(**self.ids), content=content, headers=headers)


@pytest.fixture(scope="module")
def site(api: Client) -> Site:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    draft = a_draft(organization.owner, project_id)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ids = {
        "project": project_id,
        "user": person.user_id,
        "draft": str(draft["draft_id"]),
        "review": str(review["review_id"]),
    }
    return Site(organization.owner, ids)


REFERENCES: list[JsonValue] = [{"draft_id": LONE, "expected_draft_version": 1}]
VERSION: Json = {"expected_review_version": 1}
TARGETED: Json = {"operations": [{"action": "delete", "memory_id": LONE}]}

MEMBERS: list[tuple[str, str, str, Json, str]] = [
    ("POST", "/projects", "name", {"name": LONE}, "lone_surrogate"),
    ("POST", "/projects", "description", {"name": "n", "description": LONE}, "lone_surrogate"),
    ("POST", "/projects", "slug", {"name": "n", "slug": LONE}, "slug"),
    ("PATCH", "/projects/{project}", "name", {"name": LONE}, "lone_surrogate"),
    ("PATCH", "/projects/{project}", "description", {"description": LONE}, "lone_surrogate"),
    ("PATCH", "/projects/{project}", "state", {"state": LONE}, "lone_surrogate"),
    ("POST", "/projects/{project}/members", "user_id", {"user_id": LONE, "role": "member"}, "lone_surrogate"),
    ("PATCH", "/projects/{project}/members/{user}", "role", {"role": LONE}, "lone_surrogate"),
    ("PUT", "/projects/{project}/org-selections", "resource_ids[0]", {"resource_ids": [LONE]}, "lone_surrogate"),
    ("PATCH", "/admin/organization", "name", {"name": LONE}, "lone_surrogate"),
    ("POST", "/admin/users", "name", {"name": LONE, "role": "member"}, "lone_surrogate"),
    ("POST", "/admin/users", "email", {"name": "n", "email": LONE + "@b.c", "role": "member"}, "email"),
    ("PATCH", "/admin/users/{user}", "name", {"name": LONE}, "lone_surrogate"),
    ("POST", "/admin/tokens", "user_id", {"name": "n", "user_id": LONE, "permissions": ["read"]}, "lone_surrogate"),
    ("POST", "/admin/tokens", "name", {"name": LONE, "permissions": ["read"]}, "lone_surrogate"),
    ("POST", "/admin/tokens", "permissions[0]", {"name": "n", "permissions": [LONE]}, "lone_surrogate"),
    (
        "POST",
        "/admin/tokens",
        "expires_at",
        {"name": "n", "permissions": ["read"], "expires_at": LONE},
        "rfc_3339",
    ),
    ("POST", "/drafts", "project_id", {"project_id": LONE}, "lone_surrogate"),
    ("POST", "/drafts", "title", {"project_id": "{project}", "title": LONE}, "lone_surrogate"),
    ("POST", "/drafts", "base_commit_id", {"project_id": "{project}", "base_commit_id": LONE}, "lone_surrogate"),
    ("POST", "/drafts", "operations[0].memory_id", {"project_id": "{project}", **TARGETED}, "lone_surrogate"),
    ("PATCH", "/drafts/{draft}", "title", {"title": LONE}, "lone_surrogate"),
    ("POST", "/drafts/{draft}/operations", "operations[0].memory_id", TARGETED, "lone_surrogate"),
    ("POST", "/drafts/{draft}/operations", "operations[0].action", {"operations": [{"action": LONE}]}, "not_allowed"),
    ("POST", "/imports", "project_id", {"project_id": LONE}, "lone_surrogate"),
    ("POST", "/imports", "title", {"project_id": "{project}", "title": LONE}, "lone_surrogate"),
    ("POST", "/imports", "source", {"project_id": "{project}", "source": LONE}, "lone_surrogate"),
    ("POST", "/reviews", "project_id", {"project_id": LONE, "title": "t", "drafts": []}, "lone_surrogate"),
    ("POST", "/reviews", "title", {"project_id": "{project}", "title": LONE, "drafts": []}, "lone_surrogate"),
    ("POST", "/reviews", "description", {"project_id": "{project}", "description": LONE}, "lone_surrogate"),
    ("POST", "/reviews", "drafts[0].draft_id", {"project_id": "{project}", "drafts": REFERENCES}, "lone_surrogate"),
    ("PATCH", "/reviews/{review}", "title", {"title": LONE}, "lone_surrogate"),
    ("PATCH", "/reviews/{review}", "description", {"description": LONE}, "lone_surrogate"),
    ("POST", "/reviews/{review}/submissions", "title", {**VERSION, "title": LONE}, "lone_surrogate"),
    ("POST", "/reviews/{review}/submissions", "description", {**VERSION, "description": LONE}, "lone_surrogate"),
    ("POST", "/reviews/{review}/submissions", "drafts[0].draft_id", {"drafts": REFERENCES}, "lone_surrogate"),
    ("POST", "/reviews/{review}/withdrawals", "reason", {**VERSION, "reason": LONE}, "lone_surrogate"),
    ("POST", "/reviews/{review}/decisions", "body", {**VERSION, "body": LONE}, "lone_surrogate"),
    ("POST", "/reviews/{review}/decisions", "decision", {**VERSION, "decision": LONE}, "lone_surrogate"),
    (
        "POST",
        "/reviews/{review}/merges",
        "expected_result_hash",
        {**VERSION, "expected_result_hash": LONE},
        "lone_surrogate",
    ),
    ("POST", "/projects", "body", {"name": "n", LONE: 1}, "lone_surrogate"),
]


def _filled(body: Json, ids: dict[str, str]) -> Json:
    return {name: ids["project"] if value == "{project}" else value for name, value in body.items()}


@pytest.mark.parametrize(("method", "path", "field", "body", "rule"), MEMBERS)
def test_a_lone_surrogate_is_refused_by_the_member_that_holds_it(
    site: Site, method: str, path: str, field: str, body: Json, rule: str
) -> None:
    assert (field, rule) in refused_fields(site.send(method, path, _filled(body, site.ids)))


TEXTS: list[tuple[str, str, Json]] = [
    ("operations", "path", {"action": "create", "path": LONE, "content": {"content": "t"}}),
    ("operations", "content", {"action": "create", "path": "b.md", "content": {"content": LONE}}),
    (
        "operations",
        "description",
        {"action": "create", "path": "b.md", "content": {"content": "t", "description": LONE}},
    ),
]


@pytest.mark.parametrize(("member", "field", "operation"), TEXTS)
def test_a_lone_surrogate_in_a_proposed_text_makes_the_operation_invalid(
    site: Site, member: str, field: str, operation: Json
) -> None:
    refused = site.send("POST", "/drafts/{draft}/operations", {member: [operation]})
    document = problem(refused, 422, "operation_invalid")
    assert (document["index"], document["rule"]) == (0, "lone_surrogate")
    assert field in str(document["field"])


def test_a_lone_surrogate_in_a_comment_makes_it_invalid(site: Site) -> None:
    problem(site.send("POST", "/reviews/{review}/comments", {"body": LONE}), 422, "operation_invalid")


def test_a_lone_surrogate_in_a_prefix_makes_it_invalid(site: Site) -> None:
    body: Json = {"project_id": site.ids["project"], "prefix": LONE}
    assert problem(site.send("POST", "/imports", body), 422, "operation_invalid")["rule"] == "lone_surrogate"


@pytest.mark.parametrize("user_id", [LONE, "a\0", "x" * 201, ""])
def test_a_token_for_no_plausible_user_is_made_for_nobody(api: Client, user_id: str) -> None:
    owner = an_organization(api).owner
    before = items(owner.get("/admin/tokens"))
    body: Json = {"name": "x", "user_id": user_id, "permissions": ["read"]}
    assert {field for field, _ in refused_fields(Site(owner, {}).send("POST", "/admin/tokens", body))} == {"user_id"}
    assert items(owner.get("/admin/tokens")) == before
