"""Drafts: rows, their operations, and what they fold to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

from sqlalchemy import Connection, text

from models.identifiers import (
    BlobId,
    DraftId,
    DraftOperationId,
    MemoryId,
    OrganizationId,
    ProjectId,
    ReviewId,
    UserId,
)
from models.rules.folding import Action, DraftOperation
from models.rules.hashes import body_of
from models.rules.states import Body
from models.store.locks import DraftRow, OrganizationRefRow, row_of
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class StoredDraftOperation:
    """An operation of a Draft, with its text."""

    index: int
    operation_id: DraftOperationId
    action: Action
    memory_id: MemoryId
    path: str | None
    new_path: str | None
    content: str | None
    description: str | None


def insert_draft(tx: Transaction, draft: DraftRow) -> None:
    """Store a new Draft."""
    tx.connection.execute(
        text("""
            insert into drafts (org_id, draft_id, project_id, author_id, title, status, version, base_commit_id,
                                base_version, review_id, created_at, updated_at)
            values (:org_id, :draft_id, :project_id, :author_id, :title, :status, :version, :base_commit_id,
                    :base_version, :review_id, :created_at, :updated_at)
        """),
        {field.name: getattr(draft, field.name) for field in fields(draft)},
    )


def read_draft(connection: Connection, org_id: OrganizationId, draft_id: DraftId) -> DraftRow | None:
    """A Draft's row, unlocked, whoever asks."""
    return drafts_by_id(connection, org_id, [draft_id]).get(draft_id)


