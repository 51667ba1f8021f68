"""What answers about memories show, as the model tells it; marks that one may not show are found anywhere in it."""

import re

import httpx
from pydantic import JsonValue

from tests.client import Json
from tests.memory_model import Found, Outcome, Refusal

MARK = re.compile(r"mark\d+x")
ELSEWHERE = re.compile(r"it exists in scopes? (.*): retry with")


def compared(response: httpx.Response, seen: Outcome, expected: Outcome, *asked: object) -> Outcome:
    assert seen == expected, f"{asked}: {seen} instead of {expected}: {response.text}"
    shown = {mark for row in expected.rows for mark in MARK.findall(row[2])} if isinstance(expected, Found) else set()
    leaked = set(MARK.findall(response.text)) - shown
    assert not leaked, f"{asked}: {leaked} in {response.text}"
    return seen


def refusal_of(response: httpx.Response) -> Refusal | None:
    if response.is_success:
        return None
    document = response.json()
    assert document["status"] == response.status_code
    pointed = ELSEWHERE.search(str(document["detail"]))
    return Refusal(response.status_code, document["code"], tuple(re.findall(r"'(\w+)'", pointed[1])) if pointed else ())


def found_by_tool(result: JsonValue) -> Found:
    assert isinstance(result, dict)
    if result.get("status") == "deleted":
        return Found()
    if "total" in result:
        rows = rows_of(result)
        assert result["total"] == len(rows)
        return Found(rows, left_out_of(result))
    return Found(rows_of({"memories": [result["memory"]]}))


def found_by_route(verb: str, response: httpx.Response) -> Found:
    body: Json = response.json()
    if verb in ("list", "search"):
        assert body["total"] == len(rows_of(body))
        return Found(rows_of(body))
    if verb == "delete":
        return Found()
    if verb != "history":
        return Found(rows_of({"memories": [body]}))
    scope = response.request.url.params.get("scope", "global")
    told = [row for row in members_of(body, "items") if row["event"] != "deleted"]
    return Found(frozenset((scope, str(row["name"]), str(row["description"])) for row in told))


def rows_of(body: Json) -> frozenset[tuple[str, str, str]]:
    return frozenset((str(row["scope"]), str(row["name"]), str(row["description"])) for row in members_of(body))


def left_out_of(body: Json) -> tuple[tuple[str, str], ...]:
    return tuple((str(each["scope"]), str(each["code"])) for each in members_of(body, "unavailable"))


def members_of(body: Json, name: str = "memories") -> list[Json]:
    listed = body[name]
    assert isinstance(listed, list)
    return [each for each in listed if isinstance(each, dict)]
