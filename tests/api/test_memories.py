"""Structured memories by name over HTTP (memory.md §1, §7)."""

import base64
import json
from collections.abc import Mapping
from urllib.parse import quote

import pytest

from models.rules.cursors import encode_cursor
from models.schemas.structured import StructuredMemoryBody
from tests.client import Client, Json, a_person, a_token, an_organization, ok, problem, refused_fields
from tests.sessions import a_workstream, an_organization_with_service

A_MEMORY: Json = {"name": "A-Name", "description": "What it is.", "content": "Some content.\n"}


@pytest.fixture(scope="module")
def nobody(api: Client) -> Client:
    """The owner of an organization in which nothing is ever stored, for requests that are refused."""
    return an_organization(api).owner


def at(name: str, more: str = "") -> str:
    return f"/memories/{quote(name, safe='')}{more}"


def names(page: Json) -> list[str]:
    memories = page["memories"]
    assert isinstance(memories, list)
    return [str(memory["name"]) for memory in memories if isinstance(memory, dict)]


def test_a_save_creates_and_then_updates(api: Client) -> None:
    organization = an_organization(api)
    owner = organization.owner
    made = owner.post("/memories", A_MEMORY)
    record = ok(made, 201)
    assert made.headers["etag"] == '"1"'
    assert record == {
        "memory_id": record["memory_id"],
        "name": "a_name",
        "description": "What it is.",
        "content": "Some content.\n",
        "type": "general",
        "scope": "global",
        "scope_id": "",
        "created": record["created"],
        "updated": record["created"],
        "revision": 1,
        "created_by": organization.owner_id,
        "updated_by": organization.owner_id,
        "published_memory_id": None,
    }
    StructuredMemoryBody.model_validate(record)
    assert list(record) == list(StructuredMemoryBody.model_fields)
    again = owner.post("/memories", {**A_MEMORY, "name": "a name", "type": "feedback"})
    assert (again.status_code, again.headers["etag"]) == (200, '"2"')
    changed = again.json()
    assert changed == {**record, "type": "feedback", "revision": 2, "updated": changed["updated"]}
    assert ok(owner.get(at("A-NAME"))) == changed


def test_times_have_six_digits_and_the_id_is_a_bare_uuid_of_version_7(api: Client) -> None:
    record = ok(an_organization(api).owner.post("/memories", A_MEMORY), 201)
    assert len(str(record["created"])) == len("2026-01-01T00:00:00.000000Z")
    assert str(record["created"]).endswith("Z")
    assert str(record["memory_id"])[14] == "7"
    assert len(str(record["memory_id"])) == 36


@pytest.mark.parametrize("name", ["naïve café", "東京 メモ", "x" * 256, "\U0001f600" * 256, "a%2fb", "a+b&c=d;e", "…"])
def test_a_name_of_any_script_is_found_by_its_path(api: Client, name: str) -> None:
    owner = an_organization(api).owner
    made = ok(owner.post("/memories", {**A_MEMORY, "name": name}), 201)
    assert ok(owner.get(at(name))) == made
    assert ok(owner.get(at(name, "/history")))["items"] != []
    assert ok(owner.delete(at(name))) == {"status": "ok", "name": made["name"]}


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("a%2Fb", "reserved_character"),
        ("a%2fhistory", "reserved_character"),
        ("a%3Fb", "reserved_character"),
        ("a%23b", "reserved_character"),
        ("a%00b", "control_character"),
        ("a%0Ab", "control_character"),
        ("a%E2%80%AEb", "bidirectional_control"),
        ("a%FFb", "utf_8"),
        ("x" * 257, "too_long"),
        ("%20", "blank"),
    ],
)
def test_a_path_whose_name_breaks_a_rule_is_refused(nobody: Client, path: str, rule: str) -> None:
    for response in (nobody.get(f"/memories/{path}"), nobody.delete(f"/memories/{path}")):
        assert refused_fields(response) == {("name", rule)}


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"name": ""}, {("name", "blank")}),
        ({"name": "a/b"}, {("name", "reserved_character")}),
        ({"name": None}, {("name", "null")}),
        ({"name": 7}, {("name", "type")}),
        ({"description": " \n"}, {("description", "blank")}),
        ({"description": "x" * 513}, {("description", "too_long")}),
        ({"description": "a\x1b[0m"}, {("description", "control_character")}),
        ({"content": " \n"}, {("content", "blank")}),
        ({"content": "a\0"}, {("content", "nul")}),
        ({"content": "x" * 65_537}, {("content", "too_long")}),
        ({"type": ""}, {("type", "not_allowed")}),
        ({"type": None}, {("type", "null")}),
        ({"type": "note"}, {("type", "not_allowed")}),
        ({"scope": "coordinator"}, {("scope", "not_allowed")}),
        ({"scope": "project", "scope_id": "prj_x"}, {("scope", "not_allowed")}),
        ({"scope": None}, {("scope", "null")}),
        ({"scope_id": None}, {("scope_id", "null")}),
        ({"scope_id": "usr_x"}, {("scope_id", "without_scope")}),
        ({"scope": "", "scope_id": "usr_x"}, {("scope_id", "without_scope")}),
        ({"scope": "global", "scope_id": "x"}, {("scope_id", "not_allowed")}),
        ({"scope": "workstream"}, {("scope_id", "missing")}),
        ({"scope": "workstream", "scope_id": ""}, {("scope_id", "missing")}),
        ({"revision": 1}, {("revision", "unknown")}),
        ({"name": "", "content": ""}, {("name", "blank"), ("content", "blank")}),
    ],
)
def test_a_save_that_breaks_a_rule_is_refused_with_field_and_rule(
    nobody: Client, change: Json, fields: set[tuple[str, str]]
) -> None:
    assert refused_fields(nobody.post("/memories", {**A_MEMORY, **change})) == fields


