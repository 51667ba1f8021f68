"""The `memory` tool in the process itself, without HTTP (memory.md §3)."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import psycopg
import pytest
from pydantic import JsonValue
from sqlalchemy import Engine, text

from activities.memory_tool.actions import Scene
from activities.memory_tool.tool import MemoryTool, SessionCall, ToolResult, answer_call
from models.connections import Connections
from models.identifiers import SessionId
from models.memory_settings import MemorySettings
from models.rules.envelopes import session_envelope
from models.settings import Settings
from models.store.locks import lock_access
from models.store.sessions import NewSession, create_session, read_session_facts
from models.store.structured import Actor
from search.corpus import Corpus
from search.memory_index import MemoryIndex
from tests.databases import url_of
from tests.rows import Somewhere, acting, an_organization, execute, fetch, joins, leaves

WAITING_S = 10.0
PATIENT = "canonry-test-patient"


@dataclass(frozen=True)
class Agent:
    """A coordinator's session with the project of its place attached, and the tool."""

    place: Somewhere
    session: SessionCall
    index: MemoryIndex
    tool: MemoryTool

    def call(self, action: str, **arguments: JsonValue) -> ToolResult:
        return self.tool.call(self.session, {"action": action, **arguments}, "python")

    def save(self, name: str, **arguments: JsonValue) -> ToolResult:
        return self.call("save", **{"name": name, "content": "Of alpha.", "description": "About it", **arguments})


def an_index() -> MemoryIndex:
    index = MemoryIndex()
    index.prepare(Corpus())
    index.serve()
    return index


def connections_to(url: str, settings: Settings | None = None) -> Connections:
    return Connections(url, settings or Settings(), size=2, application_name=PATIENT)


@pytest.fixture
def connections(engine: Engine) -> Iterator[Connections]:
    made = connections_to(url_of(engine), Settings(lock_timeout_ms=100))
    yield made
    made.close_idle()


@pytest.fixture
def agent(engine: Engine, connections: Connections) -> Agent:
    place = an_organization(engine)
    joins(place, place.owner)
    with acting(place) as tx:
        new = NewSession("coordinator", place.owner, None, place.project_id, read_only=False, resumes=False)
        session_id = create_session(tx, new).session_id
    index = an_index()
    session = SessionCall(place.org_id, session_id, "request")
    return Agent(place, session, index, MemoryTool(connections, index, MemorySettings()))


def a_scene(agent: Agent, connection: psycopg.Connection) -> Scene:
    """Where a call of the agent happens, as things are now."""
    facts = read_session_facts(connection, agent.place.org_id, agent.session.session_id)
    assert facts is not None
    actor = Actor(facts.org_id, facts.user_id, "request", "python", facts.session_id)
    return Scene(
        connection, agent.index, facts, session_envelope(facts), actor, lambda change: agent.index.apply([change])
    )


def wait_until_it_waits(place: Somewhere) -> None:
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = :name"
    deadline = time.monotonic() + WAITING_S
    while not fetch(place, waiting, name=PATIENT)[0][0]:
        assert time.monotonic() < deadline, "nothing waits"
        time.sleep(0.01)


def structured(result: ToolResult) -> dict[str, JsonValue]:
    assert result.problem is None, result.text
    assert result.structured is not None
    return result.structured


def names_of(result: ToolResult) -> list[str]:
    memories = structured(result)["memories"]
    assert isinstance(memories, list)
    return sorted(str(memory["name"]) for memory in memories if isinstance(memory, dict))


def code_of(result: ToolResult) -> str:
    assert result.problem is not None
    assert (result.text, result.structured) == (result.problem.detail, None)
    return result.problem.code


def test_the_tool_saves_finds_and_deletes_without_http(agent: Agent) -> None:
    assert structured(agent.save("key"))["status"] == "created"
    assert agent.call("get", name="key").text == "[general:project] key — About it\n\nOf alpha."
    assert names_of(agent.call("search", query="alpha")) == ["key"]
    assert agent.call("delete", name="key").text == "Deleted memory 'key' (scope=project)"
    assert names_of(agent.call("search", query="alpha")) == []


def test_what_it_changes_is_audited_as_of_python_with_its_session(agent: Agent) -> None:
    agent.save("key")
    (row,) = fetch(
        agent.place,
        """
        select action, session_id, request_id, detail from audit_events
        where org_id = :org_id and action like 'memory.%'
        """,
        org_id=agent.place.org_id,
    )
    assert (row.action, row.session_id, row.request_id) == ("memory.save", agent.session.session_id, "request")
    assert row.detail["surface"] == "python"


def test_a_session_that_is_not_there_is_a_result(agent: Agent) -> None:
    unknown = SessionCall(agent.place.org_id, SessionId("ses_unknown"), "request")
    assert code_of(agent.tool.call(unknown, {"action": "list"}, "python")) == "not_found"


