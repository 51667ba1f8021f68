"""Published Memory: what the organization holds to be true, now or as of a moment (publication.md §5)."""

from collections.abc import Sequence
from datetime import datetime

from api.answers import Answer, answer, etag
from api.calls import Read
from api.lookups import find_commit
from api.paging import Paging
from api.positions import after_version
from api.routing import Routes
from models.errors import InvalidRequest, NotFound
from models.identifiers import MemoryId
from models.schemas.commits import MemoryBody
from models.schemas.common import ListQuery, Page
from models.schemas.memories import MemoriesPage, MemoriesQuery, MemoryChange, MemoryQuery, MemoryThen, Moment
from models.store.commits import organization_ref
from models.store.history import list_changes
from models.store.org_memories import ListedMemory, list_memories, read_memory
from models.store.past import BEGINNING, Point, list_memories_then, point_of_time, point_of_version, read_memory_then

routes = Routes("published memory")


@routes.read("/org/memories", answers=MemoriesPage, query=MemoriesQuery, problems=(NotFound,))
def list_org_memories(call: Read) -> Answer:
    """Memories by path, or those at one, without their texts; active unless a status is named, now or as of `at`."""
    query = call.query(MemoriesQuery)
    page = _list_now(call, query) if query.at is None else _list_then(call, query, query.at)
    return Answer(200, page.model_dump_json(exclude_unset=True).encode())


def _list_now(call: Read, query: MemoriesQuery) -> Page[MemoryBody]:
    """The next pages are of the version of the first, so that whatever is renamed meanwhile is in one of them."""
    org_id = call.principal.org_id
    paging = Paging(query, "org-memories", org_id, query.status, query.path, parts=3)
    _, current = organization_ref(call.connection, org_id)
    version = current if paging.after is None else _point_of_page(call, paging).version
    if version != current:
        return _page_then(call, query, paging, version)
    after = None if paging.after is None else (paging.after[1], paging.after[2])
    rows = list_memories(call.connection, org_id, status=query.status, path=query.path, after=after, limit=paging.fetch)
    return _page(paging, version, rows)


def _list_then(call: Read, query: MemoriesQuery, at: Moment) -> MemoriesPage:
    """The next pages are of the version of the first, even where `at` was still to come."""
    paging = Paging(query, "org-memories-then", call.principal.org_id, query.status, str(at), query.path, parts=3)
    point = _point(call, at) if paging.after is None else _point_of_page(call, paging)
    page = _page_then(call, query, paging, point.version)
    return MemoriesPage(items=page.items, next_cursor=page.next_cursor, commit_id=point.commit_id)


def _page_then(call: Read, query: MemoriesQuery, paging: Paging, version: int) -> Page[MemoryBody]:
    org_id = call.principal.org_id
    after = ("", "") if paging.after is None else (paging.after[1], paging.after[2])
    rows = list_memories_then(
        call.connection, org_id, version, status=query.status, path=query.path, after=after, limit=paging.fetch
    )
    return _page(paging, version, rows)


def _page(paging: Paging, version: int, rows: Sequence[ListedMemory]) -> Page[MemoryBody]:
    return paging.page(
        Page[MemoryBody],
        rows,
        show=lambda row: row.body,
        position=lambda row: [str(version), row.path_key, row.body.memory_id],
    )


@routes.read("/org/memories/{memory_id}", answers=MemoryThen, query=MemoryQuery, etag=True)
def get_org_memory(call: Read, memory_id: str) -> Answer:
    """A Memory with its text, now or as of `at`; an archived one as it was last."""
    org_id = call.principal.org_id
    memory = read_memory(call.connection, org_id, MemoryId(memory_id))
    at = call.query(MemoryQuery).at
    if at is None:
        return answer(memory, version=memory.memory.revision)
    then = read_memory_then(call.connection, org_id, MemoryId(memory_id), _point(call, at))
    return Answer(200, then.model_dump_json().encode(), {"ETag": etag(then.memory.revision)})


@routes.read("/org/memories/{memory_id}/history", answers=Page[MemoryChange], query=ListQuery)
def list_org_memory_changes(call: Read, memory_id: str) -> Answer:
    """The publications that changed a Memory, newest first, deletions and returns among them."""
    org_id = call.principal.org_id
    read_memory(call.connection, org_id, MemoryId(memory_id))
    paging = Paging(call.query(ListQuery), "org-memory-changes", org_id, memory_id)
    rows = list_changes(call.connection, org_id, MemoryId(memory_id), before=after_version(paging), limit=paging.fetch)
    return answer(paging.page(Page[MemoryChange], rows, show=lambda row: row, position=lambda row: [str(row.version)]))


def _point(call: Read, at: Moment) -> Point:
    """What a moment stands for; a Project Commit for the Organization Commit that it is made of.

    Raises:
        NotFound: there is no such commit or version, or none that the caller may know of.
    """
    org_id = call.principal.org_id
    if isinstance(at, datetime):
        return point_of_time(call.connection, org_id, at)
    if isinstance(at, str):
        commit = find_commit(call, at)
        if commit["project_id"] is None:
            return Point(commit["version"], commit["commit_id"])
        return BEGINNING if commit["org_commit_id"] is None else _point(call, commit["org_commit_id"])
    point = point_of_version(call.connection, org_id, at)
    if point is None:
        raise NotFound("The organization has no such version.")
    return point


def _point_of_page(call: Read, paging: Paging) -> Point:
    version = after_version(paging)
    point = None if version is None else point_of_version(call.connection, call.principal.org_id, version)
    if point is None:
        raise InvalidRequest.of("cursor", "malformed")
    return point