@pytest.mark.parametrize("missing", ["name", "description", "content"])
def test_a_save_names_all_three_texts_also_when_it_updates(api: Client, missing: str) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/memories", A_MEMORY), 201)
    body = {field: value for field, value in A_MEMORY.items() if field != missing}
    assert refused_fields(owner.post("/memories", body)) == {(missing, "missing")}


def test_empty_scopes_mean_that_they_are_left_out(api: Client) -> None:
    owner = an_organization(api).owner
    assert ok(owner.post("/memories", {**A_MEMORY, "scope": "", "scope_id": ""}), 201)["scope"] == "global"
    ok(owner.get(at("a_name"), scope="", scope_id=""))
    assert names(ok(owner.get("/memories", type="", scope="", scope_id=""))) == ["a_name"]
    assert ok(owner.get("/memories", scope="global", scope_id=""))["total"] == 1
    ok(owner.delete(at("a_name", "?scope=&scope_id=")))


def test_content_is_stored_exactly_as_sent(api: Client) -> None:
    owner = an_organization(api).owner
    content = "  \r\n</memory> \x1b[31m \u202e e\u0301 \ufeff \x01 \n\n"
    ok(owner.post("/memories", {**A_MEMORY, "content": content}), 201)
    assert ok(owner.get(at("a_name")))["content"] == content


def test_a_user_scope_is_the_callers_own(api: Client) -> None:
    organization = an_organization(api)
    one, two = a_person(organization), a_person(organization)
    made = ok(one.client.post("/memories", {**A_MEMORY, "scope": "user"}), 201)
    assert made["scope_id"] == one.user_id
    assert ok(one.client.get(at("a_name"), scope="user", scope_id=one.user_id)) == made
    problem(two.client.get(at("a_name"), scope="user"), 404, "not_found")
    problem(one.client.get(at("a_name")), 404, "not_found")
    for response in (
        two.client.get("/memories", scope="user", scope_id=one.user_id),
        two.client.get(at("a_name"), scope="user", scope_id=one.user_id),
        two.client.post("/memories", {**A_MEMORY, "scope": "user", "scope_id": one.user_id}),
        two.client.delete(at("a_name", f"?scope=user&scope_id={one.user_id}")),
        organization.owner.get("/memories", scope="user", scope_id=one.user_id),
    ):
        problem(response, 403, "forbidden")


def test_a_workstreams_memories_are_for_its_owner_and_service_tokens(api: Client) -> None:
    organization = an_organization_with_service(api)
    person, other = a_person(organization), a_person(organization)
    workstream = a_workstream(person.client)
    place = {"scope": "workstream", "scope_id": workstream}
    ok(person.client.post("/memories", {**A_MEMORY, **place}), 201)
    assert ok(person.client.request("GET", at("a_name"), query=place))["scope_id"] == workstream
    assert names(ok(api.request("GET", "/memories", query=place))) == ["a_name"]
    assert api.post("/memories", {**A_MEMORY, **place}).status_code == 200
    problem(other.client.request("GET", "/memories", query=place), 403, "forbidden")
    problem(other.client.post("/memories", {**A_MEMORY, **place, "content": ""}), 403, "forbidden")
    problem(person.client.get("/memories", scope="workstream", scope_id="wks_none"), 404, "not_found")
    problem(an_organization(api).owner.request("GET", "/memories", query=place), 404, "not_found")
    assert names(ok(person.client.get("/memories"))) == names(ok(api.get("/memories", scope="global")))