def drafts_by_id(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> dict[DraftId, DraftRow]:
    """Drafts' rows, unlocked."""
    rows = connection.execute(
        text("select * from drafts where org_id = :org_id and draft_id = any(:draft_ids)"),
        {"org_id": org_id, "draft_ids": list(draft_ids)},
    )
    return {row["draft_id"]: row_of(DraftRow, row) for row in rows.mappings()}


def fold_operations(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> dict[DraftId, list[DraftOperation]]:
    """The operations of Drafts as the rules see them: hashes instead of texts."""
    rows = connection.execute(
        text("""
            select draft_id, action, memory_id, path, new_path, blob_id, content_hash, description
            from draft_operations where org_id = :org_id and draft_id = any(:draft_ids) order by draft_id, index
        """),
        {"org_id": org_id, "draft_ids": list(draft_ids)},
    )
    found: dict[DraftId, list[DraftOperation]] = {draft_id: [] for draft_id in draft_ids}
    for row in rows:
        body = None if row.blob_id is None else Body(row.blob_id, row.content_hash)
        found[row.draft_id].append(
            DraftOperation(Action(row.action), row.memory_id, row.path, row.new_path, body, row.description)
        )
    return found


def read_operations(connection: Connection, org_id: OrganizationId, draft_id: DraftId) -> list[StoredDraftOperation]:
    """The operations of a Draft with their texts, in order."""
    rows = connection.execute(
        text("""
            select index, operation_id, action, memory_id, path, new_path, content, description
            from draft_operations where org_id = :org_id and draft_id = :draft_id order by index
        """),
        {"org_id": org_id, "draft_id": draft_id},
    )
    return [StoredDraftOperation(**{**row, "action": Action(row["action"])}) for row in rows.mappings()]


@dataclass(frozen=True, slots=True)
class NewDraftOperation:
    """An accepted operation on its way into a Draft."""

    operation_id: DraftOperationId
    folded: DraftOperation
    content: str | None


def append_operations(tx: Transaction, draft_id: DraftId, start: int, operations: Sequence[NewDraftOperation]) -> None:
    """Store operations after those that a Draft has."""
    if not operations:
        return
    tx.connection.execute(
        text("""
            insert into draft_operations (org_id, draft_id, index, operation_id, action, memory_id, path, new_path,
                                          content, blob_id, content_hash, description)
            values (:org_id, :draft_id, :index, :operation_id, :action, :memory_id, :path, :new_path,
                    :content, :blob_id, :content_hash, :description)
        """),
        [
            {
                "org_id": tx.org_id,
                "draft_id": draft_id,
                "index": start + offset,
                "operation_id": operation.operation_id,
                "action": operation.folded.action.value,
                "memory_id": operation.folded.memory_id,
                "path": operation.folded.path,
                "new_path": operation.folded.new_path,
                "content": operation.content,
                "blob_id": operation.folded.body.blob_id if operation.folded.body else None,
                "content_hash": operation.folded.body.content_hash if operation.folded.body else None,
                "description": operation.folded.description,
            }
            for offset, operation in enumerate(operations)
        ],
    )


def set_draft(tx: Transaction, draft_id: DraftId, *, title: str | None = None) -> None:
    """Grow a Draft's version by one, with a new title if one is given."""
    tx.connection.execute(
        text("""
            update drafts set version = version + 1, title = coalesce(:title, title), updated_at = :now
            where org_id = :org_id and draft_id = :draft_id
        """),
        {"org_id": tx.org_id, "draft_id": draft_id, "title": title, "now": tx.now},
    )


def grow_drafts(tx: Transaction, draft_ids: Collection[DraftId]) -> None:
    """Grow the versions of Drafts by one."""
    tx.connection.execute(
        text("""
            update drafts set version = version + 1, updated_at = :now
            where org_id = :org_id and draft_id = any(:draft_ids)
        """),
        {"org_id": tx.org_id, "draft_ids": list(draft_ids), "now": tx.now},
    )


def set_status(
    tx: Transaction, draft_ids: Collection[DraftId], status: str, *, review_id: ReviewId | None = None
) -> None:
    """Move Drafts to a status, each a version further; `review_id` names the Review that holds or published them."""
    tx.connection.execute(
        text("""
            update drafts set status = :status, review_id = :review_id, version = version + 1, updated_at = :now
            where org_id = :org_id and draft_id = any(:draft_ids)
        """),
        {
            "org_id": tx.org_id,
            "draft_ids": list(draft_ids),
            "status": status,
            "review_id": review_id,
            "now": tx.now,
        },
    )


def move_bases(tx: Transaction, drafts: Collection[DraftRow], ref: OrganizationRefRow) -> list[DraftRow]:
    """Bring Drafts whose result stays equal up to date: only their base moves (publication.md §3); those it moved."""
    behind = [draft for draft in drafts if draft.base_version != ref.version]
    if behind:
        tx.connection.execute(
            text("""
                update drafts set base_commit_id = :commit_id, base_version = :version
                where org_id = :org_id and draft_id = any(:draft_ids)
            """),
            {
                "org_id": tx.org_id,
                "draft_ids": [draft.draft_id for draft in behind],
                "commit_id": ref.commit_id,
                "version": ref.version,
            },
        )
    return behind


# In one statement and in the order of their ids: of two that keep equal texts at once, one waits before it has any.
KEEP_TEXTS = text("""
    insert into blobs (org_id, blob_id, content_hash, content)
    select distinct on (t.blob_id) :org_id, t.blob_id, t.content_hash, t.content
    from (
        select blob_id, content_hash, content from draft_operations
        where org_id = :org_id and draft_id = any(:draft_ids) and blob_id = any(:blob_ids)
        union all
        select * from unnest(cast(:made_ids as text[]), cast(:made_hashes as text[]), cast(:made as text[]))
    ) t
    order by t.blob_id
    on conflict do nothing
""")


def keep_texts(
    tx: Transaction, blob_ids: Collection[BlobId], draft_ids: Collection[DraftId], made: Mapping[BlobId, str]
) -> None:
    """Keep texts as blobs: from submission on, what was proposed can be read for ever.

    Args:
        tx: the transaction.
        blob_ids: which; those that neither Drafts carry nor `made` has are blobs already.
        draft_ids: the Drafts that carry some of them.
        made: the texts that merging or a resolution made, and perhaps others.
    """
    contents = [content for blob_id, content in made.items() if blob_id in blob_ids]
    bodies = [body_of(content) for content in contents]
    tx.connection.execute(
        KEEP_TEXTS,
        {
            "org_id": tx.org_id,
            "draft_ids": list(draft_ids),
            "blob_ids": list(blob_ids),
            "made_ids": [body.blob_id for body in bodies],
            "made_hashes": [body.content_hash for body in bodies],
            "made": contents,
        },
    )


def unfinished_drafts(
    connection: Connection, org_id: OrganizationId, *, author_id: UserId | None, project_id: ProjectId | None
) -> list[DraftId]:
    """Open and submitted Drafts of an author or of a project, by id."""
    rows = connection.execute(
        text("""
            select draft_id from drafts
            where org_id = :org_id and status in ('open', 'submitted')
              and (cast(:author_id as text) is null or author_id = :author_id)
              and (cast(:project_id as text) is null or project_id = :project_id)
            order by draft_id
        """),
        {"org_id": org_id, "author_id": author_id, "project_id": project_id},
    )
    return list(rows.scalars())
