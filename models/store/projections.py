"""Projections: Selection and Organization joined, one chain of commits a project, in the shape of interval rows.

Every statement is set-based: a merge that affects a thousand projects runs as many statements as one that affects one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from models.identifiers import CommitId, MemoryId, OrganizationId, ProjectId, ReviewId, TreeId
from models.rules.hashes import (
    SELECTION_ENTRY_ID,
    CommitFields,
    body_of,
    bucket_of,
    entry_digest,
    selection_body,
)
from models.store.commits import StoredCommit, write_commits
from models.store.memories import heads, write_blobs
from models.store.transaction import Transaction
from models.store.trees import rehash_projects


@dataclass(frozen=True, slots=True)
class ProjectionChange:
    """What happens to projections at one organization version.

    Args:
        present: for each project, selected Memories whose entry is new or changed.
        absent: for each project, Memories whose entry goes.
        reselected: projects whose selection itself changed.
    """

    present: Mapping[ProjectId, Collection[MemoryId]]
    absent: Mapping[ProjectId, Collection[MemoryId]]
    reselected: Collection[ProjectId]

    @property
    def project_ids(self) -> list[ProjectId]:
        """Every project that gets a commit."""
        return sorted({*self.present, *self.absent, *self.reselected})

    def touched(self) -> set[tuple[ProjectId, MemoryId]]:
        """Every (project, entry) that is closed or opened, the selection's own included."""
        pairs = {
            (project, memory) for side in (self.present, self.absent) for project in side for memory in side[project]
        }
        return pairs | {(project, MemoryId(SELECTION_ENTRY_ID)) for project in self.reselected}


@dataclass(frozen=True, slots=True)
class CommitCause:
    """Why projections move: what their commits say of it."""

    org_commit_id: CommitId | None
    message: str
    review_id: ReviewId | None


@dataclass(frozen=True, slots=True)
class ProjectRefRow:
    """Where a project's projection stands."""

    project_id: ProjectId
    commit_id: CommitId | None
    version: int
    selection_revision: int


def project_refs(
    connection: Connection, org_id: OrganizationId, project_ids: Collection[ProjectId]
) -> dict[ProjectId, ProjectRefRow]:
    """The refs of projects."""
    rows = connection.execute(
        text("""
            select project_id, commit_id, version, selection_revision from project_refs
            where org_id = :org_id and project_id = any(:project_ids)
        """),
        {"org_id": org_id, "project_ids": list(project_ids)},
    )
    return {row.project_id: ProjectRefRow(*row) for row in rows}


def refresh_projections(tx: Transaction, change: ProjectionChange, cause: CommitCause) -> list[StoredCommit]:
    """Move the projections of the affected projects, one commit each; the coordination row is locked.

    `org_selections` already holds the new selections, `memory_versions` the new heads.
    """
    if not change.project_ids:
        return []
    refs = project_refs(tx.connection, tx.org_id, change.project_ids)
    _close_entries(tx, change)
    _open_entries(tx, change)
    _open_selection_entries(tx, change.reselected)
    buckets = {bucket_of(memory_id) for _, memory_id in change.touched()}
    tree_ids = rehash_projects(tx, change.project_ids, buckets)
    commits = [StoredCommit.of(_fields(tx, refs[each], change, cause, tree_ids[each])) for each in change.project_ids]
    write_commits(tx, commits)
    _advance_refs(tx, commits)
    return commits


