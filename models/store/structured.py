"""Structured memories as they are stored and read, within an envelope (memory.md §1, §2).

Spoken in psycopg itself and not by SQLAlchemy, which takes as much of a processor as all the rest of such a request
(docs/decisions/0015). Where a SQLAlchemy transaction is open, `driver_connection_of` gives what these functions take.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection

from models.errors import JsonValue
from models.identifiers import OrganizationId, SessionId, StructuredMemoryId, UserId
from models.rules.structured_fields import MemoryType
from models.rules.visibility import SCOPES, Envelope, Place, Scope
from models.store.structured_visibility import AT_PLACE, IN_PLACE, PLACES, VISIBLE, WHOLE, readable_names, visible_names

Surface = Literal["rest", "tool", "mcp", "admin", "python"]

RECORD = """
    m.memory_id, m.name, m.description, m.content, m.type, m.scope, m.scope_id, m.created, m.updated, m.revision,
    m.created_by, m.updated_by, m.published_memory_id
"""
"""The columns of a `MemoryRecord`, of a table named `m`."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, by which request, on which surface; `user_id` is a session's acting user where there is a session."""

    org_id: OrganizationId
    user_id: UserId
    request_id: str
    surface: Surface
    session_id: SessionId | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One structured memory; times are in UTC."""

    memory_id: StructuredMemoryId
    name: str
    description: str
    content: str
    type: MemoryType
    scope: Scope
    scope_id: str
    created: datetime
    updated: datetime
    revision: int
    created_by: UserId
    updated_by: UserId
    published_memory_id: str | None

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.scope, self.scope_id)

    def document(self, *, with_content: bool = True) -> dict[str, JsonValue]:
        """The record as every surface answers it; times in RFC 3339 with six digits."""
        content: dict[str, JsonValue] = {"content": self.content} if with_content else {}
        return {
            "memory_id": self.memory_id,
            "name": self.name,
            "description": self.description,
            **content,
            "type": self.type,
            "scope": self.scope,
            "scope_id": self.scope_id,
            "created": instant_of(self.created),
            "updated": instant_of(self.updated),
            "revision": self.revision,
            "created_by": self.created_by,
            "updated_by": self.updated_by,
            "published_memory_id": self.published_memory_id,
        }


@dataclass(frozen=True, slots=True)
class After:
    """Where a list goes on: after this record of the page before, in the order of lists."""

    updated: datetime
    memory_id: str


def instant_of(at: datetime) -> str:
    """RFC 3339 with six digits and `Z`; as `models.rules.hashes.instant`, for the times that psycopg reads in UTC."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def driver_connection_of(connection: Connection) -> psycopg.Connection:
    """What these functions take, of an open SQLAlchemy transaction: they then write in that."""
    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    if driver.info.transaction_status == TransactionStatus.IDLE and not driver.autocommit:
        driver.execute("select")  # begins it: psycopg would commit at the end of its own block otherwise
    return driver


READ = f"select {RECORD} from structured_memories m where {AT_PLACE} and m.name = %(name)s and m.deleted_at is null"


def read_memory(connection: psycopg.Connection, envelope: Envelope, place: Place, name: str) -> MemoryRecord | None:
    """The memory of a normalized name in a place; None when there is none.

    Raises:
        Problem: the envelope does not show the place; its reason, else Forbidden.
    """
    row = connection.execute(READ, {**readable_names(envelope, place), "name": name}).fetchone()
    return None if row is None else MemoryRecord(*row)


HOLDING = f"select m.scope, m.scope_id from {PLACES} join structured_memories m on {IN_PLACE} and m.name = %(name)s"


def scopes_holding(connection: psycopg.Connection, envelope: Envelope, name: str) -> list[Place]:
    """The places that the envelope shows and that hold a memory of this name, in the order of the contract's table."""
    rows = connection.execute(HOLDING, {**visible_names(envelope), "name": name})
    return sorted((Place(*row) for row in rows), key=lambda place: (SCOPES.index(place.scope), place.scope_id))


BY_ID = f"""
    select {RECORD} from structured_memories m where {VISIBLE} and m.memory_id = any(%(memory_ids)s::text[])
"""


def read_memories_by_id(
    connection: psycopg.Connection, envelope: Envelope, memory_ids: Collection[str]
) -> dict[StructuredMemoryId, MemoryRecord]:
    """Those of the memories that the envelope shows now."""
    rows = connection.execute(BY_ID, {**visible_names(envelope), "memory_ids": list(memory_ids)}, binary=True)
    return {row[0]: MemoryRecord(*row) for row in rows}


_FILTERS = """
    (%(type)s::text is null or m.type = %(type)s)
    and (%(updated)s::timestamptz is null
         or m.updated <= %(updated)s and (m.updated < %(updated)s or m.memory_id > %(memory_id)s))
"""
_ORDER = "order by m.updated desc, m.memory_id limit %(limit)s"

LIST = f"""
    select {RECORD} from {PLACES} cross join lateral (
        select * from structured_memories m where {IN_PLACE} and {_FILTERS} {_ORDER}
    ) m
    {_ORDER}
"""
LIST_WHOLE = f"select {RECORD} from structured_memories m where {WHOLE} and {_FILTERS} {_ORDER}"


def list_memories(
    connection: psycopg.Connection,
    envelope: Envelope,
    *,
    places: Sequence[Place] | None = None,
    type: MemoryType | None = None,  # noqa: A002  (the field's name in the contract)
    limit: int,
    after: After | None = None,
) -> list[MemoryRecord]:
    """A page of what the envelope shows, the latest updated first, then by id.

    Args:
        connection: any connection.
        envelope: what may be seen.
        places: only these of its places; None for all.
        type: only memories of this type.
        limit: how many at most.
        after: the last of the page before.
    """
    names = visible_names(envelope, places)
    position = {"updated": after and after.updated, "memory_id": after and after.memory_id}
    rows = connection.execute(
        LIST_WHOLE if names["whole"] else LIST, {**names, "type": type, "limit": limit, **position}
    )
    return [MemoryRecord(*row) for row in rows]


COUNT = f"""
    select count(*) from {PLACES} join structured_memories m on {IN_PLACE}
    where %(type)s::text is null or m.type = %(type)s
"""
COUNT_WHOLE = f"""
    select count(*) from structured_memories m where {WHOLE} and (%(type)s::text is null or m.type = %(type)s)
"""


def count_memories(
    connection: psycopg.Connection,
    envelope: Envelope,
    *,
    places: Sequence[Place] | None = None,
    type: MemoryType | None = None,  # noqa: A002  (the field's name in the contract)
) -> int:
    """How many memories the envelope shows, of these places and this type."""
    names = visible_names(envelope, places)
    row = connection.execute(COUNT_WHOLE if names["whole"] else COUNT, {**names, "type": type}).fetchone()
    return 0 if row is None else int(row[0])
