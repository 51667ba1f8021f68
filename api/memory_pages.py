"""Lists and findings of structured memories as every route answers them (memory.md §7)."""

from collections.abc import Sequence

from api.answers import Answer, document_answer
from api.calls import Hot
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Envelope, Place
from models.store.structured_pages import read_page
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
    """A page, the latest updated first, and how many there are on all pages; the arguments are those of `read_page`."""
    page = read_page(call.connection, envelope, places=places, asked=asked, type=type, limit=limit, cursor=cursor)
    return document_answer(
        {
            "memories": [record.document() for record in page.memories],
            "total": page.total,
            "next_cursor": page.next_cursor,
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
