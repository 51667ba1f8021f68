"""What all requests and answers share: strict inputs, texts, times, pages, problem documents.

A request schema derives from `Input` (strict, unknown members refused, no null unless a field says so), a query from
`Query`, an answer from `Output`. A validator refuses by `broken(rule)`; the client sees `{field, rule}`.
"""

import re
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from models.rules.cursors import MAX_CURSOR_CHARACTERS
from models.rules.hashes import instant
from models.rules.instants import read_instant
from models.rules.names import MAX_NAME_CHARACTERS, broken_email_rule, broken_name_rule, broken_slug_rule, tidy_name

MAX_PAGE = 200
DEFAULT_PAGE = 50
MAX_ID_CHARACTERS = 200

_SURROGATE = re.compile("[\ud800-\udfff]")  # in a Python text they are always lone


class Input(BaseModel):
    """A request body, or a part of one."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Query(BaseModel):
    """Query parameters; values arrive as strings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Output(BaseModel):
    """An answer, or a part of one; never a table."""

    # What writes an answer is built when the first one is written: a start has no use for the others.
    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)


def broken(rule: str) -> PydanticCustomError:
    """The refusal to raise in a validator."""
    return PydanticCustomError(rule, "{rule}", {"rule": rule})


def broken_text_rule(text: str) -> str | None:
    """The rule that keeps a text out of PostgreSQL: `nul` or `lone_surrogate`; None when there is none."""
    if "\0" in text:
        return "nul"
    return "lone_surrogate" if _SURROGATE.search(text) else None


def _storable(text: str) -> str:
    if rule := broken_text_rule(text):
        raise broken(rule)
    return text


def _name(raw: str) -> str:
    name = tidy_name(raw)
    if rule := broken_name_rule(name):
        raise broken(rule)
    return name


def _email(raw: str) -> str:
    if rule := broken_email_rule(raw):
        raise broken(rule)
    return raw


def _slug(raw: str) -> str:
    if rule := broken_slug_rule(raw):
        raise broken(rule)
    return raw


def _any_text(raw: object) -> str:
    if raw is None:
        raise broken("null")
    if not isinstance(raw, str):
        raise broken("type")
    return raw


Text = Annotated[str, AfterValidator(_storable)]
"""A text that PostgreSQL can hold: neither NUL nor lone surrogates. Bound its length by `Field`."""

RawText = Annotated[str, PlainValidator(_any_text, json_schema_input_type=str)]
"""Any JSON string, NUL and lone surrogates included, for fields whose refusal is `operation_invalid` and not ours."""

Id = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
"""An id as it comes in; whether it exists is asked later."""

Name = Annotated[
    str, AfterValidator(_name), Field(json_schema_extra={"minLength": 1, "maxLength": MAX_NAME_CHARACTERS})
]
"""A name, tidied: one line of 1-200 characters."""

Email = Annotated[str, AfterValidator(_email)]
"""An email address."""

Slug = Annotated[str, AfterValidator(_slug)]
"""A slug: 1-100 of `a-z`, `0-9`, single hyphens."""


def parse_instant(raw: object) -> datetime:
    """An RFC 3339 time with its offset, in UTC."""
    if raw is None:
        raise broken("null")
    if not isinstance(raw, str):
        raise broken("type")
    read = read_instant(raw)
    if read is None:
        raise broken("rfc_3339")
    return read


InstantInput = Annotated[datetime, BeforeValidator(parse_instant, json_schema_input_type=datetime)]
"""A time in a request: RFC 3339 with its offset."""

Instant = Annotated[datetime, PlainSerializer(instant, return_type=str)]
"""A time in an answer: RFC 3339 in UTC with six digits and `Z`."""


def _not_null(raw: object) -> object:
    if raw is None:
        raise broken("null")
    return raw


class _MayBeAbsent:
    """Refuses null and says so in the JSON schema, so that None in our code means only that the field was left out."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_not_null, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        choices = [choice for choice in described.pop("anyOf", []) if choice != {"type": "null"}]
        return {**described, **(choices[0] if len(choices) == 1 else {"anyOf": choices})} if choices else described


T = TypeVar("T")

Optional = Annotated[T | None, _MayBeAbsent()]
"""A field that may be left out but not null: `title: Optional[Title] = None`."""


def _whole(raw: object) -> object:
    if isinstance(raw, str) and not re.fullmatch(r"\d{1,9}", raw, re.ASCII):
        raise broken("type")
    return raw


DIGITS = BeforeValidator(_whole)
"""A number in a query, decimal digits only: `Annotated[int, Field(ge=…, le=…), DIGITS]`."""


class NoParameters(Query):
    """No query parameter is known here."""


def _true_or_false(raw: object) -> object:
    if raw not in ("true", "false", True, False):
        raise broken("type")
    return raw


FLAG = BeforeValidator(_true_or_false, json_schema_input_type=bool)
"""A yes or no in a query, `true` or `false` in so many letters: `Annotated[bool, FLAG]`."""


class DryRunQuery(Query):
    """Whether a command is only tried."""

    dry_run: Annotated[
        bool,
        FLAG,
        Field(description="answer at once what it would come to, and store nothing"),
    ] = False


class ListQuery(Query):
    """Which page of a list."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="items a page"), DIGITS] = DEFAULT_PAGE
    cursor: Annotated[
        Optional[Text],
        Field(max_length=MAX_CURSOR_CHARACTERS, description="`next_cursor` of the page before, unchanged"),
    ] = None


Item = TypeVar("Item", bound=BaseModel)


class Page(Output, Generic[Item]):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[Item]
    next_cursor: str | None


class FieldError(Output):
    """A rule that a field of the request breaks; fields as in `operations[2].path`."""

    field: str
    rule: str


class ProblemDocument(Output):
    """Why a request was refused (RFC 9457); branch on `code`. A code adds the members its description names.

    `error` is `detail` once more, for clients that know nothing else.
    """

    model_config = ConfigDict(extra="allow", title="Problem")

    type: str
    title: str
    status: int
    code: str
    detail: str
    error: str
    retryable: bool
    instance: str
    request_id: str
    errors: list[FieldError] | None = None
