"""OpenAPI is generated from the code and is exact: `tests.client` checks every answer of every test against it."""

import re
from typing import cast

import pytest
from pydantic import JsonValue

from models.errors import BY_CODE
from tests.client import PREFIX, Client, Json, ok

TENANCY = {
    "get_me": ("GET", "/me"),
    "create_organization": ("POST", "/admin/organizations"),
    "get_organization": ("GET", "/admin/organization"),
    "update_organization": ("PATCH", "/admin/organization"),
    "list_users": ("GET", "/admin/users"),
    "create_user": ("POST", "/admin/users"),
    "get_user": ("GET", "/admin/users/{user_id}"),
    "update_user": ("PATCH", "/admin/users/{user_id}"),
    "delete_user": ("DELETE", "/admin/users/{user_id}"),
    "list_tokens": ("GET", "/admin/tokens"),
    "create_token": ("POST", "/admin/tokens"),
    "revoke_token": ("DELETE", "/admin/tokens/{token_id}"),
    "list_audit_events": ("GET", "/admin/audit-events"),
    "list_projects": ("GET", "/projects"),
    "create_project": ("POST", "/projects"),
    "get_project": ("GET", "/projects/{project_id}"),
    "update_project": ("PATCH", "/projects/{project_id}"),
    "delete_project": ("DELETE", "/projects/{project_id}"),
    "list_members": ("GET", "/projects/{project_id}/members"),
    "add_member": ("POST", "/projects/{project_id}/members"),
    "update_member": ("PATCH", "/projects/{project_id}/members/{user_id}"),
    "remove_member": ("DELETE", "/projects/{project_id}/members/{user_id}"),
    "list_workstreams": ("GET", "/workstreams"),
    "create_workstream": ("POST", "/workstreams"),
    "get_workstream": ("GET", "/workstreams/{workstream_id}"),
    "update_workstream": ("PATCH", "/workstreams/{workstream_id}"),
    "delete_workstream": ("DELETE", "/workstreams/{workstream_id}"),
    "create_session": ("POST", "/sessions"),
    "get_session": ("GET", "/sessions/{session_id}"),
    "delete_session": ("DELETE", "/sessions/{session_id}"),
    "get_operation": ("GET", "/operations/{operation_id}"),
}


@pytest.fixture(scope="module")
def document(api: Client) -> Json:
    return ok(api.with_token(None).get("/openapi.json"))


def operations(document: Json) -> list[tuple[str, str, Json]]:
    paths = cast("dict[str, dict[str, Json]]", document["paths"])
    return [(verb.upper(), path, operation) for path, verbs in paths.items() for verb, operation in verbs.items()]


def test_each_route_has_an_operation_id_of_its_own(document: Json) -> None:
    ids = [str(operation["operationId"]) for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []


def test_the_tenancy_routes_are_there_under_their_sdk_names(document: Json) -> None:
    named = {str(operation["operationId"]): (verb, path) for verb, path, operation in operations(document)}
    assert {name: named[name] for name in TENANCY} == {
        name: (verb, PREFIX + path) for name, (verb, path) in TENANCY.items()
    }


def test_every_refusal_is_documented_as_a_problem_with_known_codes(document: Json) -> None:
    for verb, path, operation in operations(document):
        for status, answer in cast("dict[str, Json]", operation["responses"]).items():
            if int(status) >= 400:
                assert list(cast("Json", answer["content"])) == ["application/problem+json"], (verb, path, status)
                codes = re.findall(r"`(\w+)`", str(answer["description"]))
                assert codes, (verb, path, status)
                assert {BY_CODE[code].status for code in codes} == {int(status)}, (verb, path, status)


def test_every_route_below_the_prefix_needs_a_bearer_token(document: Json) -> None:
    open_routes = [path for _, path, operation in operations(document) if "security" not in operation]
    assert open_routes == ["/healthz", "/readyz"]


def test_requests_are_closed_objects(document: Json) -> None:
    schemas = cast("dict[str, dict[str, Json]]", document["components"])["schemas"]
    for verb, path, operation in operations(document):
        body = cast("dict[str, dict[str, dict[str, dict[str, str]]]]", operation.get("requestBody", {})).get("content")
        if body:
            name = body["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert schemas[name]["additionalProperties"] is False, (verb, path)


def test_every_reference_leads_somewhere(document: Json) -> None:
    schemas = cast("dict[str, dict[str, Json]]", document["components"])["schemas"]
    assert {reference.rpartition("/")[2] for reference in references(document)} <= set(schemas)


def references(value: JsonValue) -> list[str]:
    """All `$ref`s below a value."""
    if isinstance(value, list):
        return [reference for item in value for reference in references(item)]
    if not isinstance(value, dict):
        return []
    own = [str(value["$ref"])] if "$ref" in value else []
    return own + [reference for item in value.values() for reference in references(item)]


def test_paths_name_their_parameters(document: Json) -> None:
    for verb, path, operation in operations(document):
        listed = cast("list[Json]", operation.get("parameters", []))
        in_path = {str(parameter["name"]) for parameter in listed if parameter["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), (verb, path)


def test_posts_take_idempotency_keys_and_preconditions_are_named(document: Json) -> None:
    for verb, path, operation in operations(document):
        listed = cast("list[Json]", operation.get("parameters", []))
        headers = {str(parameter["name"]) for parameter in listed if parameter["in"] == "header"}
        responses = cast("Json", operation["responses"])
        assert ("Idempotency-Key" in headers) == (verb == "POST"), (verb, path)
        assert ("If-Match" in headers) == ("412" in responses), (verb, path)
        assert ("Prefer" in headers) == ("202" in responses), (verb, path)


def test_a_precondition_is_optional_where_some_may_leave_it_out(document: Json) -> None:
    optional = {
        str(operation["operationId"])
        for _, _, operation in operations(document)
        for parameter in cast("list[Json]", operation.get("parameters", []))
        if parameter["name"] == "If-Match" and not parameter["required"]
    }
    of_people = {"update_user", "delete_user", "update_workstream", "delete_workstream"}
    assert optional == {*of_people, "discard_draft", "merge_review", "save_memory", "delete_memory"}


def test_authors_are_told_that_a_discard_needs_a_precondition(document: Json) -> None:
    (discard,) = [each for _, _, each in operations(document) if each["operationId"] == "discard_draft"]
    assert "`precondition_required`" in str(cast("dict[str, Json]", discard["responses"])["428"]["description"])
