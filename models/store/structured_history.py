"""Every version of an identity, deletions included (memory.md §7)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import psycopg

from models.errors import JsonValue
from models.identifiers import SessionId, StructuredMemoryId, UserId
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.store.structured import instant_of
from models.store.structured_visibility import AT_PLACE, readable_names

Event = Literal["created", "updated", "deleted", "restored"]


@dataclass(frozen=True, slots=True)
class MemoryRevision:
    """One version of an identity; `content` is None where it was deleted."""

    revision: int
    event: Event
    memory_id: StructuredMemoryId
    name: str
    type: MemoryType
    description: str
    content: str | None
    user_id: UserId
    session_id: SessionId | None
    at: datetime

    def document(self) -> dict[str, JsonValue]:
        """The version as it is answered."""
        return {
            "revision": self.revision,
            "event": self.event,
            "memory_id": self.memory_id,
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "content": self.content,
            "user_id": self.user_id,
            "session_id": self.session_id,
            "at": instant_of(self.at),
        }


HISTORY = f"""
    select r.revision, r.event, r.memory_id, r.name, r.type, r.description, r.content, r.user_id, r.session_id, r.at
    from structured_memories m join structured_memory_revisions r
      on r.org_id = m.org_id and r.scope = m.scope and r.scope_id = m.scope_id and r.name = m.name
    where {AT_PLACE} and m.name = %(name)s and (%(before)s::integer is null or r.revision < %(before)s)
    order by r.revision desc limit %(limit)s
"""


def read_history(
    connection: psycopg.Connection,
    envelope: Envelope,
    place: Place,
    name: str,
    *,
    limit: int,
    before: int | None = None,
) -> list[MemoryRevision]:
    """The versions of a normalized name in a place, the newest first, those before a revision; empty if it never was.

    Raises:
        Problem: the envelope does not show the place; its reason, else Forbidden.
    """
    names = {**readable_names(envelope, place), "name": name, "before": before, "limit": limit}
    return [MemoryRevision(*row) for row in connection.execute(HISTORY, names)]
