"""Imports as clients see them: how far they are, what was reported, which files are staged (publication.md §6)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import Connection, text

from models.identifiers import ImportId, OperationId, OrganizationId
from models.rules.import_plans import ImportPlan
from models.schemas.imports import (
    ImportBody,
    ImportChange,
    ImportCountsBody,
    ImportFacts,
    ImportListItem,
    ImportReportBody,
    ImportStatus,
    ImportTrial,
    StagedFileBody,
)
from models.schemas.operations import Progress
from models.store.locks import ImportRow

STATUS_OF_OPERATION: Mapping[str, ImportStatus] = {
    "pending": "running",
    "running": "running",
    "succeeded": "succeeded",
    "failed": "failed",
}


def import_body(connection: Connection, row: ImportRow, *, concluded: bool = False) -> ImportBody:
    """An import with its reports.

    Args:
        connection: any.
        row: the import.
        concluded: whether its operation is about to succeed in this transaction: the body is that of afterwards.
    """
    item = import_items(connection, row.org_id, [row])[row.import_id]
    if concluded:
        done = Progress(step="succeeded", done=item.progress.total, total=item.progress.total)
        item = item.model_copy(update={"status": "succeeded", "progress": done})
    return ImportBody(**dict(item), reports=_reports(connection, row))


def import_trial(connection: Connection, row: ImportRow, plan: ImportPlan) -> ImportTrial:
    """An import as it stands, with what a plan says it would do."""
    item = import_items(connection, row.org_id, [row])[row.import_id]
    kept = {name: value for name, value in dict(item).items() if name in ImportFacts.model_fields}
    return ImportTrial(
        **{
            **kept,
            "dry_run": True,
            "reports": [ImportReportBody.model_validate(report) for report in plan.reports],
            "counts": ImportCountsBody.model_validate(plan.counts),
            "changes": [ImportChange(**{**asdict(change), "action": change.action.value}) for change in plan.changes],
        }
    )


def import_items(
    connection: Connection, org_id: OrganizationId, rows: Sequence[ImportRow]
) -> dict[ImportId, ImportListItem]:
    """Imports without their reports."""
    operations = _progress(connection, org_id, [row.operation_id for row in rows if row.operation_id is not None])
    return {row.import_id: _item(row, operations) for row in rows}


def _item(row: ImportRow, operations: Mapping[OperationId, tuple[ImportStatus, Progress]]) -> ImportListItem:
    status, progress = _standing(row, operations)
    return ImportListItem(
        import_id=row.import_id,
        project_id=row.project_id,
        title=row.title,
        mirror=row.mirror,
        prefix=row.prefix,
        source=row.source,
        base_commit_id=row.base_commit_id,
        status=status,
        staged=row.staged,
        progress=progress,
        review_id=row.review_id,
        operation_id=row.operation_id,
        counts=None if row.created is None else ImportCountsBody.model_validate(row),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _standing(
    row: ImportRow, operations: Mapping[OperationId, tuple[ImportStatus, Progress]]
) -> tuple[ImportStatus, Progress]:
    """How far an import is: by its operation, or by what is left of that once it is past retention."""
    if row.operation_id is None:
        return "staging", Progress(step="staging", done=row.staged, total=row.staged)
    if row.operation_id in operations:
        return operations[row.operation_id]
    outcome = STATUS_OF_OPERATION[row.outcome or "failed"]
    return outcome, Progress(step=outcome, done=1, total=1)


def _progress(
    connection: Connection, org_id: OrganizationId, operation_ids: Sequence[OperationId]
) -> dict[OperationId, tuple[ImportStatus, Progress]]:
    rows = connection.execute(
        text("""
            select operation_id, status, progress_step, progress_done, progress_total from operations
            where org_id = :org_id and operation_id = any(:operation_ids)
        """),
        {"org_id": org_id, "operation_ids": list(operation_ids)},
    )
    return {
        row.operation_id: (
            STATUS_OF_OPERATION[row.status],
            Progress(step=row.progress_step, done=row.progress_done, total=row.progress_total),
        )
        for row in rows
    }


def _reports(connection: Connection, row: ImportRow) -> list[ImportReportBody]:
    rows = connection.execute(
        text("""
            select path, report_code as code, report_detail as detail from import_files
            where org_id = :org_id and import_id = :import_id and report_code is not null
            union all
            select path, code, detail from import_reports where org_id = :org_id and import_id = :import_id
            order by path
        """),
        {"org_id": row.org_id, "import_id": row.import_id},
    )
    return [ImportReportBody.model_validate(found) for found in rows]


def list_files(connection: Connection, row: ImportRow, *, after: str | None, limit: int) -> list[StagedFileBody]:
    """The files that are staged in an import, by path."""
    rows = connection.execute(
        text("""
            select path, content_hash, description, memory_id from import_files
            where org_id = :org_id and import_id = :import_id and path > :after order by path limit :limit
        """),
        {"org_id": row.org_id, "import_id": row.import_id, "after": after or "", "limit": limit},
    )
    return [StagedFileBody.model_validate(found) for found in rows]
