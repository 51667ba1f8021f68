"""Looking for structured memories over HTTP (memory.md §4, §7)."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from models.schemas.memory_search import FoundMemories
from tests.client import Client, Json, a_person, a_token, an_organization, ok, problem, refused_fields
from tests.sessions import a_workstream, an_organization_with_service


@pytest.fixture(scope="module")
def nobody(api: Client) -> Client:
    """The owner of an organization in which nothing is ever stored, for requests that are refused."""
    return an_organization(api).owner


def saved(client: Client, name: str, content: str, **fields: JsonValue) -> Json:
    body: Json = {"name": name, "description": "A note.", "content": content, **fields}
    return ok(client.post("/memories", body), 201)


def search(client: Client, query: str, **fields: JsonValue) -> Json:
    return ok(client.post("/memories/search", {"query": query, **fields}))


def names(found: Json) -> list[str]:
    memories = found["memories"]
    assert isinstance(memories, list)
    return [str(memory["name"]) for memory in memories if isinstance(memory, dict)]


def test_the_best_come_first_with_their_scores_and_as_they_are_stored(api: Client) -> None:
    owner = an_organization(api).owner
    little = saved(owner, "little", "Only one word about the harbour, and much else beside it that is about no port.")
    much = saved(owner, "much", "Harbour harbour.")
    saved(owner, "none", "Mountains.")
    found = search(owner, "HARBOUR?")
    FoundMemories.model_validate(found)
    assert found["total"] == 2
    memories = found["memories"]
    assert isinstance(memories, list)
    first, second = (memory for memory in memories if isinstance(memory, dict))
    assert (first, second) == ({**much, "score": first["score"]}, {**little, "score": second["score"]})
    assert list(first) == [*much, "score"]
    assert isinstance(first["score"], float)
    assert isinstance(second["score"], float)
    assert first["score"] > second["score"] > 0


def test_a_repeated_key_finds_what_may_be_read_by_then(api: Client) -> None:
    owner = an_organization(api).owner
    saved(owner, "kept", "A lighthouse.")
    saved(owner, "removed", "Another lighthouse.")
    path, body = "/memories/search", {"query": "lighthouse"}
    assert ok(owner.post(path, body, key="k"))["total"] == 2
    ok(owner.delete("/memories/removed"))
    again = owner.post(path, body, key="k")
    assert (names(ok(again)), again.headers.get("Idempotency-Replayed")) == (["kept"], None)
    problem(owner.post(path, {"query": "beacon"}, key="k"), 422, "idempotency_key_reused")


def test_what_was_saved_changed_or_deleted_is_so_for_the_next_search(api: Client) -> None:
    owner = an_organization(api).owner
    for number in range(5):
        saved(owner, f"n{number}", f"lighthouse {number}")
        assert search(owner, "lighthouse")["total"] == number + 1
    ok(owner.post("/memories", {"name": "n0", "description": "A note.", "content": "A beacon."}))
    assert names(search(owner, "beacon")) == ["n0"]
    assert search(owner, "lighthouse")["total"] == 4
    ok(owner.delete("/memories/n1"))
    assert search(owner, "lighthouse")["total"] == 3
    ok(owner.post("/memories/n1/restorations", {}))
    assert search(owner, "lighthouse")["total"] == 4


def test_without_a_scope_global_memories_and_the_callers_are_searched(api: Client) -> None:
    organization = an_organization(api)
    one, two = a_person(organization), a_person(organization)
    saved(one.client, "shared", "lighthouse")
    saved(one.client, "own", "lighthouse", scope="user")
    saved(one.client, "theirs", "lighthouse", scope="workstream", scope_id=a_workstream(one.client))
    assert sorted(names(search(one.client, "lighthouse"))) == ["own", "shared"]
    assert names(search(two.client, "lighthouse", scope="", scope_id="", type="")) == ["shared"]
    assert names(search(one.client, "lighthouse", scope="user")) == ["own"]
    assert names(search(one.client, "lighthouse", scope="user", scope_id=one.user_id)) == ["own"]
    assert names(search(one.client, "lighthouse", scope="global")) == ["shared"]
    problem(
        two.client.post("/memories/search", {"query": "x", "scope": "user", "scope_id": one.user_id}), 403, "forbidden"
    )


def test_a_workstreams_memories_are_searched_by_its_owner_and_by_service_tokens(api: Client) -> None:
    organization = an_organization_with_service(api)
    person, other = a_person(organization), a_person(organization)
    place: Json = {"scope": "workstream", "scope_id": a_workstream(person.client)}
    saved(person.client, "theirs", "lighthouse", **place)
    assert names(search(person.client, "lighthouse", **place)) == ["theirs"]
    assert names(search(api, "lighthouse", **place)) == ["theirs"]
    problem(other.client.post("/memories/search", {"query": "x", **place}), 403, "forbidden")
    problem(an_organization(api).owner.post("/memories/search", {"query": "x", **place}), 404, "not_found")


def test_a_type_and_a_limit_cut_what_is_found_and_change_no_score(api: Client) -> None:
    owner = an_organization(api).owner
    saved(owner, "a", "lighthouse", type="feedback")
    saved(owner, "b", "lighthouse lighthouse")
    everything = search(owner, "lighthouse")["memories"]
    assert isinstance(everything, list)
    typed = search(owner, "lighthouse", type="feedback")
    assert typed == {"memories": [memory for memory in everything if dict(memory)["type"] == "feedback"], "total": 1}  # type: ignore[arg-type]
    assert search(owner, "lighthouse", limit=1) == {"memories": everything[:1], "total": 2}


def test_other_scopes_and_organizations_move_no_score(api: Client) -> None:
    organization, other = an_organization(api), an_organization(api)
    person = a_person(organization)
    saved(person.client, "a", "lighthouse")
    saved(person.client, "b", "harbour")
    before = search(person.client, "lighthouse harbour")
    for client in (organization.owner, other.owner):
        saved(client, "c", "lighthouse", scope="user")
    assert search(person.client, "lighthouse harbour") == before


@pytest.mark.parametrize(
    "query", ['AND OR NOT "(', "a:b^2~ *", "field:[a TO b]", "\\", "lighthouse\u0000'", "<&\u202e>", "x" * 100_000]
)
def test_a_query_is_text_in_which_no_character_means_anything(nobody: Client, query: str) -> None:
    assert search(nobody, query) == {"memories": [], "total": 0}


def test_what_surrounds_a_word_hides_no_match(api: Client) -> None:
    owner = an_organization(api).owner
    saved(owner, "a", "lighthouse")
    for query in ('"lighthouse', "-lighthouse", "(lighthouse", "lighthouse:", "NOT lighthouse", "lighthouse~*^"):
        assert names(search(owner, query)) == ["a"]
    assert search(owner, "???") == {"memories": [], "total": 0}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ("query", "missing")),
        ({"query": None}, ("query", "null")),
        ({"query": 1}, ("query", "type")),
        ({"query": " \n\u3000"}, ("query", "blank")),
        ({"query": "x" * 100_001}, ("query", "too_long")),
        ({"query": "x", "limit": 0}, ("limit", "too_small")),
        ({"query": "x", "limit": 51}, ("limit", "too_large")),
        ({"query": "x", "limit": "5"}, ("limit", "type")),
        ({"query": "x", "limit": True}, ("limit", "type")),
        ({"query": "x", "type": "note"}, ("type", "not_allowed")),
        ({"query": "x", "type": None}, ("type", "null")),
        ({"query": "x", "scope": "coordinator"}, ("scope", "not_allowed")),
        ({"query": "x", "scope": "project", "scope_id": "prj_x"}, ("scope", "not_allowed")),
        ({"query": "x", "scope": "workstream"}, ("scope_id", "missing")),
        ({"query": "x", "scope_id": "usr_x"}, ("scope_id", "without_scope")),
        ({"query": "x", "scope": "global", "scope_id": "x"}, ("scope_id", "not_allowed")),
        ({"query": "x", "cursor": "x"}, ("cursor", "unknown")),
    ],
)
def test_a_search_that_breaks_a_rule_is_refused(
    nobody: Client, body: Mapping[str, JsonValue], field: tuple[str, str]
) -> None:
    assert refused_fields(nobody.post("/memories/search", dict(body))) == {field}


def test_searching_needs_only_read(api: Client) -> None:
    owner = an_organization(api).owner
    reads, writes, administers = (
        owner.with_token(a_token(owner, None, only)) for only in ("read", "write", "admin.memories")
    )
    search(reads, "x")
    for client in (writes, administers):
        problem(client.post("/memories/search", {"query": "x"}), 403, "forbidden")
    problem(owner.with_token(None).post("/memories/search", {}), 401, "unauthenticated")


def test_a_memory_may_be_named_search(api: Client) -> None:
    owner = an_organization(api).owner
    made = saved(owner, "search", "lighthouse")
    assert ok(owner.get("/memories/search")) == made
    assert names(search(owner, "search")) == ["search"]
