"""Refusals are problem documents, and the first in the contract's order is the answer."""

import json
from collections.abc import Iterator

import pytest

from tests.client import (
    PREFIX,
    Client,
    a_member,
    a_person,
    a_project,
    a_token,
    an_organization,
    ok,
    problem,
    refused_fields,
)

JSON = {"Content-Type": "application/json"}
LIMIT = 8 * 1024 * 1024


def test_a_problem_names_what_where_and_which_request(api: Client) -> None:
    refused = api.get("/projects/prj_unknown", headers={"X-Request-ID": "my-request"})
    assert problem(refused, 404, "not_found") == {
        "type": "https://canonry.dev/problems/not_found",
        "title": "Not found",
        "status": 404,
        "code": "not_found",
        "detail": "There is no such project.",
        "error": "There is no such project.",
        "retryable": False,
        "instance": f"{PREFIX}/projects/prj_unknown",
        "request_id": "my-request",
    }


@pytest.mark.parametrize("given", ["a", "x" * 200, "!~"])
def test_an_acceptable_request_id_is_returned(api: Client, given: str) -> None:
    assert api.get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "x" * 201, "a b", "ü"])
def test_any_other_request_id_is_replaced(api: Client, given: str) -> None:
    made = api.request("GET", "/me", headers=[(b"X-Request-ID", given.encode())]).headers["x-request-id"]
    assert made not in ("", given)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:80:80", ""])
def test_a_host_that_is_not_ours_is_refused(api: Client, host: str) -> None:
    problem(api.get("/me", headers={"Host": host}), 403, "forbidden")
    problem(api.get("/healthz", headers={"Host": host}), 403, "forbidden")
    problem(api.get("/readyz", headers={"Host": host}), 403, "forbidden")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "file://localhost", "http://localhost.evil", "x"])
def test_a_page_of_another_origin_is_refused(api: Client, origin: str) -> None:
    problem(api.get("/me", headers={"Origin": origin}), 403, "forbidden")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"])
def test_a_page_of_our_own_host_is_served(api: Client, origin: str) -> None:
    ok(api.get("/me", headers={"Origin": origin}))


@pytest.mark.parametrize("path", ["/nothing", "/projects/", "/projects/a/b/c"])
def test_an_unknown_route_is_not_found(api: Client, path: str) -> None:
    problem(api.get(path), 404, "not_found")


def test_an_id_that_no_database_holds_is_not_found(api: Client) -> None:
    problem(api.get("/projects/a%00b"), 404, "not_found")
    problem(api.get("/projects/" + "x" * 5_000), 404, "not_found")
    problem(api.post("/projects/" + "x" * 5_000 + "/members", {}, key="k"), 404, "not_found")
    problem(api.get("/projects/%ff"), 404, "not_found")


def test_a_method_that_a_route_has_not_is_refused_with_those_it_has(api: Client) -> None:
    refused = api.put("/projects", {})
    assert problem(refused, 405, "method_not_allowed")["allowed"] == ["GET", "POST"]
    assert refused.headers["allow"] == "GET, POST"


def test_a_wrong_method_on_an_unknown_resource_is_not_found(api: Client) -> None:
    problem(api.put("/projects/prj_unknown", {}), 404, "not_found")
    organization = an_organization(api)
    problem(organization.owner.put(f"/projects/{a_project(organization.owner)}", {}), 405, "method_not_allowed")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", ("body", "json")),
        (b"{", ("body", "json")),
        (b'{"name": "a"} x', ("body", "json")),
        (b'{"name": NaN}', ("body", "json")),
        (b'{"name": Infinity}', ("body", "json")),
        (b'{"name": "a", "name": "b"}', ("body", "duplicate_key")),
        (b'{"name": "\xff"}', ("body", "utf_8")),
        (b'{"name": "\xed\xa0\x80"}', ("body", "utf_8")),
        (b"[" * 100_000, ("body", "json")),
        (b'{"name": ' + b"9" * 10_000 + b"}", ("body", "json")),
        (b"[]", ("body", "type")),
        (b"null", ("body", "null")),
        (b"{}", ("name", "missing")),
        (b'{"name": null}', ("name", "null")),
        (b'{"name": 7}', ("name", "type")),
        (b'{"name": ["a"]}', ("name", "type")),
        (b'{"name": ""}', ("name", "blank")),
        (b'{"name": " \\t "}', ("name", "blank")),
        (b'{"name": "a\\u0000b"}', ("name", "control_character")),
        (b'{"name": "a\\nb"}', ("name", "control_character")),
        (b'{"name": "\\ud800"}', ("name", "lone_surrogate")),
        (b'{"name": "' + b"a" * 201 + b'"}', ("name", "too_long")),
        (b'{"name": "a", "nme": 1}', ("nme", "unknown")),
        (b'{"name": "a", "description": null}', ("description", "null")),
        (b'{"name": "a", "slug": null}', ("slug", "null")),
        (b'{"name": "a", "slug": "A b"}', ("slug", "slug")),
        (b'{"name": "a", "slug": "' + b"a" * 101 + b'"}', ("slug", "too_long")),
        (b'{"name": "a", "description": "\\u0000"}', ("description", "nul")),
        (b'{"name": "a", "description": "' + b"a" * 2001 + b'"}', ("description", "too_long")),
    ],
)
def test_invalid_input_is_refused_by_field_and_rule(api: Client, body: bytes, error: tuple[str, str]) -> None:
    refused = api.request("POST", "/projects", content=body, headers=JSON)
    assert refused_fields(refused) == {error}