# Refs step last, with their commits: until then what is closed and opened belongs to the version after theirs.
# Each entry is looked up by its key, one after the other, and entries come as arrays: joins with rows that are in no
# statistics yet were planned as a scan of the whole organization for each of thousands of entries.
CLOSE = text("""
    update projection_versions p set to_version = 1 + (
        select r.version from project_refs r where r.org_id = p.org_id and r.project_id = p.project_id
    )
    where p.org_id = :org_id and p.ctid = any(array(
        select h.ctid
        from unnest(cast(:project_ids as text[]), cast(:memory_ids as text[])) as c(project_id, memory_id)
        cross join lateral (
            select v.ctid, v.to_version from projection_versions v
            where v.org_id = :org_id and v.project_id = c.project_id and v.memory_id = c.memory_id
            order by v.from_version desc limit 1
        ) h
        where h.to_version is null
    ))
""")
OPEN = text("""
    insert into projection_versions
        (org_id, project_id, memory_id, from_version, path, description, blob_id, bucket, entry_digest)
    select :org_id, e.project_id, e.memory_id, r.version + 1, e.path, e.description, e.blob_id, e.bucket, e.entry_digest
    from unnest(
        cast(:project_ids as text[]), cast(:memory_ids as text[]), cast(:paths as text[]),
        cast(:descriptions as text[]), cast(:blob_ids as text[]), cast(:buckets as smallint[]),
        cast(:entry_digests as bytea[])
    ) as e(project_id, memory_id, path, description, blob_id, bucket, entry_digest)
    join project_refs r on r.org_id = :org_id and r.project_id = e.project_id
""")
OPEN_SELECTIONS = text("""
    insert into projection_versions
        (org_id, project_id, memory_id, from_version, path, description, blob_id, bucket, entry_digest)
    select :org_id, r.project_id, :entry_id, r.version + 1, null, '', s.blob_id, :bucket, s.entry_digest
    from unnest(cast(:project_ids as text[]), cast(:blob_ids as text[]), cast(:entry_digests as bytea[]))
        as s(project_id, blob_id, entry_digest)
    join project_refs r on r.org_id = :org_id and r.project_id = s.project_id
""")
ADVANCE = text("""
    update project_refs r
    set commit_id = c.commit_id, version = c.version, selection_revision = c.selection_revision, updated_at = :now
    from unnest(cast(:project_ids as text[]), cast(:commit_ids as text[]), cast(:versions as integer[]),
                cast(:selection_revisions as integer[])) as c(project_id, commit_id, version, selection_revision)
    where r.org_id = :org_id and r.project_id = c.project_id
""")


def _close_entries(tx: Transaction, change: ProjectionChange) -> None:
    pairs = sorted(change.touched())
    tx.connection.execute(CLOSE, {"org_id": tx.org_id} | _arrays(pairs))


def _open_entries(tx: Transaction, change: ProjectionChange) -> None:
    pairs = sorted((project, memory) for project, memories in change.present.items() for memory in memories)
    if pairs:
        columns = _entry_columns(tx, [memory_id for _, memory_id in pairs])
        tx.connection.execute(OPEN, {"org_id": tx.org_id} | _arrays(pairs) | columns)


def _entry_columns(tx: Transaction, memory_ids: Sequence[MemoryId]) -> dict[str, list[object]]:
    """What the entries of Memories say, as their heads do now."""
    states = heads(tx.connection, tx.org_id, set(memory_ids))
    digests = {
        memory_id: entry_digest(
            memory_id=memory_id, path=state.path, description=state.description, blob_id=state.body.blob_id
        )
        for memory_id, state in states.items()
    }
    return {
        "paths": [states[memory_id].path for memory_id in memory_ids],
        "descriptions": [states[memory_id].description for memory_id in memory_ids],
        "blob_ids": [states[memory_id].body.blob_id for memory_id in memory_ids],
        "buckets": [bucket_of(memory_id) for memory_id in memory_ids],
        "entry_digests": [digests[memory_id] for memory_id in memory_ids],
    }


def _arrays(pairs: list[tuple[ProjectId, MemoryId]]) -> dict[str, list[str]]:
    return {"project_ids": [pair[0] for pair in pairs], "memory_ids": [pair[1] for pair in pairs]}


def _open_selection_entries(tx: Transaction, project_ids: Collection[ProjectId]) -> None:
    if not project_ids:
        return
    selections = selected_ids(tx.connection, tx.org_id, project_ids)
    contents = {project_id: selection_body(selections.get(project_id, ())) for project_id in sorted(project_ids)}
    bodies = {project_id: body_of(content) for project_id, content in contents.items()}
    write_blobs(tx, {bodies[project_id]: content for project_id, content in contents.items()})
    tx.connection.execute(
        OPEN_SELECTIONS,
        {
            "org_id": tx.org_id,
            "entry_id": SELECTION_ENTRY_ID,
            "bucket": bucket_of(SELECTION_ENTRY_ID),
            "project_ids": list(bodies),
            "blob_ids": [body.blob_id for body in bodies.values()],
            "entry_digests": [
                entry_digest(memory_id=SELECTION_ENTRY_ID, path=None, description="", blob_id=body.blob_id)
                for body in bodies.values()
            ],
        },
    )


def _advance_refs(tx: Transaction, commits: Sequence[StoredCommit]) -> None:
    tx.connection.execute(
        ADVANCE,
        {
            "org_id": tx.org_id,
            "project_ids": [commit.fields.project_id for commit in commits],
            "commit_ids": [commit.commit_id for commit in commits],
            "versions": [commit.fields.version for commit in commits],
            "selection_revisions": [commit.fields.selection_revision for commit in commits],
            "now": tx.now,
        },
    )