def test_nothing_crosses_an_organization(api: Client) -> None:
    one, two = an_organization(api), an_organization(api)
    ok(one.owner.post("/memories", A_MEMORY), 201)
    problem(two.owner.get(at("a_name")), 404, "not_found")
    problem(two.owner.delete(at("a_name")), 404, "not_found")
    problem(two.owner.get(at("a_name", "/history")), 404, "not_found")
    assert ok(two.owner.get("/memories")) == {"memories": [], "total": 0, "next_cursor": None}


def test_a_list_has_global_memories_and_the_callers_the_latest_first(api: Client) -> None:
    owner = an_organization(api).owner
    for number in range(5):
        scope = "user" if number % 2 else "global"
        ok(owner.post("/memories", {**A_MEMORY, "name": f"n{number}", "scope": scope, "type": "user"}), 201)
    ok(owner.post("/memories", {**A_MEMORY, "name": "n0"}))
    first = ok(owner.get("/memories", limit=2))
    assert (names(first), first["total"]) == (["n0", "n4"], 5)
    second = ok(owner.get("/memories", limit=2, cursor=str(first["next_cursor"])))
    third = ok(owner.get("/memories", limit=2, cursor=str(second["next_cursor"])))
    assert names(second) + names(third) == ["n3", "n2", "n1"]
    assert (second["total"], third["total"], third["next_cursor"]) == (5, 5, None)
    assert ok(owner.get("/memories", scope="user"))["total"] == 2
    assert ok(owner.get("/memories", type="general"))["total"] == 0
    assert ok(owner.get("/memories", type="user", limit=1))["total"] == 5
    assert refused_fields(owner.get("/memories", scope="user", cursor=str(first["next_cursor"]))) == {
        ("cursor", "foreign")
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, ("limit", "too_small")),
        ({"limit": 201}, ("limit", "too_large")),
        ({"limit": "x"}, ("limit", "type")),
        ({"type": "note"}, ("type", "not_allowed")),
        ({"scope": "coordinator"}, ("scope", "not_allowed")),
        ({"scope": "project", "scope_id": "prj_x"}, ("scope", "not_allowed")),
        ({"scope": "workstream"}, ("scope_id", "missing")),
        ({"scope_id": "usr_x"}, ("scope_id", "without_scope")),
        ({"scope": "global", "scope_id": "x"}, ("scope_id", "not_allowed")),
        ({"cursor": "x"}, ("cursor", "malformed")),
        ({"other": "x"}, ("other", "unknown")),
    ],
)
def test_a_list_that_breaks_a_rule_is_refused(
    nobody: Client, query: Mapping[str, str | int], field: tuple[str, str]
) -> None:
    assert refused_fields(nobody.request("GET", "/memories", query=query)) == {field}


def test_a_repeated_parameter_is_refused(nobody: Client) -> None:
    response = nobody.get("/memories?scope=user&scope=user")
    assert refused_fields(response) == {("scope", "repeated")}


def test_preconditions_guard_a_save(api: Client) -> None:
    owner = an_organization(api).owner
    any_etag, first = {"If-None-Match": "*"}, {"If-Match": '"1"'}
    problem(owner.post("/memories", A_MEMORY, headers=first), 412, "precondition_failed")
    ok(owner.post("/memories", A_MEMORY, headers=any_etag), 201)
    problem(owner.post("/memories", A_MEMORY, headers=any_etag), 412, "precondition_failed")
    assert ok(owner.post("/memories", A_MEMORY, headers=first))["revision"] == 2
    stale = problem(owner.post("/memories", A_MEMORY, headers=first), 412, "precondition_failed")
    assert (stale["expected"], stale["actual"]) == (1, 2)
    problem(owner.delete(at("a_name"), version=1), 412, "precondition_failed")
    for headers, field in (
        ({"If-Match": "*"}, "If-Match"),
        ({"If-Match": "1"}, "If-Match"),
        ({"If-None-Match": '"1"'}, "If-None-Match"),
    ):
        refused = refused_fields(owner.post("/memories", A_MEMORY, headers=headers))
        assert refused == {(field, "entity_tag")}
    ok(owner.delete(at("a_name"), version=2))


