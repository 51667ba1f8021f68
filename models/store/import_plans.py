"""The plan of an import: what it is made from, in metadata only, and what of it is kept with the files."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Row, text

from models.identifiers import MemoryId
from models.rules.import_plans import Base, ImportPlan, ImportReport, Library, StagedFile
from models.rules.importing import plan_files
from models.rules.paths import path_key
from models.rules.states import Body
from models.store.locks import ImportRow
from models.store.memories import given_ids, heads, states_at
from models.store.projections import projected_at, selected_ids, selects
from models.store.standing import memories_at_keys, occupants
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
    body = None if row.blob_id is None else Body(row.blob_id, row.content_hash)
    return StagedFile(
        file_path=row.path,
        path=folder + row.path,
        memory_id=row.memory_id,
        description=row.description,
        body=body,
        report=None if row.report_code is None else ImportReport(row.path, row.report_code, row.report_detail),
    )


def _library(connection: Connection, row: ImportRow, files: Sequence[StagedFile]) -> Library:
    """What the files name, stand at, above or below, and what a mirror might delete."""
    named = {file.memory_id for file in files if file.memory_id is not None}
    keys = sorted({path_key(file.path) for file in files})
    met = named.union(occupants(connection, row.org_id, keys))
    if row.base_version is not None:
        met |= memories_at_keys(connection, row.org_id, keys, row.base_version)
    mirrored = selected_ids(connection, row.org_id, [row.project_id]).get(row.project_id, []) if row.mirror else []
    met.update(mirrored)
    states = heads(connection, row.org_id, met)
    return Library(
        states=states,
        selected=selects(connection, row.org_id, row.project_id, states),
        archived=given_ids(connection, row.org_id, named.difference(states)),
        base=_base(connection, row, met),
    )


def _base(connection: Connection, row: ImportRow, met: Collection[MemoryId]) -> Base | None:
    if row.base_commit_id is None or row.base_version is None:
        return None
    states = states_at(connection, row.org_id, met, row.base_version)
    exported = projected_at(connection, row.org_id, row.base_commit_id, states)
    return Base(row.base_commit_id, states, states.keys() if exported is None else exported)


def keep_reports(tx: Transaction, row: ImportRow, reports: Sequence[ImportReport]) -> None:
    """Keep what a plan reports beside what was reported when it was staged, in the place of an earlier plan's."""
    scope = {"org_id": tx.org_id, "import_id": row.import_id}
    tx.connection.execute(text("delete from import_reports where org_id = :org_id and import_id = :import_id"), scope)
    tx.connection.execute(
        text("""
            insert into import_reports (org_id, import_id, path, code, detail)
            select :org_id, :import_id, r.path, r.code, r.detail
            from unnest(cast(:paths as text[]), cast(:codes as text[]), cast(:details as text[]))
                as r(path, code, detail)
            where not exists (
                select from import_files f
                where f.org_id = :org_id and f.import_id = :import_id and f.path = r.path and f.report_code is not null)
        """),
        {
            **scope,
            "paths": [report.path for report in reports],
            "codes": [report.code for report in reports],
            "details": [report.detail for report in reports],
        },
    )