def _fields(
    tx: Transaction, ref: ProjectRefRow, change: ProjectionChange, cause: CommitCause, tree_id: TreeId
) -> CommitFields:
    return CommitFields(
        scope="project",
        org_id=tx.org_id,
        project_id=ref.project_id,
        version=ref.version + 1,
        parent_commit_id=ref.commit_id,
        tree_id=tree_id,
        message=cause.message,
        review_id=cause.review_id,
        created_by=tx.actor_id,
        created_at=tx.now,
        org_commit_id=cause.org_commit_id,
        selection_revision=ref.selection_revision + (1 if ref.project_id in change.reselected else 0),
    )


def selected_ids(
    connection: Connection, org_id: OrganizationId, project_ids: Collection[ProjectId]
) -> dict[ProjectId, list[MemoryId]]:
    """The Memory ids that each project selects, sorted; a project that selects none is missing."""
    rows = connection.execute(
        text("""
            select project_id, array_agg(memory_id order by memory_id) from org_selections
            where org_id = :org_id and project_id = any(:project_ids) group by project_id
        """),
        {"org_id": org_id, "project_ids": list(project_ids)},
    )
    return {project_id: memory_ids for project_id, memory_ids in rows}  # noqa: C416  (rows are not tuples to mypy)


def projected_at(
    connection: Connection, org_id: OrganizationId, commit_id: CommitId, memory_ids: Collection[MemoryId]
) -> set[MemoryId] | None:
    """Those of the Memories that a Project Commit holds; None for an Organization Commit, which holds all."""
    project = connection.execute(
        text("select project_id, version from commits where org_id = :org_id and commit_id = :commit_id"),
        {"org_id": org_id, "commit_id": commit_id},
    ).one()
    if project.project_id is None:
        return None
    rows = connection.execute(
        text("""
            select memory_id from projection_versions
            where org_id = :org_id and project_id = :project_id and memory_id = any(:memory_ids)
              and from_version <= :version and (to_version is null or to_version > :version)
        """),
        {
            "org_id": org_id,
            "project_id": project.project_id,
            "memory_ids": list(memory_ids),
            "version": project.version,
        },
    )
    return set(rows.scalars())


def selects(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, memory_ids: Collection[MemoryId]
) -> set[MemoryId]:
    """Those of the Memories that a project selects."""
    if not memory_ids:
        return set()
    rows = connection.execute(
        text("""
            select memory_id from org_selections
            where org_id = :org_id and project_id = :project_id and memory_id = any(:memory_ids)
        """),
        {"org_id": org_id, "project_id": project_id, "memory_ids": list(memory_ids)},
    )
    return set(rows.scalars())


def projects_selecting(
    connection: Connection, org_id: OrganizationId, memory_ids: Collection[MemoryId]
) -> dict[ProjectId, set[MemoryId]]:
    """The projects that select any of the Memories, each with those it selects."""
    if not memory_ids:
        return {}
    rows = connection.execute(
        text("""
            select project_id, memory_id from org_selections
            where org_id = :org_id and memory_id = any(:memory_ids)
        """),
        {"org_id": org_id, "memory_ids": list(memory_ids)},
    )
    found: dict[ProjectId, set[MemoryId]] = {}
    for project_id, memory_id in rows:
        found.setdefault(project_id, set()).add(memory_id)
    return found


def select_memories(tx: Transaction, project_id: ProjectId, memory_ids: Collection[MemoryId]) -> None:
    """Add Memories to a project's selection."""
    tx.connection.execute(
        text("""
            insert into org_selections (org_id, project_id, memory_id)
            select :org_id, :project_id, unnest(cast(:memory_ids as text[])) on conflict do nothing
        """),
        {"org_id": tx.org_id, "project_id": project_id, "memory_ids": sorted(memory_ids)},
    )


def deselect_memories(
    tx: Transaction, memory_ids: Collection[MemoryId], project_ids: Collection[ProjectId] | None = None
) -> None:
    """Take Memories out of selections: of the named projects, or of every project."""
    tx.connection.execute(
        text("""
            delete from org_selections
            where org_id = :org_id and memory_id = any(:memory_ids)
              and (cast(:project_ids as text[]) is null or project_id = any(:project_ids))
        """),
        {
            "org_id": tx.org_id,
            "memory_ids": sorted(memory_ids),
            "project_ids": None if project_ids is None else sorted(project_ids),
        },
    )