def test_every_broken_rule_is_named_at_once(api: Client) -> None:
    refused = api.request("POST", "/projects", body={"name": "", "slug": "!", "x": 1}, query={"q": 1})
    assert refused_fields(refused) == {("name", "blank"), ("slug", "slug"), ("x", "unknown"), ("q", "unknown")}


def test_fields_of_lists_and_parts_are_named_by_their_place(api: Client) -> None:
    assert refused_fields(api.post("/admin/tokens", {"name": "a", "permissions": ["read", "fly"]})) == {
        ("permissions[1]", "not_allowed")
    }
    assert refused_fields(api.post("/admin/organizations", {"name": "a", "owner": {"name": 1, "role": "x"}})) == {
        ("owner.name", "type"),
        ("owner.role", "unknown"),
    }


def test_a_long_list_of_errors_is_cut(api: Client) -> None:
    body = {"name": "a", **{f"unknown_{number}": 1 for number in range(500)}}
    errors = problem(api.post("/projects", body), 400, "invalid_request")["errors"]
    assert isinstance(errors, list)
    assert len(errors) == 100


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("nope=1", ("nope", "unknown")),
        ("limit=1&limit=2", ("limit", "repeated")),
        ("limit=0", ("limit", "too_small")),
        ("limit=201", ("limit", "too_large")),
        ("limit=", ("limit", "type")),
        ("limit=1.0", ("limit", "type")),
        ("limit=%2B1", ("limit", "type")),
        ("cursor=%00", ("cursor", "nul")),
        ("cursor=%ff", ("query", "utf_8")),
        ("cursor=nonsense", ("cursor", "malformed")),
        ("cursor=W10", ("cursor", "foreign")),
        ("cursor=bnVsbA", ("cursor", "malformed")),
    ],
)
def test_a_query_is_as_strict_as_a_body(api: Client, query: str, error: tuple[str, str]) -> None:
    assert refused_fields(api.get(f"{PREFIX}/projects?{query}")) == {error}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/xml"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_a_body_that_is_not_json_is_an_unsupported_media_type(api: Client, headers: dict[str, str]) -> None:
    refused = api.request("POST", "/projects", content=b'{"name": "a"}', headers=headers)
    problem(refused, 415, "unsupported_media_type")


def test_the_content_type_may_name_utf_8(api: Client) -> None:
    organization = an_organization(api)
    headers = {"Content-Type": "Application/JSON; charset=UTF-8"}
    ok(organization.owner.request("POST", "/projects", content=b'{"name": "a"}', headers=headers), 201)


def test_a_body_beyond_8_mib_is_too_large_by_what_it_declares(api: Client) -> None:
    refused = api.request("POST", "/projects", content=b" " * (LIMIT + 1), headers=JSON)
    assert problem(refused, 413, "too_large")["limit"] == LIMIT


def test_a_body_beyond_8_mib_is_too_large_as_it_streams(api: Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(LIMIT // 65_536 + 2):
            yield b" " * 65_536

    refused = api.request("POST", "/projects", content=endless(), headers=JSON)
    problem(refused, 413, "too_large")


def test_a_body_of_8_mib_is_read(api: Client) -> None:
    body = json.dumps({"name": ""}).encode()
    refused = api.request("POST", "/projects", content=body + b" " * (LIMIT - len(body)), headers=JSON)
    assert refused_fields(refused) == {("name", "blank")}


def test_the_first_problem_in_the_order_of_precedence_is_the_answer(api: Client) -> None:
    """Each request breaks everything; what was answered is mended, and the next problem shows."""
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    path = f"/projects/{project_id}"
    stranger, viewer = a_person(organization), a_member(organization, project_id, "viewer")
    ok(organization.owner.patch(path, {"state": "archived"}, version=1))
    reader = api.with_token(a_token(organization.owner, None, "read"))
    owner = organization.owner
    large, text, stale = b"x" * (LIMIT + 1), {"If-Match": '"7"'}, {**JSON, "If-Match": '"7"'}

    def patch(client: Client, content: bytes, headers: dict[str, str], where: str = path) -> tuple[int, str]:
        refused = client.request("PATCH", where, content=content, headers=headers)
        return refused.status_code, str(refused.json()["code"])

    assert patch(api.with_token(None), large, text, "/projects/prj_unknown") == (401, "unauthenticated")
    assert patch(owner, large, text, "/projects/prj_unknown") == (404, "not_found")
    assert patch(stranger.client, large, text) == (404, "not_found")
    assert patch(viewer.client, large, text) == (403, "forbidden")
    assert patch(reader, large, text) == (403, "forbidden")
    assert patch(owner, large, text) == (413, "too_large")
    assert patch(owner, b"not json", text) == (415, "unsupported_media_type")
    assert patch(owner, b"not json", JSON) == (400, "invalid_request")
    assert patch(owner, b'{"name": "n"}', JSON | {"If-Match": "7"}) == (400, "invalid_request")
    assert patch(owner, b'{"name": "n"}', JSON) == (428, "precondition_required")
    assert patch(owner, b'{"name": "n"}', stale) == (412, "precondition_failed")
    assert patch(owner, b'{"name": "n"}', {**JSON, "If-Match": '"2"'}) == (409, "project_archived")
    ok(owner.patch(path, {"name": "n", "state": "active"}, version=2))


def test_a_refused_change_stores_nothing(api: Client) -> None:
    organization = an_organization(api)
    before = organization.owner.get("/admin/audit-events").json()
    ok(organization.owner.post("/projects", {"name": "Taken"}), 201)
    problem(organization.owner.post("/projects", {"name": "taken"}), 409, "already_exists")
    after = organization.owner.get("/admin/audit-events").json()
    assert len(after["items"]) - len(before["items"]) == 2  # the project, and its first member
