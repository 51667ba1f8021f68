"""The plan of an import: what it is made from, in metadata only, and what of it is kept with the files."""

from collections.abc import Sequence

from sqlalchemy import Connection, Row, text

from models.rules.import_plans import ImportPlan, ImportReport, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.paths import path_key
from models.rules.states import Body
from models.store.locks import ImportRow
from models.store.memories import given_ids, heads, occupants
from models.store.projections import selected_ids, selects
from models.store.transaction import Transaction


def plan_of(connection: Connection, row: ImportRow) -> ImportPlan:
    """What the files staged in an import come to now; reads no text.

    Raises:
        OperationInvalid: more operations than a Review holds (`rule` `too_many`).
    """
    files = _files(connection, row)
    return plan_files(files, _library(connection, row, files), prefix=row.prefix, mirror=row.mirror)


def _files(connection: Connection, row: ImportRow) -> list[StagedFile]:
    rows = connection.execute(
        text("""
            select path, memory_id, description, blob_id, content_hash, report_code, report_detail from import_files
            where org_id = :org_id and import_id = :import_id order by path
        """),
        {"org_id": row.org_id, "import_id": row.import_id},
    )
    folder = f"{row.prefix}/" if row.prefix else ""
    return [_file(found, folder) for found in rows]


def _file(row: Row[tuple[object, ...]], folder: str) -> StagedFile:
    """A staged file; a report of an earlier plan is left to this one."""
    body = None if row.blob_id is None else Body(row.blob_id, row.content_hash)
    return StagedFile(
        file_path=row.path,
        path=folder + row.path,
        memory_id=row.memory_id,
        description=row.description,
        body=body,
        report=ImportReport(row.path, row.report_code, row.report_detail) if body is None else None,
    )


def _library(connection: Connection, row: ImportRow, files: Sequence[StagedFile]) -> Library:
    """What the files name, stand at, above or below, and what a mirror might delete."""
    named = {file.memory_id for file in files if file.memory_id is not None}
    met = occupants(connection, row.org_id, sorted({path_key(file.path) for file in files}))
    mirrored = selected_ids(connection, row.org_id, [row.project_id]).get(row.project_id, []) if row.mirror else []
    states = heads(connection, row.org_id, named.union(met, mirrored))
    return Library(
        states=states,
        selected=selects(connection, row.org_id, row.project_id, states),
        archived=given_ids(connection, row.org_id, named.difference(states)),
    )


def keep_reports(tx: Transaction, row: ImportRow, reports: Sequence[ImportReport]) -> None:
    """Keep what a plan reports with the files, in the place of what an earlier plan reported."""
    scope = {"org_id": tx.org_id, "import_id": row.import_id}
    tx.connection.execute(
        text("""
            update import_files set report_code = null, report_detail = null
            where org_id = :org_id and import_id = :import_id and report_code is not null and blob_id is not null
        """),
        scope,
    )
    tx.connection.execute(
        text("""
            update import_files f set report_code = r.code, report_detail = r.detail
            from unnest(cast(:paths as text[]), cast(:codes as text[]), cast(:details as text[]))
                as r(path, code, detail)
            where f.org_id = :org_id and f.import_id = :import_id and f.path = r.path and f.report_code is null
        """),
        {
            **scope,
            "paths": [report.path for report in reports],
            "codes": [report.code for report in reports],
            "details": [report.detail for report in reports],
        },
    )
