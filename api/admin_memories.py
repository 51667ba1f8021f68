"""Structured memories of a whole organization, for those who may `admin.memories` (memory.md §7).

No scope is resolved here: `scope` and `scope_id` only choose among all there are.
"""

from collections.abc import Sequence

from api.answers import Answer, document_answer
from api.calls import Hot
from api.memory_pages import answer_found, answer_list
from api.routing import Routes
from models.errors import IndexNotReady, NotFound
from models.rules.envelopes import admin_envelope
from models.rules.roles import Permission
from models.rules.visibility import Envelope, Place
from models.schemas.common import NoParameters
from models.schemas.memory_search import (
    AdminDeletedMemory,
    AdminFilters,
    AdminMemoriesQuery,
    AdminSearchQuery,
    FoundMemories,
)
from models.schemas.structured import MemoriesPage, StructuredMemoryBody
from models.store.structured import MemoryRecord, read_memories_by_id
from models.store.structured_removals import delete_memory
from search.documents import Gone

routes = Routes("admin")

PERMISSION: Permission = "admin.memories"
MISSING = "Memory not found"


@routes.hot("GET", "/admin/memories", answers=MemoriesPage, query=AdminMemoriesQuery)
def admin_list_memories(call: Hot) -> Answer:
    """The organization's memories, the latest updated first."""
    query = call.query(AdminMemoriesQuery, permission=PERMISSION)
    envelope, places = _asked(call, query)
    asked = ["admin", query.scope, query.scope_id]
    return answer_list(call, envelope, places, asked=asked, type=query.type, limit=query.limit, cursor=query.cursor)


@routes.hot("GET", "/admin/memories/search", answers=FoundMemories, query=AdminSearchQuery, problems=(IndexNotReady,))
def admin_search_memories(call: Hot) -> Answer:
    """The organization's memories that matter most to a query."""
    query = call.query(AdminSearchQuery, permission=PERMISSION)
    envelope, places = _asked(call, query)
    return answer_found(call, envelope, places, query=query.q, type=query.type, limit=query.limit)


@routes.hot("GET", "/admin/memories/{memory_id}", answers=StructuredMemoryBody, etag=True)
def admin_get_memory(call: Hot, memory_id: str) -> Answer:
    """A memory of the organization, in whichever scope."""
    record = _found(call, memory_id)
    call.query(NoParameters, permission=PERMISSION)
    return document_answer(record.document(), version=record.revision)


@routes.hot("DELETE", "/admin/memories/{memory_id}", answers=AdminDeletedMemory)
def admin_delete_memory(call: Hot, memory_id: str) -> Answer:
    """Delete a memory of the organization; its history stays."""
    record = _found(call, memory_id)
    call.query(NoParameters, permission=PERMISSION)
    envelope = admin_envelope(call.principal.org_id)
    try:
        removed = delete_memory(
            call.connection, call.acting("admin"), envelope, record.place, record.name, memory_id=record.memory_id
        )
    except NotFound:  # in the meantime
        raise NotFound(MISSING) from None
    call.tell_index(Gone(envelope.org_id, removed.memory_id, removed.revision))
    return document_answer({"status": "ok"})


def _found(call: Hot, memory_id: str) -> MemoryRecord:
    records = read_memories_by_id(call.connection, admin_envelope(call.principal.org_id), [memory_id])
    if not records:
        raise NotFound(MISSING)
    return next(iter(records.values()))


def _asked(call: Hot, query: AdminFilters) -> tuple[Envelope, Sequence[Place] | None]:
    """What the filters leave: all places, those of a scope, or the one that they name."""
    envelope = admin_envelope(call.principal.org_id, query.scope)
    if query.scope is None or (query.scope != "global" and query.scope_id is None):
        return envelope, None
    return envelope, [Place(query.scope, query.scope_id or "")]
