"""What carrying an import out keeps: its plan in batches, and the Drafts that they became."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, text

from models.identifiers import CommitId, DraftId, ImportId, MemoryId, OperationId, OrganizationId, ReviewId
from models.rules.folding import Action
from models.rules.import_plans import ImportCounts, PlannedOperation
from models.store.locks import ImportRow, lock_import
from models.store.transaction import Transaction

Base = tuple[CommitId | None, int]
"""The commit and version of the organization that a plan was made at."""


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """An operation of a plan with the texts that it takes; `path` is where its Memory comes to stand."""

    action: Action
    memory_id: MemoryId | None
    path: str | None
    content: str | None
    description: str | None


def lock_import_of(connection: Connection, org_id: OrganizationId, operation_id: OperationId) -> ImportRow:
    """Lock the import that an operation carries out."""
    import_id = connection.execute(
        text("select import_id from imports where org_id = :org_id and operation_id = :operation_id"),
        {"org_id": org_id, "operation_id": operation_id},
    ).scalar_one()
    return lock_import(connection, org_id, import_id)


def file_sizes(connection: Connection, row: ImportRow) -> dict[str, int]:
    """The bytes of text of every staged file, by its path; reads no text."""
    rows = connection.execute(
        text("""
            select path, octet_length(content) from import_files
            where org_id = :org_id and import_id = :import_id and content is not null
        """),
        {"org_id": row.org_id, "import_id": row.import_id},
    )
    return {path: size for path, size in rows}  # noqa: C416  (rows are not tuples to mypy)


NUMBER = text("""
    update imports
    set attempt = attempt + 1, plan_commit_id = :plan_commit_id, plan_version = :plan_version, batches = :batches,
        created = :created, updated = :updated, renamed = :renamed, deleted = :deleted, unchanged = :unchanged,
        updated_at = :now
    where org_id = :org_id and import_id = :import_id
""")
STORE = text("""
    insert into import_operations
        (org_id, import_id, index, batch, action, memory_id, path, file_path, takes_content, takes_description)
    select :org_id, :import_id, o.number - 1, o.batch, o.action, o.memory_id, o.path, o.file_path, o.content,
           o.description
    from unnest(
        cast(:batches as integer[]), cast(:actions as text[]), cast(:memory_ids as text[]), cast(:paths as text[]),
        cast(:file_paths as text[]), cast(:contents as boolean[]), cast(:descriptions as boolean[])
    ) with ordinality as o(batch, action, memory_id, path, file_path, content, description, number)
""")


def store_plan(
    tx: Transaction,
    import_id: ImportId,
    batches: Sequence[Sequence[PlannedOperation]],
    *,
    base: Base,
    counts: ImportCounts,
) -> None:
    """Keep the next attempt's plan of a locked import, cut into batches."""
    scope = {"org_id": tx.org_id, "import_id": import_id}
    made = {"plan_commit_id": base[0], "plan_version": base[1], "batches": len(batches), "now": tx.now}
    tx.connection.execute(NUMBER, scope | made | asdict(counts))
    numbered = [(number, operation) for number, batch in enumerate(batches) for operation in batch]
    operations = [operation for _, operation in numbered]
    tx.connection.execute(
        STORE,
        scope
        | {
            "batches": [number for number, _ in numbered],
            "actions": [operation.action.value for operation in operations],
            "memory_ids": [operation.memory_id for operation in operations],
            "paths": [operation.path for operation in operations],
            "file_paths": [operation.file_path for operation in operations],
            "contents": [operation.takes_content for operation in operations],
            "descriptions": [operation.takes_description for operation in operations],
        },
    )


def plan_base(connection: Connection, row: ImportRow) -> Base:
    """Where the organization stood when the present plan was made."""
    found = connection.execute(
        text("select plan_commit_id, plan_version from imports where org_id = :org_id and import_id = :import_id"),
        {"org_id": row.org_id, "import_id": row.import_id},
    ).one()
    return found.plan_commit_id, found.plan_version