@pytest.mark.parametrize(("arguments", "rule"), [(None, "null"), ([], "type"), ("list", "type"), (5, "type")])
def test_what_are_no_arguments_is_refused_as_a_body_over_http_is(agent: Agent, arguments: JsonValue, rule: str) -> None:
    result = agent.tool.call(agent.session, arguments, "python")
    assert code_of(result) == "invalid_request"
    assert result.problem is not None
    assert result.problem.context == {"errors": [{"field": "body", "rule": rule}]}


def test_what_the_role_refuses_is_told_before_the_rules_that_the_arguments_break(agent: Agent) -> None:
    leaves(agent.place, agent.place.owner)
    assert code_of(agent.call("save", name="a/b")) == "not_found"
    assert code_of(agent.call("save", name="a/b", scope="nonsense")) == "invalid_request"


def test_a_database_that_does_not_answer_is_told_as_that_and_not_as_a_miss(agent: Agent) -> None:
    nowhere = MemoryTool(connections_to("postgresql://nobody@127.0.0.1:1/none"), an_index(), MemorySettings())
    for action in ("get", "delete"):
        assert code_of(nowhere.call(agent.session, {"action": action, "name": "key"}, "python")) == "unavailable"


def test_a_lock_that_is_not_given_in_time_is_told_as_a_storage_failure(agent: Agent) -> None:
    agent.save("key")
    with agent.place.engine.begin() as holding:
        names = {"org_id": agent.place.org_id}
        holding.execute(text("select from structured_memories m where m.org_id = :org_id for update"), names)
        assert code_of(agent.call("delete", name="key")) == "unavailable"
    assert structured(agent.call("delete", name="key"))["status"] == "deleted"


def test_a_connection_that_has_gone_is_replaced(agent: Agent, connections: Connections) -> None:
    agent.save("key")
    with connections.connection() as connection:
        pid = connection.info.backend_pid
    execute(agent.place, "select pg_terminate_backend(:pid, 5000)", pid=pid)
    assert names_of(agent.call("list")) == ["key"]


@pytest.mark.parametrize("action", ["save", "delete"])
def test_access_that_is_taken_while_a_write_waits_is_honoured(engine: Engine, agent: Agent, action: str) -> None:
    patient = connections_to(url_of(engine))
    waiting = replace(agent, tool=MemoryTool(patient, agent.index, MemorySettings()))
    agent.save("key")
    agent.save("key", scope="coordinator")
    with ThreadPoolExecutor(1) as threads:
        with agent.place.engine.begin() as taking:
            lock_access(taking, agent.place.org_id, agent.place.project_id)
            taking.execute(text("delete from project_members where org_id = :o"), {"o": agent.place.org_id})
            call = threads.submit(
                waiting.save if action == "save" else lambda name: waiting.call("delete", name=name), "key"
            )
            wait_until_it_waits(agent.place)
        result = call.result(WAITING_S)
    patient.close_idle()
    assert code_of(result) == "not_found"
    assert result.text == (
        "Memory 'key' cannot be reached: there is no such project"
        "; it exists in scope 'coordinator': retry with scope='coordinator'"
    )


@pytest.mark.parametrize("arguments", [{"action": "get", "name": "key"}, {"action": "search", "query": "alpha"}])
def test_access_that_is_taken_during_a_read_is_honoured(
    agent: Agent, connections: Connections, arguments: dict[str, JsonValue]
) -> None:
    agent.save("key")
    with connections.connection() as connection:
        before = a_scene(agent, connection)
        leaves(agent.place, agent.place.owner)
        result = answer_call(before, arguments, MemorySettings())
    assert "alpha" not in result.text
    if result.problem is None:
        assert structured(result)["unavailable"] == [{"scope": "project", "code": "not_found"}]


@pytest.mark.parametrize("action", ["save", "get", "search", "delete", "list", "nonsense"])
def test_with_the_lever_off_neither_the_database_nor_the_index_is_asked(
    agent: Agent, connections: Connections, action: str
) -> None:
    with connections.connection() as connection:
        scene = a_scene(agent, connection)
    connection.close()
    off = replace(scene, facts=replace(scene.facts, memory_enabled=False), index=MemoryIndex())
    arguments: dict[str, JsonValue] = {"action": action, "name": "key", "query": "alpha"}
    assert code_of(answer_call(off, arguments, MemorySettings())) == "memory_disabled"


def test_a_definition_is_of_the_session_as_it_is_now(agent: Agent) -> None:
    description = agent.tool.definition(agent.session)["description"]
    assert isinstance(description, str)
    assert "Scopes here: coordinator, project." in description
