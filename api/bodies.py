"""Strict JSON: one object, UTF-8, each key once, no NaN; then the schema, whose refusals name field and rule."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from api.requests import Incoming
from models.errors import InvalidRequest, UnsupportedMediaType
from models.schemas.common import Input, Query

MAX_ERRORS = 100
"""More broken rules than this are not listed: the request is not worth its answer."""

BODY = "body"

RULES = {
    "extra_forbidden": "unknown",
    "string_unicode": "lone_surrogate",
    "string_too_long": "too_long",
    "string_too_short": "too_short",
    "literal_error": "not_allowed",
    "enum": "not_allowed",
    "union_tag_invalid": "not_allowed",
    "union_tag_not_found": "missing",
    "greater_than_equal": "too_small",
    "greater_than": "too_small",
    "less_than_equal": "too_large",
    "less_than": "too_large",
    "int_parsing": "type",
    "bool_parsing": "type",
}

I = TypeVar("I", bound=Input)  # noqa: E741  (an Input, as the schemas call it)
Q = TypeVar("Q", bound=Query)
Errors = list[tuple[str, str]]


def require_json(incoming: Incoming) -> None:
    """Refuse a body that does not say it is JSON in UTF-8, uncompressed.

    Raises:
        UnsupportedMediaType: the content type is missing, another, or two, or there is a content encoding.
    """
    named = set(incoming.headers.getlist("content-type"))
    header = Message()
    header["content-type"] = named.pop() if len(named) == 1 else ""
    charset = header.get_content_charset("utf-8")
    coded = not {"identity"}.issuperset(incoming.headers.getlist("content-encoding"))
    if coded or header.get_content_type() != "application/json" or charset not in ("utf-8", "us-ascii"):
        raise UnsupportedMediaType("Send application/json in UTF-8.", accepted="application/json")


@dataclass(frozen=True, slots=True)
class Json:
    """A body as far as it can be read, and what makes it no strict JSON: its value may be looked at all the same."""

    value: JsonValue
    errors: Errors


def read_json(body: bytes) -> Json:
    """The body as JSON; of several faults the first is told."""
    faults: Errors = []

    def members_of(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
        members = dict(pairs)
        if len(members) != len(pairs):
            faults.append((BODY, "duplicate_key"))
        return members

    def constant(_: str) -> None:
        faults.append((BODY, "json"))

    try:
        value = json.loads(body.decode(), object_pairs_hook=members_of, parse_constant=constant)
    except UnicodeDecodeError:
        return Json(None, [(BODY, "utf_8")])
    except (ValueError, RecursionError):
        return Json(None, faults[:1] or [(BODY, "json")])
    return Json(value, faults[:1])


def parse_body(body: Json, schema: type[I]) -> tuple[I | None, Errors]:
    """The body as the schema has it, or every rule that it breaks."""
    if body.errors:
        return None, body.errors
    try:
        return schema.model_validate(body.value), []
    except ValidationError as error:
        return None, list(_refusals(error.errors(include_url=False, include_context=True), body.value))


def parse_query(query: bytes, schema: type[Q]) -> tuple[Q | None, Errors]:
    """The query as the schema has it, or every rule that it breaks: unknown and repeated parameters are refused."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        return None, [("query", "utf_8")]
    values: dict[str, JsonValue] = dict(pairs)
    counted = Counter(name for name, _ in pairs)
    repeated: Errors = [(_printable(name), "repeated") for name, number in counted.items() if number > 1]
    try:
        return schema.model_validate(values), repeated
    except ValidationError as error:
        return None, repeated + list(_refusals(error.errors(include_url=False), values))


def refuse(errors: Errors) -> None:
    """Raise InvalidRequest if any rule is broken; a long list is cut."""
    if errors:
        raise InvalidRequest.of_all(errors[:MAX_ERRORS])


def _refusals(errors: Iterable[ErrorDetails], value: JsonValue) -> Iterable[tuple[str, str]]:
    for error in errors:
        location = list(error["loc"])
        if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
            location.append(str(error.get("ctx", {}).get("discriminator", "")).strip("'"))
        missing = error["type"] in ("missing", "union_tag_not_found")
        yield (
            _field(location, value, missing=missing),
            _rule(error["type"], null=error["input"] is None and not missing),
        )


def _rule(kind: str, *, null: bool) -> str:
    if kind.endswith("_type"):
        return "null" if null else "type"
    return RULES.get(kind, kind)


def _field(location: list[str | int], value: JsonValue, *, missing: bool) -> str:
    """`operations[2].path`: steps that pydantic adds to name a member of a union are left out."""
    name = ""
    for position, step in enumerate(location):
        if isinstance(step, int):
            name += f"[{step}]"
            value = value[step] if isinstance(value, list) and step < len(value) else None
            continue
        known = isinstance(value, dict) and step in value
        if known or (missing and position == len(location) - 1):
            name += f".{_printable(step)}" if name else _printable(step)
        if known:
            value = value[step]  # type: ignore[index, call-overload]  # it is a dict here
    return name or BODY


def _printable(name: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", name)[:100]