# Each file is looked up by its path: a join may be planned, without statistics, as all files for each operation.
BATCH = text("""
    select o.action, o.memory_id, o.path,
           case when o.takes_content then f.content end as content,
           case when o.takes_description then coalesce(f.description, '') end as description
    from import_operations o
    left join lateral (
        select content, description from import_files
        where org_id = o.org_id and import_id = o.import_id and path = o.file_path limit 1
    ) f on true
    where o.org_id = :org_id and o.import_id = :import_id and o.batch = :batch
    order by o.index
""")


def read_batch(connection: Connection, row: ImportRow, batch: int) -> list[BatchOperation]:
    """The operations of a batch, in order."""
    rows = connection.execute(BATCH, {"org_id": row.org_id, "import_id": row.import_id, "batch": batch})
    return [BatchOperation(Action(action), *others) for action, *others in rows]


def insert_import_draft(tx: Transaction, import_id: ImportId, batch: int, draft_id: DraftId) -> None:
    """Note which Draft a batch became."""
    tx.connection.execute(
        text("""
            insert into import_drafts (org_id, import_id, batch, draft_id)
            values (:org_id, :import_id, :batch, :draft_id)
        """),
        {"org_id": tx.org_id, "import_id": import_id, "batch": batch, "draft_id": draft_id},
    )


def import_drafts(connection: Connection, row: ImportRow) -> dict[int, DraftId]:
    """The Drafts of the present plan, by batch and in order."""
    rows = connection.execute(
        text("""
            select batch, draft_id from import_drafts
            where org_id = :org_id and import_id = :import_id order by batch
        """),
        {"org_id": row.org_id, "import_id": row.import_id},
    )
    return {batch: draft_id for batch, draft_id in rows}  # noqa: C416  (rows are not tuples to mypy)


def how_far(connection: Connection, org_id: OrganizationId, operation_id: OperationId) -> tuple[int, int]:
    """The batches of the present plan of the import that an operation carries out, and the first that is no Draft yet.

    (0, 0) without a plan; the second is the number of batches once all are Drafts.
    """
    found = connection.execute(
        text("""
            select coalesce(i.batches, 0), coalesce((
                select min(b.batch) from generate_series(0, i.batches - 1) as b(batch)
                where not exists (
                    select from import_drafts d
                    where d.org_id = i.org_id and d.import_id = i.import_id and d.batch = b.batch)
            ), i.batches, 0)
            from imports i where i.org_id = :org_id and i.operation_id = :operation_id
        """),
        {"org_id": org_id, "operation_id": operation_id},
    ).one()
    return found[0], found[1]


def forget_plan(tx: Transaction, import_id: ImportId) -> None:
    """Give up the plan of a locked import, as if there had been none; its Drafts are the caller's to discard."""
    scope = {"org_id": tx.org_id, "import_id": import_id}
    drop_operations(tx, import_id)
    tx.connection.execute(text("delete from import_drafts where org_id = :org_id and import_id = :import_id"), scope)
    tx.connection.execute(
        text("""
            update imports
            set plan_commit_id = null, plan_version = null, batches = null, created = null, updated = null,
                renamed = null, deleted = null, unchanged = null, updated_at = :now
            where org_id = :org_id and import_id = :import_id
        """),
        scope | {"now": tx.now},
    )


def drop_operations(tx: Transaction, import_id: ImportId) -> None:
    """Drop the operations of a plan that has been carried out, or is given up."""
    tx.connection.execute(
        text("delete from import_operations where org_id = :org_id and import_id = :import_id"),
        {"org_id": tx.org_id, "import_id": import_id},
    )


def set_review(tx: Transaction, import_id: ImportId, review_id: ReviewId) -> None:
    """Name the Review that a locked import's Drafts were submitted in."""
    tx.connection.execute(
        text("update imports set review_id = :review_id where org_id = :org_id and import_id = :import_id"),
        {"org_id": tx.org_id, "import_id": import_id, "review_id": review_id},
    )
