"""Structured memories over HTTP (memory.md §1, §7)."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationInfo,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from models.rules.cursors import MAX_CURSOR_CHARACTERS
from models.rules.structured_fields import (
    MAX_CONTENT_CHARACTERS,
    MAX_DESCRIPTION_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MemoryType,
    broken_content_rule,
    broken_description_rule,
    broken_name_rule,
    normalize_description,
    normalize_name,
)
from models.rules.visibility import Scope
from models.schemas.common import DIGITS, Id, Input, ListQuery, Optional, Output, Query, broken

RestScope = Literal["global", "workstream", "user"]
"""The scopes that are reached outside of sessions: of the caller, or of a workstream."""

MAX_MEMORIES_PAGE = 200
DEFAULT_MEMORIES_PAGE = 100


class _Omittable:
    """Takes an empty text as left out, refuses null, and says both in the JSON schema."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_none_if_empty, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler(schema)
        choice = next(choice for choice in described.pop("anyOf") if choice != {"type": "null"})
        if "enum" in choice:
            choice = {**choice, "enum": [*choice["enum"], ""]}
        return {**described, **choice, "minLength": 0} if "minLength" in choice else {**described, **choice}


def _none_if_empty(raw: object) -> object:
    if raw is None:
        raise broken("null")
    return None if raw == "" else raw


T = TypeVar("T")

Omittable = Annotated[T | None, _Omittable()]
"""A field of which `""` means that it is left out: `scope: Omittable[RestScope] = Field(default=LEFT_OUT)`."""

LEFT_OUT: Any = ""
"""Their default, which is None once it is validated: so that rules between fields see it, and null is refused."""


def _name(raw: str) -> str:
    name = normalize_name(raw)
    if rule := broken_name_rule(name):
        raise broken(rule)
    return name


def _description(raw: str) -> str:
    description = normalize_description(raw)
    if rule := broken_description_rule(description):
        raise broken(rule)
    return description


def _content(raw: str) -> str:
    if rule := broken_content_rule(raw):
        raise broken(rule)
    return raw


def _scope_id(scope_id: str | None, info: ValidationInfo) -> str | None:
    """A scope's id goes with a scope that has one; the user scope is the caller's without it."""
    if "scope" not in info.data:  # refused itself
        return scope_id
    scope = info.data["scope"]
    if scope == "workstream" and scope_id is None:
        raise broken("missing")
    if scope_id is not None and scope in (None, "global"):
        raise broken("without_scope" if scope is None else "not_allowed")
    return scope_id


MemoryName = Annotated[
    str,
    AfterValidator(_name),
    Field(
        description=f"`My-Key Name` is `my_key_name`; then 1-{MAX_NAME_CHARACTERS} characters of any script",
        json_schema_extra={"minLength": 1},
    ),
]
Description = Annotated[
    str,
    AfterValidator(_description),
    Field(
        description=f"what it is about, on one line of at most {MAX_DESCRIPTION_CHARACTERS} characters",
        json_schema_extra={"minLength": 1},
    ),
]
Content = Annotated[
    str,
    AfterValidator(_content),
    Field(
        description="stored exactly as sent", json_schema_extra={"minLength": 1, "maxLength": MAX_CONTENT_CHARACTERS}
    ),
]

ScopeField = Annotated[Omittable[RestScope], Field(validate_default=True)]
ScopeIdField = Annotated[
    Omittable[Id],
    AfterValidator(_scope_id),
    Field(validate_default=True, description="of a workstream; of the user scope only the caller's own id"),
]


class SaveMemory(Input):
    """A memory to create, or to update where there is one of its name."""

    name: MemoryName
    description: Description
    content: Content
    type: Optional[MemoryType] = Field(default=None, description="left out: `general`, or as it is")
    scope: ScopeField = Field(default=LEFT_OUT, description="`global` where it is left out")
    scope_id: ScopeIdField = Field(default=LEFT_OUT)


class NoFields(Input):
    """Nothing, or an empty object."""


class PlaceQuery(Query):
    """In which scope a name is looked up."""

    scope: ScopeField = Field(default=LEFT_OUT, description="`global` where it is left out")
    scope_id: ScopeIdField = Field(default=LEFT_OUT)


class HistoryQuery(ListQuery, PlaceQuery):
    """Which versions of which memory."""


class MemoriesQuery(Query):
    """Which memories, and which page of them."""

    type: Omittable[MemoryType] = Field(default=LEFT_OUT, validate_default=True)
    scope: ScopeField = Field(default=LEFT_OUT, description="`global` and the caller's `user` where it is left out")
    scope_id: ScopeIdField = Field(default=LEFT_OUT)
    limit: Annotated[int, Field(ge=1, le=MAX_MEMORIES_PAGE, description="memories a page"), DIGITS] = (
        DEFAULT_MEMORIES_PAGE
    )
    cursor: Annotated[
        Optional[Annotated[str, StringConstraints(max_length=MAX_CURSOR_CHARACTERS)]],
        Field(description="`next_cursor` of the page before, unchanged"),
    ] = None


class StructuredMemoryBody(Output):
    """A structured memory."""

    memory_id: str
    name: str
    description: str
    content: str
    type: MemoryType
    scope: Scope
    scope_id: str
    created: str
    updated: str
    revision: int
    created_by: str
    updated_by: str
    published_memory_id: str | None


class MemoriesPage(Output):
    """A page of memories, and how many there are on all pages."""

    memories: list[StructuredMemoryBody]
    total: int
    next_cursor: str | None


class DeletedMemory(Output):
    """That a memory was deleted."""

    status: Literal["ok"]
    name: str


class StructuredMemoryRevisionBody(Output):
    """A version of a memory; `content` is null where it was deleted."""

    revision: int
    event: Literal["created", "updated", "deleted", "restored"]
    memory_id: str
    name: str
    type: MemoryType
    description: str
    content: str | None
    user_id: str
    session_id: str | None
    at: str
