"""Effective Memory: what a project has installed, with the caller's own Drafts laid over it (publication.md §5)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, text

from models.identifiers import BlobId, CommitId, DraftId, MemoryId, OrganizationId, ProjectId, UserId, is_provisional
from models.rules.folding import DraftOperation
from models.rules.overlay import OverlaidDraft, Proposed, lay_over
from models.rules.paths import path_key
from models.rules.states import Body, MemoryState
from models.store.chains import project_head
from models.store.draft_bases import read_overlays
from models.store.draft_views import read_contents
from models.store.drafts import fold_operations
from models.store.locks import DraftRow, row_of
from models.store.memories import each_at

LIVE_DRAFTS = text("""
    select d.* from drafts d
    where d.org_id = :org_id and d.author_id = :user_id and d.project_id = :project_id
      and d.status in ('open', 'submitted')
    order by d.created_at, d.draft_id
""")
# The heads of a projection are those of the organization, whose path keys are in the order of lists. It begins with the
# selection: planned by statistics, a page of a small project walked all paths of a large organization.
INSTALLED = text("""
    select w.memory_id, w.path_key, p.path, p.description, p.blob_id, b.content_hash
    from (
        select h.memory_id, v.path_key
        from projection_versions h
        cross join lateral (
            select path_key from memory_versions
            where org_id = :org_id and memory_id = h.memory_id order by from_version desc limit 1
        ) v
        where h.org_id = :org_id and h.project_id = :project_id and h.to_version is null
          and not h.memory_id = any(:overlaid) and (v.path_key, h.memory_id) > (:after_key, :after_id)
        order by v.path_key, h.memory_id limit :limit
    ) w
    cross join lateral (
        select path, description, blob_id from projection_versions
        where org_id = :org_id and project_id = :project_id and memory_id = w.memory_id
        order by from_version desc limit 1
    ) p
    cross join lateral (select content_hash from blobs where org_id = :org_id and blob_id = p.blob_id limit 1) b
    order by w.path_key, w.memory_id
""")


@dataclass(frozen=True, slots=True)
class Effective:
    """A Memory as it may be read in a project now.

    Args:
        memory_id: provisional, where a Draft creates it.
        path_key: by which lists are sorted; two may share it while a Draft proposes what would collide.
        state: what it says.
        source: the Project Commit that has it so, or the Draft.
    """

    memory_id: MemoryId
    path_key: str
    state: MemoryState
    source: CommitId | Proposed

    @property
    def place(self) -> tuple[str, str]:
        """Where it stands in the list."""
        return self.path_key, self.memory_id


def list_effective(
    connection: Connection,
    org_id: OrganizationId,
    project_id: ProjectId,
    user_id: UserId,
    *,
    after: tuple[str, str],
    limit: int,
) -> list[Effective]:
    """What a user may read in a project now, by path.

    Args:
        connection: a read connection, of one snapshot.
        org_id: the organization.
        project_id: whose projection it is.
        user_id: whose open and submitted Drafts are laid over it.
        after: continue behind this place.
        limit: at most so many.
    """
    proposed = lay_over(_drafts(connection, org_id, project_id, user_id))
    made = [
        Effective(memory_id, path_key(each.state.path), each.state, each)
        for memory_id, each in proposed.items()
        if each.state is not None
    ]
    head = project_head(connection, org_id, project_id)
    installed: list[Effective] = []
    if head.commit_id is not None:
        names = {
            "org_id": org_id,
            "project_id": project_id,
            "overlaid": list(proposed),
            "after_key": after[0],
            "after_id": after[1],
            "limit": limit,
        }
        installed = [
            Effective(row.memory_id, row.path_key, _state(row), head.commit_id)
            for row in connection.execute(INSTALLED, names)
        ]
    behind = [each for each in made if each.place > after]
    return sorted([*installed, *behind], key=lambda each: each.place)[:limit]


def effective_texts(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, user_id: UserId, shown: Sequence[Effective]
) -> dict[BlobId, str]:
    """The texts of what is shown: published ones, and those that only the user's Drafts carry.

    A Draft that renames what an earlier one creates shows the earlier one's text.
    """
    is_proposed = any(isinstance(each.source, Proposed) for each in shown)
    live = _live_drafts(connection, org_id, project_id, user_id) if is_proposed else []
    blob_ids = {each.state.body.blob_id for each in shown}
    return read_contents(connection, org_id, blob_ids, [draft.draft_id for draft in live])


def _live_drafts(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, user_id: UserId
) -> list[DraftRow]:
    names = {"org_id": org_id, "project_id": project_id, "user_id": user_id}
    return [row_of(DraftRow, row) for row in connection.execute(LIVE_DRAFTS, names).mappings()]


def _drafts(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, user_id: UserId
) -> list[OverlaidDraft]:
    """The user's live Drafts in the project, in the order they were made."""
    drafts = _live_drafts(connection, org_id, project_id, user_id)
    draft_ids = [draft.draft_id for draft in drafts]
    operations = fold_operations(connection, org_id, draft_ids)
    bases = _bases(connection, org_id, drafts, operations)
    return [
        OverlaidDraft(draft.draft_id, draft.version, operations[draft.draft_id], bases[draft.draft_id])
        for draft in drafts
    ]


def _bases(
    connection: Connection,
    org_id: OrganizationId,
    drafts: Sequence[DraftRow],
    operations: Mapping[DraftId, Collection[DraftOperation]],
) -> dict[DraftId, dict[MemoryId, MemoryState]]:
    """What each Draft starts from, of the Memories that it names."""
    asked = {
        (operation.memory_id, draft.base_version)
        for draft in drafts
        for operation in operations[draft.draft_id]
        if not is_provisional(operation.memory_id)
    }
    published = each_at(connection, org_id, asked)
    overlays = read_overlays(connection, org_id, [draft.draft_id for draft in drafts])
    return {
        draft.draft_id: {
            memory_id: state
            for memory_id, state in {**published.get(draft.base_version, {}), **overlays[draft.draft_id]}.items()
            if state is not None
        }
        for draft in drafts
    }


def _state(row: Row[Any]) -> MemoryState:
    return MemoryState(row.path, row.description, Body(row.blob_id, row.content_hash))
