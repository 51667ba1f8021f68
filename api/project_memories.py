"""Historical project-scoped resources, for clients of an older system; empty unless rows were migrated from it."""

from api.answers import Answer, answer
from api.calls import Read
from api.lookups import find_project
from api.paging import Paging
from api.routing import Routes
from models.identifiers import MemoryId
from models.schemas.common import ListQuery, NoParameters, Page
from models.schemas.memories import ProjectMemoryBody, ProjectMemoryItem
from models.store import project_memories

routes = Routes("historical resources")


@routes.read("/projects/{project_id}/memories", answers=Page[ProjectMemoryItem], query=ListQuery, deprecated=True)
def list_project_memories(call: Read, project_id: str) -> Answer:
    """What a project of an older system held, by id: never what it reads now (`effective-memories`)."""
    access = find_project(call, project_id)
    org_id = call.principal.org_id
    paging = Paging(call.query(ListQuery), "project-memories", org_id, access.project_id)
    rows = project_memories.list_project_memories(
        call.connection, org_id, access.project_id, after=paging.after_id, limit=paging.fetch
    )
    page = paging.page(Page[ProjectMemoryItem], rows, show=lambda row: row, position=lambda row: [row.memory_id])
    return answer(page)


@routes.read("/projects/{project_id}/memories/{memory_id}", answers=ProjectMemoryBody, deprecated=True)
def get_project_memory(call: Read, project_id: str, memory_id: str) -> Answer:
    """One of them, with its text."""
    access = find_project(call, project_id)
    found = project_memories.read_project_memory(
        call.connection, call.principal.org_id, access.project_id, MemoryId(memory_id)
    )
    call.query(NoParameters)
    return answer(found)
