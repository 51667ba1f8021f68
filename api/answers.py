"""Answers before they are HTTP: status, body and the headers that a replay repeats."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from models.errors import Problem, Unauthenticated

PROBLEM_TYPE = "application/problem+json"
JSON_TYPE = "application/json"
RETRY_AFTER_S = 1
API = "/v1/api"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered; a `secret` body is never stored."""

    status: int
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    secret: bool = False

    def response(self, *extra: tuple[str, str]) -> Response:
        """As HTTP."""
        media_type = PROBLEM_TYPE if self.status >= 400 else JSON_TYPE  # noqa: PLR2004  (a refusal)
        headers = {**self.headers, **dict(extra)}
        if self.body is None:
            return Response(status_code=self.status, headers=headers)
        if self.secret:
            headers["Cache-Control"] = "no-store"
        return Response(self.body, status_code=self.status, headers=headers, media_type=media_type)


def answer(
    value: BaseModel,
    *,
    status: int = 200,
    version: int | None = None,
    secret: bool = False,
) -> Answer:
    """A resource; `version` becomes its ETag."""
    headers = {} if version is None else {"ETag": etag(version)}
    return Answer(status, value.model_dump_json().encode(), headers, secret)


def document_answer(document: Mapping[str, JsonValue], *, status: int = 200, version: int | None = None) -> Answer:
    """A resource that is a document already; `version` becomes its ETag."""
    headers = {} if version is None else {"ETag": etag(version)}
    return Answer(status, orjson.dumps(document), headers)


def not_modified(version: int) -> Answer:
    """304."""
    return Answer(304, None, {"ETag": etag(version)})


def nothing() -> Answer:
    """204."""
    return Answer(204)


def etag(tag: int | str) -> str:
    """The strong entity tag of a version or a commit id."""
    return f'"{tag}"'


def told_to_model(problem: Problem) -> Problem:
    """The problem of a tool's call: its document says to a model, too, that the call failed, and why."""
    problem.context.update(is_error=True, text=problem.detail)
    return problem


def refusal(problem: Problem, *, instance: str, request_id: str) -> Answer:
    """A problem document."""
    return refusal_of_document(problem.document(), instance=instance, request_id=request_id)


def refusal_of_document(document: dict[str, JsonValue], *, instance: str, request_id: str) -> Answer:
    """A problem document from the members that were stored with an operation."""
    headers: dict[str, str] = {}
    if document["code"] == Unauthenticated.code:
        headers["WWW-Authenticate"] = "Bearer"
    if document["retryable"]:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    named = {"error": document["detail"], "instance": _printable(instance), "request_id": request_id}
    body = orjson.dumps({**document, **named})
    status = document["status"]
    assert isinstance(status, int)  # noqa: S101  (every problem has one)
    return Answer(status, body, headers)


def problem_content(*codes: str) -> dict[str, Any]:
    """How a status is documented that has these problem codes."""
    return {
        "description": ", ".join(f"`{code}`" for code in codes),
        "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _printable(path: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", path)[:500]
