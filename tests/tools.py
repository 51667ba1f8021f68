"""The `memory` tool over HTTP, and what it is called from."""

import json
from dataclasses import dataclass

import httpx
from pydantic import JsonValue

from tests.client import Client, Json, ok
from tests.sessions import a_session


@dataclass(frozen=True)
class Tool:
    """The tool of one session, as one token calls it."""

    client: Client
    session_id: str

    @property
    def path(self) -> str:
        return f"/sessions/{self.session_id}/tools/memory"

    def call(self, action: str, *, key: str | None = None, **arguments: JsonValue) -> httpx.Response:
        return self.send({"action": action, **arguments}, key=key)

    def send(self, arguments: Json, *, key: str | None = None) -> httpx.Response:
        # By itself, httpx cannot send half a surrogate pair.
        sent = json.dumps(arguments).encode()
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        return self.client.request("POST", self.path, content=sent, headers=headers)

    def save(
        self, name: str, content: str = "content", *, key: str | None = None, **arguments: JsonValue
    ) -> httpx.Response:
        texts: Json = {"name": name, "content": content, "description": f"About {name}"}
        return self.send({"action": "save", **texts, **arguments}, key=key)

    def said(self, action: str, **arguments: JsonValue) -> tuple[Json, str]:
        """The result of a call that succeeds, and its text."""
        return outcome(self.send({"action": action, **arguments}))

    def saved(self, name: str, content: str = "content", **arguments: JsonValue) -> Json:
        """The record of a save that succeeds."""
        memory = outcome(self.save(name, content, key=None, **arguments))[0]["memory"]
        assert isinstance(memory, dict)
        return memory

    def names(self, action: str, **arguments: JsonValue) -> list[str]:
        """The names that a search or list finds."""
        return [str(row["name"]) for row in rows_of(self.said(action, **arguments)[0])]


def a_tool(client: Client, **session: JsonValue) -> Tool:
    """The tool of a new session, interactive unless told otherwise."""
    return Tool(client, str(a_session(client, **session)["session_id"]))


def outcome(response: httpx.Response) -> tuple[Json, str]:
    """The result and the text of an answer that has to be a success."""
    answered = ok(response)
    assert sorted(answered) == ["is_error", "result", "text"]
    assert answered["is_error"] is False
    result = answered["result"]
    assert isinstance(result, dict)
    return result, str(answered["text"])


def refusal(response: httpx.Response, status: int, code: str) -> str:
    """The text of a refusal, which has to be a problem document that says so to a model."""
    document: Json = response.json()
    assert (response.status_code, document["code"]) == (status, code), response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert document["status"] == status
    assert document["is_error"] is True
    assert document["text"] == document["detail"] == document["error"]
    return str(document["text"])


def rows_of(result: Json) -> list[Json]:
    """The rows of a search or list."""
    rows = result["memories"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]
