"""Structured memories of a whole organization, for those who may `admin.memories` (memory.md §7)."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from tests.client import (
    Client,
    Json,
    Organization,
    a_person,
    a_project,
    a_token,
    an_organization,
    ok,
    problem,
    refused_fields,
)
from tests.sessions import a_workstream
from tests.tools import a_tool

MEMORIES = "/admin/memories"
SEARCH = f"{MEMORIES}/search"


@pytest.fixture(scope="module")
def nobody(api: Client) -> Client:
    """An administrator of memories where there are none, for requests that are refused."""
    return administrator(an_organization(api))


def administrator(organization: Organization) -> Client:
    """A client with a token that permits `admin.memories` and nothing else."""
    owner = organization.owner
    return owner.with_token(a_token(owner, organization.owner_id, "admin.memories"))


def saved(client: Client, name: str, **fields: JsonValue) -> Json:
    body: Json = {"name": name, "description": "A note.", "content": "lighthouse", **fields}
    return ok(client.post("/memories", body), 201)


def names(page: Json) -> list[str]:
    memories = page["memories"]
    assert isinstance(memories, list)
    return [str(memory["name"]) for memory in memories if isinstance(memory, dict)]


def one_of_each_scope(organization: Organization) -> dict[str, Json]:
    """A memory in every scope, of somebody who is not the administrator; each is named like its scope."""
    client = a_person(organization).client
    project_id = a_project(client)
    coordinator = a_tool(client, kind="coordinator", project_id=project_id)
    workstream = a_workstream(client)
    return {
        "global": saved(client, "global"),
        "workstream": saved(client, "workstream", scope="workstream", scope_id=workstream),
        "user": saved(client, "user", scope="user"),
        "coordinator": coordinator.saved("coordinator", "lighthouse", scope="coordinator"),
        "project": coordinator.saved("project", "lighthouse"),
    }


def test_an_administrator_lists_every_scope_the_latest_first(api: Client) -> None:
    organization = an_organization(api)
    made, admin = one_of_each_scope(organization), administrator(organization)
    page = ok(admin.get(MEMORIES))
    assert page == {"memories": page["memories"], "total": 5, "next_cursor": None}
    assert names(page) == list(reversed(made))
    for name, record in made.items():
        assert ok(admin.get(f"{MEMORIES}/{record['memory_id']}")).items() >= record.items()
        assert names(ok(admin.get(MEMORIES, scope=name))) == [name]
        assert names(ok(admin.get(MEMORIES, scope=name, scope_id=str(record["scope_id"])))) == [name]
    assert names(ok(admin.get(MEMORIES, scope="user", scope_id="usr_none"))) == []
    assert ok(admin.get(MEMORIES, type="", scope="", scope_id=""))["total"] == 5
    assert ok(an_organization(api).owner.get(MEMORIES))["total"] == 0


def test_pages_go_on_where_the_last_one_ended(api: Client) -> None:
    organization = an_organization(api)
    one, two = a_person(organization).client, a_person(organization).client
    for number in range(5):
        saved((one, two)[number % 2], f"n{number}", scope="user", type="feedback")
    admin = administrator(organization)
    for filters in ({}, {"scope": "user"}, {"type": "feedback"}):
        first = ok(admin.request("GET", MEMORIES, query={"limit": 3, **filters}))
        rest = ok(admin.request("GET", MEMORIES, query={"cursor": str(first["next_cursor"]), **filters}))
        assert names(first) + names(rest) == ["n4", "n3", "n2", "n1", "n0"]
        assert (first["total"], rest["total"], rest["next_cursor"]) == (5, 5, None)
    cursor = str(ok(admin.get(MEMORIES, limit=1))["next_cursor"])
    assert refused_fields(admin.get(MEMORIES, scope="user", cursor=cursor)) == {("cursor", "foreign")}
    assert refused_fields(organization.owner.get("/memories", cursor=cursor)) == {("cursor", "foreign")}


def test_an_administrator_searches_every_scope(api: Client) -> None:
    organization = an_organization(api)
    made, admin = one_of_each_scope(organization), administrator(organization)
    found = ok(admin.get(SEARCH, q="LIGHTHOUSE"))
    assert (sorted(names(found)), found["total"]) == (sorted(made), 5)
    assert list(found) == ["memories", "total"]
    memories = found["memories"]
    assert isinstance(memories, list)
    assert all(isinstance(memory, dict) and memory["score"] for memory in memories)
    for name, record in made.items():
        assert names(ok(admin.get(SEARCH, q="lighthouse", scope=name))) == [name]
        assert names(ok(admin.get(SEARCH, q="lighthouse", scope=name, scope_id=str(record["scope_id"])))) == [name]
    assert ok(admin.get(SEARCH, q="lighthouse", type="reference")) == {"memories": [], "total": 0}
    assert ok(admin.get(SEARCH, q="lighthouse", limit=2))["total"] == 5
    assert ok(an_organization(api).owner.get(SEARCH, q="lighthouse"))["total"] == 0


def test_limits_above_the_highest_are_lowered(api: Client) -> None:
    organization = an_organization(api)
    for number in range(52):
        saved(organization.owner, f"n{number}")
    admin = administrator(organization)
    assert len(names(ok(admin.get(MEMORIES, limit=1_000)))) == 52
    assert len(names(ok(admin.get(SEARCH, q="lighthouse", limit=51)))) == 50
    assert len(names(ok(admin.get(SEARCH, q="lighthouse")))) == 20


def test_an_administrator_reads_and_deletes_a_memory_by_its_id(api: Client) -> None:
    organization = an_organization(api)
    owner, admin = organization.owner, administrator(organization)
    for record in one_of_each_scope(organization).values():
        where = f"{MEMORIES}/{record['memory_id']}"
        assert admin.get(where).headers["etag"] == '"1"'
        assert ok(admin.delete(where)) == {"status": "ok"}
        for again in (admin.get(where), admin.delete(where)):
            refused = problem(again, 404, "not_found")
            assert refused["detail"] == refused["error"] == "Memory not found"
    assert ok(admin.get(SEARCH, q="lighthouse"))["total"] == 0
    audited = ok(owner.get("/admin/audit-events", action="memory.delete"))["items"]
    assert isinstance(audited, list)
    details = [event["detail"] for event in audited if isinstance(event, dict)]
    assert len(details) == 5
    assert all(isinstance(detail, dict) and detail["surface"] == "admin" for detail in details)


def test_another_organizations_memory_is_unknown(api: Client) -> None:
    record = saved(an_organization(api).owner, "theirs")
    stranger = an_organization(api).owner
    problem(stranger.get(f"{MEMORIES}/{record['memory_id']}"), 404, "not_found")
    problem(stranger.delete(f"{MEMORIES}/{record['memory_id']}"), 404, "not_found")


def test_only_a_token_that_permits_it_reaches_the_memories_of_all(api: Client) -> None:
    organization = an_organization(api)
    owner = organization.owner
    record = saved(owner, "a")
    client = owner.with_token(a_token(owner, organization.owner_id, "read", "write"))
    for refused in (
        client.get(MEMORIES),
        client.get(SEARCH, q="x"),
        client.get(f"{MEMORIES}/{record['memory_id']}"),
        client.delete(f"{MEMORIES}/{record['memory_id']}"),
    ):
        assert problem(refused, 403, "forbidden")["permission"] == "admin.memories"
    problem(owner.with_token(None).get(MEMORIES), 401, "unauthenticated")
    problem(administrator(organization).get("/memories"), 403, "forbidden")


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        (MEMORIES, {"limit": 0}, ("limit", "too_small")),
        (MEMORIES, {"limit": "x"}, ("limit", "type")),
        (MEMORIES, {"type": "note"}, ("type", "not_allowed")),
        (MEMORIES, {"scope": "team"}, ("scope", "not_allowed")),
        (MEMORIES, {"scope_id": "usr_x"}, ("scope_id", "without_scope")),
        (MEMORIES, {"scope": "global", "scope_id": "x"}, ("scope_id", "not_allowed")),
        (MEMORIES, {"cursor": "x"}, ("cursor", "malformed")),
        (MEMORIES, {"user_id": "usr_x"}, ("user_id", "unknown")),
        (MEMORIES, {"q": "x"}, ("q", "unknown")),
        (SEARCH, {}, ("q", "missing")),
        (SEARCH, {"q": ""}, ("q", "blank")),
        (SEARCH, {"q": " "}, ("q", "blank")),
        (SEARCH, {"q": "x", "limit": 0}, ("limit", "too_small")),
        (SEARCH, {"q": "x", "scope": "team"}, ("scope", "not_allowed")),
        (SEARCH, {"q": "x", "cursor": "x"}, ("cursor", "unknown")),
    ],
)
def test_filters_that_break_a_rule_are_refused(
    nobody: Client, path: str, query: Mapping[str, str | int], field: tuple[str, str]
) -> None:
    assert refused_fields(nobody.request("GET", path, query=query)) == {field}
