"""Effective Memory: what the caller may read in a project now, own Drafts included (publication.md §5)."""

from collections.abc import Mapping

from api.answers import Answer
from api.calls import Read
from api.lookups import find_project
from api.paging import Paging
from api.routing import Routes
from models.identifiers import BlobId, CommitId
from models.rules.overlay import Proposed
from models.schemas.common import Page
from models.schemas.memories import EffectiveMemory, EffectiveQuery, InstalledFrom, ProposedBy
from models.store.effective import Effective, effective_texts, list_effective

routes = Routes("effective memory")


@routes.read("/projects/{project_id}/effective-memories", answers=Page[EffectiveMemory], query=EffectiveQuery)
def list_effective_memories(call: Read, project_id: str) -> Answer:
    """What the project has installed, by path, as the caller's open and submitted Drafts there would have it."""
    access = find_project(call, project_id)
    query = call.query(EffectiveQuery)
    who = call.principal
    paging = Paging(query, "effective-memories", who.org_id, who.user_id, access.project_id, parts=2)
    after = ("", "") if paging.after is None else (paging.after[0], paging.after[1])
    whose = (who.org_id, access.project_id, who.user_id)
    rows = list_effective(call.connection, *whose, after=after, limit=paging.fetch)
    texts = effective_texts(call.connection, *whose, rows[: paging.limit]) if query.content else None
    page = paging.page(Page[EffectiveMemory], rows, show=lambda row: _shown(row, texts), position=lambda row: row.place)
    return Answer(200, page.model_dump_json(exclude_unset=True).encode())


def _shown(row: Effective, texts: Mapping[BlobId, str] | None) -> EffectiveMemory:
    shown = EffectiveMemory(
        memory_id=row.memory_id,
        path=row.state.path,
        description=row.state.description,
        content_hash=row.state.body.content_hash,
        provenance=_provenance(row.source),
    )
    return shown if texts is None else shown.model_copy(update={"content": texts[row.state.body.blob_id]})


def _provenance(source: CommitId | Proposed) -> InstalledFrom | ProposedBy:
    if isinstance(source, Proposed):
        return ProposedBy(draft_id=source.draft_id, draft_version=source.draft_version)
    return InstalledFrom(commit_id=source)
