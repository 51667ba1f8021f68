"""Looking for structured memories over HTTP, and what administrators ask of all of them (memory.md §7)."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

from models.rules.cursors import MAX_CURSOR_CHARACTERS
from models.rules.query_text import MAX_QUERY_CHARACTERS, broken_query_rule
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Scope
from models.schemas.common import DIGITS, Id, Input, Optional, Output, Query, broken
from models.schemas.structured import (
    DEFAULT_MEMORIES_PAGE,
    LEFT_OUT,
    MAX_MEMORIES_PAGE,
    Omittable,
    ScopeField,
    ScopeIdField,
    StructuredMemoryBody,
)

MAX_FOUND = 50
DEFAULT_FOUND = 20


def _query(raw: str) -> str:
    if rule := broken_query_rule(raw):
        raise broken(rule)
    return raw


def _scope_id(scope_id: str | None, info: ValidationInfo) -> str | None:
    """A filter as the scope is: without an id, all places of a scope."""
    if scope_id is not None and "scope" in info.data and info.data["scope"] in (None, "global"):
        raise broken("without_scope" if info.data["scope"] is None else "not_allowed")
    return scope_id


def _at_most(most: int) -> AfterValidator:
    return AfterValidator(lambda limit: min(limit, most))


QueryText = Annotated[
    str,
    AfterValidator(_query),
    Field(
        description="text, not a query language: no character has a meaning of its own",
        json_schema_extra={"minLength": 1, "maxLength": MAX_QUERY_CHARACTERS},
    ),
]


class SearchMemories(Input):
    """What to look for, and in which scope."""

    query: QueryText
    type: Omittable[MemoryType] = Field(default=LEFT_OUT, validate_default=True)
    scope: ScopeField = Field(default=LEFT_OUT, description="`global` and the caller's `user` where it is left out")
    scope_id: ScopeIdField = Field(default=LEFT_OUT)
    limit: Annotated[int, Field(ge=1, le=MAX_FOUND, description="memories at most")] = DEFAULT_FOUND


class AdminFilters(Query):
    """Which of the organization's memories."""

    type: Omittable[MemoryType] = Field(default=LEFT_OUT, validate_default=True)
    scope: Omittable[Scope] = Field(
        default=LEFT_OUT, validate_default=True, description="memories of all scopes where it is left out"
    )
    scope_id: Annotated[Omittable[Id], AfterValidator(_scope_id)] = Field(
        default=LEFT_OUT, validate_default=True, description="of whichever id where it is left out"
    )


class AdminMemoriesQuery(AdminFilters):
    """Which of the organization's memories, and which page of them."""

    limit: Annotated[
        int,
        Field(ge=1, description=f"memories a page; more than {MAX_MEMORIES_PAGE} is {MAX_MEMORIES_PAGE}"),
        DIGITS,
        _at_most(MAX_MEMORIES_PAGE),
    ] = DEFAULT_MEMORIES_PAGE
    cursor: Annotated[
        Optional[Annotated[str, StringConstraints(max_length=MAX_CURSOR_CHARACTERS)]],
        Field(description="`next_cursor` of the page before, unchanged"),
    ] = None


class AdminSearchQuery(AdminFilters):
    """What to look for among the organization's memories."""

    q: QueryText
    limit: Annotated[
        int,
        Field(ge=1, description=f"memories at most; more than {MAX_FOUND} is {MAX_FOUND}"),
        DIGITS,
        _at_most(MAX_FOUND),
    ] = DEFAULT_FOUND


class FoundMemoryBody(StructuredMemoryBody):
    """A memory, and how much it matters to what was looked for: more than zero."""

    score: float


class FoundMemories(Output):
    """The memories that matter most, the highest score first; `total` is how many match at all."""

    memories: list[FoundMemoryBody]
    total: int


class AdminDeletedMemory(Output):
    """That a memory was deleted."""

    status: str = "ok"
