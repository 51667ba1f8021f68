"""Pages of the structured memories that an envelope shows, each with the cursor of the next (memory.md §3, §7)."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from models.rules.cursors import decode_cursor, encode_cursor, fingerprint_of, read_moment
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.store.structured import After, MemoryRecord, count_memories, instant_of, list_memories


@dataclass(frozen=True, slots=True)
class MemoriesPage:
    """A page, the latest updated first, and how many memories there are on all pages."""

    memories: list[MemoryRecord]
    total: int
    next_cursor: str | None


def read_page(
    connection: psycopg.Connection,
    envelope: Envelope,
    *,
    places: Sequence[Place] | None,
    asked: Sequence[str | None],
    type: MemoryType | None,  # noqa: A002  (the field's name in the contract)
    limit: int,
    cursor: str | None,
) -> MemoriesPage:
    """A page of what the envelope shows.

    Args:
        connection: any connection.
        envelope: what may be seen.
        places: only these of its places; None for all.
        asked: which list it is, beside the organization and the type; a cursor of another list is refused.
        type: only memories of this type.
        limit: how many at most.
        cursor: where the page before ended.

    Raises:
        InvalidRequest: the cursor is none of this list.
    """
    fingerprint = fingerprint_of(["memories", envelope.org_id, type, *asked])
    after = None if cursor is None else _after(*decode_cursor(cursor, fingerprint, parts=2))
    found = list_memories(connection, envelope, places=places, type=type, limit=limit + 1, after=after)
    more = len(found) > limit
    is_all = after is None and not more
    return MemoriesPage(
        memories=found[:limit],
        total=len(found) if is_all else count_memories(connection, envelope, places=places, type=type),
        next_cursor=encode_cursor(fingerprint, _position(found[limit - 1])) if more else None,
    )


def _position(record: MemoryRecord) -> list[str]:
    return [instant_of(record.updated), record.memory_id]


def _after(updated: str, memory_id: str) -> After:
    return After(read_moment(updated), memory_id)
