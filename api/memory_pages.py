"""Lists and findings of structured memories as every route answers them (memory.md §7)."""

from collections.abc import Sequence
from datetime import datetime

from api.answers import Answer, document_answer
from api.calls import Hot
from models.errors import InvalidRequest
from models.rules.cursors import decode_cursor, encode_cursor, fingerprint_of
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.store.structured import After, MemoryRecord, count_memories, instant_of, list_memories
from search.relevance import find


def answer_list(
    call: Hot,
    envelope: Envelope,
    places: Sequence[Place] | None,
    *,
    asked: Sequence[str | None],
    type: MemoryType | None,  # noqa: A002  (the field's name in the contract)
    limit: int,
    cursor: str | None,
) -> Answer:
    """A page, the latest updated first, and how many there are on all pages.

    Args:
        call: the request.
        envelope: what may be seen.
        places: only these of its places; None for all.
        asked: what a cursor has to have been asked with.
        type: only memories of this type.
        limit: how many at most.
        cursor: where the page before ended.
    """
    fingerprint = fingerprint_of(["memories", envelope.org_id, type, *asked])
    after = None if cursor is None else _after(cursor, fingerprint)
    found = list_memories(call.connection, envelope, places=places, type=type, limit=limit + 1, after=after)
    is_all = after is None and len(found) <= limit
    total = len(found) if is_all else count_memories(call.connection, envelope, places=places, type=type)
    shown = found[:limit]
    return document_answer(
        {
            "memories": [record.document() for record in shown],
            "total": total,
            "next_cursor": encode_cursor(fingerprint, _position(shown[-1])) if len(found) > limit else None,
        }
    )


def answer_found(
    call: Hot,
    envelope: Envelope,
    places: Sequence[Place] | None,
    *,
    query: str,
    type: MemoryType | None,  # noqa: A002  (the field's name in the contract)
    limit: int,
) -> Answer:
    """What matters most to a query, with scores, and how many match at all.

    Raises:
        IndexNotReady: the index is being rebuilt, and there is more to search than is searched without it.
    """
    index = call.incoming.services.index
    found = find(call.connection, index, envelope, query, k=limit, type=type, places=places, count=True)
    return document_answer(
        {
            "memories": [{**memory.record.document(), "score": memory.score} for memory in found.memories],
            "total": found.total or 0,
        }
    )


def _position(record: MemoryRecord) -> list[str]:
    return [instant_of(record.updated), record.memory_id]


def _after(cursor: str, fingerprint: str) -> After:
    updated, memory_id = decode_cursor(cursor, fingerprint, parts=2)
    try:
        return After(datetime.fromisoformat(updated), memory_id)
    except ValueError:
        raise InvalidRequest.of("cursor", "malformed") from None
