"""Published Memory: what the organization holds to be true, read by every member (publication.md §5)."""

from api.answers import Answer, answer
from api.calls import Read
from api.paging import Paging
from api.routing import Routes
from models.identifiers import MemoryId
from models.schemas.commits import MemoriesQuery, MemoryBody, MemoryWithContent
from models.schemas.common import NoParameters, Page
from models.store.org_memories import list_memories, read_memory

routes = Routes("published memory")


@routes.read("/org/memories", answers=Page[MemoryBody], query=MemoriesQuery)
def list_org_memories(call: Read) -> Answer:
    """Memories by path, without their texts; active ones unless another status is asked for."""
    org_id = call.principal.org_id
    query = call.query(MemoriesQuery)
    paging = Paging(query, "org-memories", org_id, query.status, parts=2)
    after = None if paging.after is None else (paging.after[0], paging.after[1])
    rows = list_memories(call.connection, org_id, status=query.status, after=after, limit=paging.fetch)
    page = paging.page(
        Page[MemoryBody],
        rows,
        show=lambda row: row.body,
        position=lambda row: [row.path_key, row.body.memory_id],
    )
    return answer(page)


@routes.read("/org/memories/{memory_id}", answers=MemoryWithContent, etag=True)
def get_org_memory(call: Read, memory_id: str) -> Answer:
    """A Memory with its text; an archived one as it was last."""
    memory = read_memory(call.connection, call.principal.org_id, MemoryId(memory_id))
    call.query(NoParameters)
    return answer(memory, version=memory.memory.revision)