def test_what_a_client_has_is_not_sent_again(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/memories", A_MEMORY), 201)
    unchanged = owner.get(at("a_name"), headers={"If-None-Match": 'W/"1"'})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", '"1"')
    ok(owner.get(at("a_name"), headers={"If-None-Match": '"2"'}))


def test_a_delete_and_its_restoration_stand_in_the_history(api: Client) -> None:
    organization = an_organization(api)
    owner = organization.owner
    made = ok(owner.post("/memories", A_MEMORY), 201)
    problem(owner.post(at("a_name", "/restorations"), {}), 409, "already_exists")
    ok(owner.delete(at("A Name")))
    missing = problem(owner.delete(at("a_name")), 404, "not_found")
    assert missing["detail"] == missing["error"] == "Memory 'a_name' not found"
    problem(owner.get(at("a_name")), 404, "not_found")
    restored = owner.request("POST", at("a_name", "/restorations"))
    assert restored.headers["etag"] == '"3"'
    assert ok(restored) == {**made, "revision": 3, "updated": restored.json()["updated"]}
    first = ok(owner.get(at("a_name", "/history"), limit=2))
    rest = ok(owner.get(at("a_name", "/history"), cursor=str(first["next_cursor"])))
    assert rest["next_cursor"] is None
    versions = [*_items(first), *_items(rest)]
    assert [(version["revision"], version["event"], version["content"]) for version in versions] == [
        (3, "restored", "Some content.\n"),
        (2, "deleted", None),
        (1, "created", "Some content.\n"),
    ]
    assert versions[2] == {
        "revision": 1,
        "event": "created",
        "memory_id": made["memory_id"],
        "name": "a_name",
        "type": "general",
        "description": "What it is.",
        "content": "Some content.\n",
        "user_id": organization.owner_id,
        "session_id": None,
        "at": made["created"],
    }
    problem(owner.post(at("never", "/restorations"), {}), 404, "not_found")
    problem(owner.get(at("never", "/history")), 404, "not_found")
    assert refused_fields(owner.post(at("a_name", "/restorations"), {"x": 1})) == {("x", "unknown")}


def test_the_permissions_are_independent(api: Client) -> None:
    owner = an_organization(api).owner
    reads, writes = (owner.with_token(a_token(owner, None, only)) for only in ("read", "write"))
    problem(reads.post("/memories", A_MEMORY), 403, "forbidden")
    ok(writes.post("/memories", A_MEMORY), 201)
    problem(writes.get(at("a_name")), 403, "forbidden")
    problem(writes.get("/memories"), 403, "forbidden")
    problem(writes.get(at("a_name", "/history")), 403, "forbidden")
    ok(reads.get(at("a_name")))
    problem(reads.delete(at("a_name")), 403, "forbidden")
    problem(reads.post(at("a_name", "/restorations"), {}), 403, "forbidden")
    ok(writes.delete(at("a_name")))
    ok(writes.post(at("a_name", "/restorations"), {}))


def test_global_memories_are_written_by_whom_the_policy_names(api: Client) -> None:
    organization = an_organization(api)
    member = a_person(organization).client
    ok(member.post("/memories", A_MEMORY), 201)
    now = organization.owner.get("/admin/organization").headers
    ok(organization.owner.patch("/admin/organization", {"global_write": "admin"}, headers={"If-Match": now["etag"]}))
    for response in (
        member.post("/memories", {"name": ""}),
        member.delete(at("a_name")),
        member.post(at("a_name", "/restorations"), {}),
    ):
        problem(response, 403, "forbidden")
    ok(member.get(at("a_name")))
    ok(member.post("/memories", {**A_MEMORY, "scope": "user"}), 201)
    ok(organization.owner.post("/memories", A_MEMORY))


@pytest.mark.parametrize("version", [2_147_483_648, 10**18 - 1])
def test_a_revision_beyond_every_stored_one_is_stale(api: Client, version: int) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/memories", A_MEMORY), 201)
    stale = owner.post("/memories", A_MEMORY, headers={"If-Match": f'"{version}"'})
    problem(stale, 412, "precondition_failed")
    problem(owner.delete(at("a_name"), version=version), 412, "precondition_failed")
    assert ok(owner.get(at("a_name")))["revision"] == 1


def forged(cursor: str, *position: str) -> str:
    """A cursor of the same list, behind another position."""
    fingerprint, *_ = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    return encode_cursor(fingerprint, position)


@pytest.fixture(scope="module")
def writer(api: Client) -> Client:
    """The owner of an organization with a name that has two versions, and another that has one."""
    owner = an_organization(api).owner
    for name in ("a_name", "a_name", "another"):
        owner.post("/memories", {**A_MEMORY, "name": name})
    return owner


@pytest.mark.parametrize("revision", ["abc", "", "-1", "99999999999", "1.5"])
def test_a_forged_position_in_a_history_is_malformed(writer: Client, revision: str) -> None:
    cursor = str(ok(writer.get(at("a_name", "/history"), limit=1))["next_cursor"])
    refused = writer.get(at("a_name", "/history"), cursor=forged(cursor, revision))
    assert refused_fields(refused) == {("cursor", "malformed")}


@pytest.mark.parametrize(
    "updated", ["abc", "2026-13-01T00:00:00.000000Z", "2026-01-01", "2026-01-01T00:00:00+00:00:00.000001"]
)
def test_a_forged_position_in_a_list_is_malformed(writer: Client, updated: str) -> None:
    cursor = str(ok(writer.get("/memories", limit=1))["next_cursor"])
    assert refused_fields(writer.get("/memories", cursor=forged(cursor, updated, "x"))) == {("cursor", "malformed")}


def test_a_save_with_a_key_happens_once(api: Client) -> None:
    owner = an_organization(api).owner
    first = owner.post("/memories", A_MEMORY, key="k")
    again = owner.post("/memories", A_MEMORY, key="k")
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert (again.headers["etag"], again.headers["idempotency-replayed"]) == ('"1"', "true")
    problem(owner.post("/memories", {**A_MEMORY, "content": "Other."}, key="k"), 422, "idempotency_key_reused")
    assert ok(owner.get(at("a_name")))["revision"] == 1
    refused = owner.post("/memories", {**A_MEMORY, "name": ""}, key="r")
    assert owner.post("/memories", {**A_MEMORY, "name": ""}, key="r").content == refused.content
    assert refused_fields(owner.post("/memories", A_MEMORY, key="not visible")) == {
        ("Idempotency-Key", "visible_ascii")
    }


def test_a_body_of_more_than_2_mib_is_refused(api: Client) -> None:
    owner = an_organization(api).owner
    headers = {"Content-Type": "application/json"}
    for content in (b" " * (2 * 1024 * 1024 + 1), iter([b" " * 1024 * 1024] * 3)):
        refused = problem(owner.request("POST", "/memories", content=content, headers=headers), 413, "too_large")
        assert refused["limit"] == 2 * 1024 * 1024
    problem(
        owner.request("POST", "/memories", content=b"{}", headers={"Content-Type": "text/plain"}),
        415,
        "unsupported_media_type",
    )


@pytest.mark.parametrize(
    "content",
    [b'{"name": "a", "name": "b"}', b'{"name": NaN}', b"[]", b"{", b'{"name": "\xff"}', b'{"name": "\\ud800"}'],
)
def test_what_is_no_strict_json_is_refused(nobody: Client, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    problem(nobody.request("POST", "/memories", content=content, headers=headers), 400, "invalid_request")


def test_without_a_valid_token_nothing_is_told(api: Client) -> None:
    for client in (api.with_token(None), api.with_token("cnr_unknown")):
        problem(client.get("/memories"), 401, "unauthenticated")
        problem(client.post("/memories", {}), 401, "unauthenticated")
        problem(client.get(at("a", "/history")), 401, "unauthenticated")


def test_an_unknown_method_names_those_that_are_known(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/memories", A_MEMORY), 201)
    refused = owner.patch(at("a_name"), {})
    problem(refused, 405, "method_not_allowed")
    assert refused.headers["allow"] == "DELETE, GET"
    problem(owner.patch(at("none"), {}), 404, "not_found")


def test_every_save_is_audited_in_its_transaction(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/memories", A_MEMORY, headers={"X-Request-ID": "saved-1"}), 201)
    ok(owner.get(at("a_name")))
    problem(owner.get(at("none")), 404, "not_found")
    ok(owner.delete(at("a_name")))
    audited = _items(ok(owner.get("/admin/audit-events")))
    of_memories = [event for event in audited if str(event["action"]).startswith("memory.")]
    assert [event["action"] for event in of_memories] == ["memory.delete", "memory.save"]
    assert of_memories[1]["request_id"] == "saved-1"
    assert of_memories[0]["before_hash"] == of_memories[1]["after_hash"]
    detail = {"name": "a_name", "scope": "global", "scope_id": "", "type": "general", "surface": "rest"}
    assert all(event["detail"] == detail for event in of_memories)


def _items(page: Json) -> list[Json]:
    items = page["items"]
    assert isinstance(items, list)
    return [item for item in items if isinstance(item, dict)]
