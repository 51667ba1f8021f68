"""Structured memories, by name: what agents and their users save without review (memory.md §7)."""

from api.answers import Answer, document_answer, not_modified
from api.calls import Hot
from api.headers import is_not_modified, must_be_new
from api.memory_pages import answer_found, answer_list
from api.places import envelope_of, place_in, read_name
from api.routing import Routes, always
from models.errors import AlreadyExists, IndexNotReady, NotFound
from models.rules.cursors import decode_cursor, encode_cursor, fingerprint_of, read_number
from models.rules.structured_fields import MemoryInput
from models.rules.visibility import Envelope, Place
from models.schemas.common import Page
from models.schemas.memory_search import FoundMemories, SearchMemories
from models.schemas.structured import (
    DeletedMemory,
    HistoryQuery,
    MemoriesPage,
    MemoriesQuery,
    NoFields,
    PlaceQuery,
    RestScope,
    SaveMemory,
    StructuredMemoryBody,
    StructuredMemoryRevisionBody,
)
from models.store.structured import MemoryRecord, read_memory
from models.store.structured_history import read_history
from models.store.structured_removals import delete_memory as remove
from models.store.structured_removals import restore_memory as bring_back
from models.store.structured_saves import save_memory as save
from search.documents import Gone, indexed

routes = Routes("memories")


@routes.hot("GET", "/memories", answers=MemoriesPage, query=MemoriesQuery, problems=(NotFound,))
def list_memories(call: Hot) -> Answer:
    """The memories of a scope, or global ones and the caller's, the latest updated first."""
    envelope = envelope_of(call)
    query = call.query(MemoriesQuery)
    places = _places(call, envelope, query.scope, query.scope_id)
    asked = [part for place in places for part in (place.scope, place.scope_id)]
    return answer_list(call, envelope, places, asked=asked, type=query.type, limit=query.limit, cursor=query.cursor)


@routes.hot(
    "POST",
    "/memories/search",
    accepts=SearchMemories,
    answers=FoundMemories,
    problems=(NotFound, IndexNotReady),
    only_reads=always,
)
def search_memories(call: Hot) -> Answer:
    """The memories of a scope, or global ones and the caller's, that matter most to a query. It needs only `read`."""
    envelope = envelope_of(call)
    body = call.body(SearchMemories, permission="read")
    places = _places(call, envelope, body.scope, body.scope_id)
    return answer_found(call, envelope, places, query=body.query, type=body.type, limit=body.limit)


@routes.hot(
    "POST",
    "/memories",
    accepts=SaveMemory,
    answers=StructuredMemoryBody,
    status=201,
    also=200,
    problems=(NotFound,),
    if_match_optional=True,
    if_none_match_optional=True,
    etag=True,
)
def save_memory(call: Hot) -> Answer:
    """Create a memory, or update the one of its name: 201 or 200. `If-None-Match: *` refuses to overwrite."""
    envelope = envelope_of(call, writes=True)
    body = call.body(SaveMemory)
    saved = save(
        call.connection,
        call.acting("rest"),
        envelope,
        place_in(call, body.scope, body.scope_id),
        MemoryInput(body.name, body.description, body.content, body.type),
        if_match=call.if_match_version_if_given(),
        must_be_new=must_be_new(call.incoming.headers),
    )
    call.tell_index(indexed(envelope.org_id, saved.record))
    return _answer(saved.record, status=201 if saved.created else 200)


@routes.hot("GET", "/memories/{name}", answers=StructuredMemoryBody, query=PlaceQuery, conditional=True)
def get_memory(call: Hot, name: str) -> Answer:
    """A memory."""
    envelope = envelope_of(call)
    query = call.query(PlaceQuery)
    name = read_name(call, name)
    record = read_memory(call.connection, envelope, place_in(call, query.scope, query.scope_id), name)
    if record is None:
        raise NotFound(f"Memory '{name}' not found")
    if is_not_modified(call.incoming.headers, str(record.revision)):
        return not_modified(record.revision)
    return _answer(record)


@routes.hot("DELETE", "/memories/{name}", answers=DeletedMemory, query=PlaceQuery, if_match_optional=True)
def delete_memory(call: Hot, name: str) -> Answer:
    """Delete a memory; its history stays, and it can be restored."""
    envelope = envelope_of(call, writes=True)
    query = call.query(PlaceQuery, permission="write")
    name = read_name(call, name)
    removed = remove(
        call.connection,
        call.acting("rest"),
        envelope,
        place_in(call, query.scope, query.scope_id),
        name,
        if_match=call.if_match_version_if_given(),
    )
    call.tell_index(Gone(envelope.org_id, removed.memory_id, removed.revision))
    return document_answer({"status": "ok", "name": name})


@routes.hot("GET", "/memories/{name}/history", answers=Page[StructuredMemoryRevisionBody], query=HistoryQuery)
def list_memory_revisions(call: Hot, name: str) -> Answer:
    """Every version that a name had in a scope, the newest first; readable after a delete."""
    envelope = envelope_of(call)
    query = call.query(HistoryQuery)
    name = read_name(call, name)
    place = place_in(call, query.scope, query.scope_id)
    fingerprint = fingerprint_of(["history", envelope.org_id, place.scope, place.scope_id, name])
    before = None if query.cursor is None else read_number(*decode_cursor(query.cursor, fingerprint, parts=1))
    found = read_history(call.connection, envelope, place, name, limit=query.limit + 1, before=before)
    if not found and before is None:
        raise NotFound(f"Memory '{name}' not found")
    shown = found[: query.limit]
    more = len(found) > query.limit
    return document_answer(
        {
            "items": [revision.document() for revision in shown],
            "next_cursor": encode_cursor(fingerprint, [str(shown[-1].revision)]) if more else None,
        }
    )


@routes.hot(
    "POST",
    "/memories/{name}/restorations",
    accepts=NoFields,
    answers=StructuredMemoryBody,
    query=PlaceQuery,
    problems=(AlreadyExists,),
    etag=True,
)
def restore_memory(call: Hot, name: str) -> Answer:
    """Bring back the memory of a name that was deleted last, as it was."""
    envelope = envelope_of(call, writes=True)
    query = call.no_body_but(NoFields, PlaceQuery)
    name = read_name(call, name)
    place = place_in(call, query.scope, query.scope_id)
    restored = bring_back(call.connection, call.acting("rest"), envelope, place, name)
    call.tell_index(indexed(envelope.org_id, restored))
    return _answer(restored)


def _answer(record: MemoryRecord, *, status: int = 200) -> Answer:
    return document_answer(record.document(), status=status, version=record.revision)


def _places(call: Hot, envelope: Envelope, scope: RestScope | None, scope_id: str | None) -> tuple[Place, ...]:
    return envelope.readable if scope is None else (place_in(call, scope, scope_id),)
