"""Sessions and their turns over HTTP."""

from pydantic import JsonValue

from tests.client import Client, Json, ok
from tests.sessions import a_session

HINT = "({} in scope; use memory(action='search') to find others.)"


def an_open_session(client: Client, kind: str = "interactive", **fields: JsonValue) -> str:
    """The id of a new session of the client's user."""
    return str(a_session(client, kind=kind, **fields)["session_id"])


def saves(client: Client, session_id: str, name: str, content: str, **arguments: JsonValue) -> None:
    """Save through a session, into its inherited target unless a scope is named."""
    body = {"action": "save", "name": name, "description": f"About {name}", "content": content, **arguments}
    ok(client.post(f"/sessions/{session_id}/tools/memory", body))


def says(*texts: str) -> Json:
    """The conversation of a user who said these, each answered."""
    messages: list[JsonValue] = []
    for text in texts:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Well."}]
    return {"messages": messages}


def turn(client: Client, session_id: str, *texts: str, **body: JsonValue) -> Json:
    """What a turn is given, after the user said these."""
    return ok(client.post(f"/sessions/{session_id}/context", {**says(*texts), **body}))


def names_of(given: Json) -> list[str]:
    """The names of the memories that a turn was given."""
    memories = given["memories"]
    assert isinstance(memories, list)
    return [str(memory["name"]) for memory in memories if isinstance(memory, dict)]
