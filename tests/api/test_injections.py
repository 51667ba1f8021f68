"""What earlier turns of a session were given: ids and scores, never contents or queries (memory.md §7)."""

import pytest

from tests.client import (
    Client,
    Json,
    Organization,
    a_person,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.turns import an_open_session, saves, turn


@pytest.fixture
def organization(api: Client) -> Organization:
    return an_organization(api)


@pytest.fixture
def agent(organization: Organization) -> Client:
    return a_person(organization).client


def test_a_turn_is_listed_with_what_it_was_given(agent: Client) -> None:
    session_id = an_open_session(agent)
    saves(agent, session_id, "alpha", "The same gamma, secretly.")
    saves(agent, session_id, "beta", "The same gamma, and more of it: gamma.")
    given = turn(agent, session_id, "gamma, please", k=7, turn_id="turn ü")
    response = agent.get(f"/sessions/{session_id}/injections")
    (listed,) = items(response)
    assert isinstance(given["memories"], list)
    assert listed == {
        "injection_id": given["injection_id"],
        "turn_id": "turn ü",
        "at": listed["at"],
        "k": 7,
        "in_scope": 2,
        "index_revision": given["index_revision"],
        "memories": [
            {name: memory[name] for name in ("memory_id", "revision", "score", "source")}
            for memory in given["memories"]
            if isinstance(memory, dict)
        ],
    }
    assert len(given["memories"]) == 2
    assert "secretly" not in response.text
    assert "please" not in response.text


def test_a_turn_that_was_given_nothing_is_listed_too(agent: Client) -> None:
    session_id = an_open_session(agent)
    given = turn(agent, session_id, "gamma")
    (listed,) = items(agent.get(f"/sessions/{session_id}/injections"))
    assert (listed["injection_id"], listed["turn_id"], listed["k"]) == (given["injection_id"], None, 5)
    assert listed["memories"] == []


def test_turns_are_listed_newest_first_page_by_page(agent: Client) -> None:
    session_id = an_open_session(agent)
    made = [turn(agent, session_id, "gamma")["injection_id"] for _ in range(3)]
    first = ok(agent.get(f"/sessions/{session_id}/injections", limit=2))
    rest = ok(agent.get(f"/sessions/{session_id}/injections", limit=2, cursor=str(first["next_cursor"])))
    assert rest["next_cursor"] is None
    pages = [page["items"] for page in (first, rest)]
    assert [item["injection_id"] for page in pages for item in page] == made[::-1]  # type: ignore[union-attr, index, call-overload]


def test_only_who_may_use_the_session_sees_its_turns(agent: Client, organization: Organization) -> None:
    path = f"/sessions/{an_open_session(agent)}/injections"
    problem(a_person(organization).client.get(path), 404, "not_found")
    problem(organization.owner.get(path), 404, "not_found")


def test_seeing_turns_needs_to_read(agent: Client) -> None:
    path = f"/sessions/{an_open_session(agent)}/injections"
    problem(agent.with_token(a_token(agent, None, "write")).get(path), 403, "forbidden")
    assert items(agent.with_token(a_token(agent, None, "read")).get(path)) == []


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ({"limit": 0}, ("limit", "too_small")),
        ({"limit": 201}, ("limit", "too_large")),
        ({"query": "x"}, ("query", "unknown")),
        ({"cursor": "x"}, ("cursor", "malformed")),
    ],
)
def test_a_list_is_asked_for_properly(agent: Client, query: Json, refused: tuple[str, str]) -> None:
    response = agent.request("GET", f"/sessions/{an_open_session(agent)}/injections", query=query)  # type: ignore[arg-type]
    assert refused_fields(response) == {refused}


def test_a_cursor_belongs_to_its_session(agent: Client) -> None:
    one, other = an_open_session(agent), an_open_session(agent)
    for _ in range(2):
        turn(agent, one, "gamma")
    cursor = str(ok(agent.get(f"/sessions/{one}/injections", limit=1))["next_cursor"])
    response = agent.get(f"/sessions/{other}/injections", cursor=cursor)
    assert refused_fields(response) == {("cursor", "foreign")}


def test_the_end_of_a_session_takes_its_turns_along(agent: Client) -> None:
    session_id = an_open_session(agent)
    turn(agent, session_id, "gamma")
    assert agent.delete(f"/sessions/{session_id}").status_code == 204
    problem(agent.get(f"/sessions/{session_id}/injections"), 404, "not_found")
