"""Imports: files are staged, then become Drafts and one Review by a workflow (publication.md §6)."""

from activities.import_steps import OVERTAKEN
from activities.requests import ImportRequest
from api.answers import Answer, answer, nothing
from api.calls import Read, Write
from api.lookups import find_own_import, find_project
from api.mentions import Mentions
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.errors import (
    AlreadyExists,
    NotFound,
    OperationInProgress,
    OperationInvalid,
    ProjectArchived,
    VersionConflict,
)
from models.identifiers import CommitId, ProjectId
from models.rules.paths import accept_path
from models.rules.staged_files import FileToStage, accept_file, accept_files
from models.schemas.common import DryRunQuery, ListQuery, NoParameters, Page
from models.schemas.imports import (
    CreateImport,
    FileInput,
    ImportBody,
    ImportListItem,
    ImportsQuery,
    ImportTrial,
    StagedFileBody,
    StageFiles,
    StartImport,
)
from models.store.commits import organization_version_of
from models.store.import_plans import plan_of
from models.store.import_views import import_body, import_items, import_trial, list_files
from models.store.imports import end_import, forget_import, insert_import, set_operation, stage_files, unfinished_import
from models.store.imports import list_imports as imports_of
from models.store.locks import ImportRow, lock_import
from models.store.operations import OperationKind, StoredOperation, accept_operation, read_operation
from workflows.ids import import_workflow_id

routes = Routes("imports")

Base = tuple[CommitId, int]
"""The commit that files were taken from, and the organization's version there."""


@routes.write(
    "POST",
    "/imports",
    accepts=CreateImport,
    answers=ImportBody,
    problems=(NotFound, ProjectArchived, OperationInvalid, AlreadyExists),
)
def create_import(call: Write) -> Answer:
    """Open an import to stage files in, or answer the one of the same `source` that has not ended."""
    named = Mentions.of(call)
    project_id = named.id("project_id")
    access = None if project_id is None else find_project(call, project_id)
    base = None if access is None else _base(call, access.project_id, named.id("base_commit_id"))
    if access is not None:
        access.require_write()
    body = call.body(CreateImport)
    if access is not None:
        access.require_active()
    prefix = accept_path(body.prefix, field="prefix") if body.prefix else ""
    row = _made_or_found(call, body, prefix, base)
    return answer(import_body(call.connection, row), status=201)


@routes.read("/imports", answers=Page[ImportListItem], query=ImportsQuery)
def list_imports(call: Read) -> Answer:
    """The caller's own imports without their reports, newest first."""
    who = call.principal
    query = call.query(ImportsQuery)
    paging = Paging(query, "imports", who.org_id, who.user_id, query.project_id, query.status, query.source, parts=2)
    rows = imports_of(
        call.connection,
        who.org_id,
        who.user_id,
        project_id=None if query.project_id is None else ProjectId(query.project_id),
        status=query.status,
        source=query.source,
        before=after_moment(paging),
        limit=paging.fetch,
    )
    shown = import_items(call.connection, who.org_id, rows[: paging.limit])
    page = paging.page(
        Page[ImportListItem],
        rows,
        show=lambda row: shown[row.import_id],
        position=lambda row: moment_of(row.created_at, row.import_id),
    )
    return answer(page)


@routes.read("/imports/{import_id}", answers=ImportBody)
def get_import(call: Read, import_id: str) -> Answer:
    """An import of the caller."""
    row, _ = find_own_import(call, import_id)
    call.query(NoParameters)
    return answer(import_body(call.connection, row))


@routes.write(
    "POST",
    "/imports/{import_id}/files",
    accepts=StageFiles,
    answers=ImportBody,
    status=200,
    problems=(ProjectArchived, OperationInvalid, OperationInProgress),
)
def stage_import_files(call: Write, import_id: str) -> Answer:
    """Stage files, each in the place of what is staged at its path; one that breaks a rule is reported.

    Several at one path in one request are all left out, with one report.
    """
    row, access = find_own_import(call, import_id)
    access.require_write()
    body = call.body(StageFiles)
    access.require_active()
    files = accept_files([_accepted(file, row.prefix) for file in body.files])
    row = lock_import(call.connection, row.org_id, row.import_id)
    if row.operation_id is not None:
        raise OperationInProgress("The import has been started.", operation_id=row.operation_id)
    stage_files(call.tx, row.import_id, files)
    return answer(import_body(call.connection, lock_import(call.connection, row.org_id, row.import_id)))


@routes.write("DELETE", "/imports/{import_id}", problems=(VersionConflict, OperationInProgress))
def delete_import(call: Write, import_id: str) -> Answer:
    """Forget an import that has not been started, with all that is staged in it.

    One that runs is left to end (`operation_in_progress`), and one that has ended stays (`version_conflict`).
    """
    row, _ = find_own_import(call, import_id)
    call.no_body()
    row = lock_import(call.connection, row.org_id, row.import_id)
    operation = _started(call, row)
    if operation is not None and not operation.finished:
        raise OperationInProgress("The import has been started.", operation_id=operation.operation_id)
    if row.operation_id is not None:
        raise _ended(row, operation)
    forget_import(call.tx, row.import_id)
    return nothing()


@routes.read("/imports/{import_id}/files", answers=Page[StagedFileBody], query=ListQuery)
def list_import_files(call: Read, import_id: str) -> Answer:
    """What is staged, by path: by it an interrupted upload goes on."""
    row, _ = find_own_import(call, import_id)
    paging = Paging(call.query(ListQuery), "import-files", row.org_id, row.import_id)
    rows = list_files(call.connection, row, after=paging.after_id, limit=paging.fetch)
    return answer(paging.page(Page[StagedFileBody], rows, show=lambda file: file, position=lambda file: [file.path]))


@routes.command(
    "POST",
    "/imports/{import_id}/start",
    accepts=StartImport,
    answers=ImportBody,
    tried=ImportTrial,
    tried_by_reading=True,
    problems=(ProjectArchived, OperationInvalid, *OVERTAKEN),
)
def start_import(call: Write, import_id: str) -> StoredOperation | Answer:
    """Make Drafts and one Review of what is staged; the same start again answers its operation."""
    row, access = find_own_import(call, import_id)
    access.require_write()
    call.body(StartImport, query=DryRunQuery)
    if call.dry_run:
        access.require_active()
        return answer(import_trial(call.connection, row, plan_of(call.connection, row)))
    row = lock_import(call.connection, row.org_id, row.import_id)
    if row.operation_id is None:
        return _start(call, row)
    operation = _started(call, row)
    if operation is None:
        raise _ended(row, operation)
    return operation


def _base(call: Write, project_id: ProjectId, commit_id: str | None) -> Base | None:
    """The commit that is named, with the version of the organization that it stands for."""
    if commit_id is None:
        return None
    found = organization_version_of(call.connection, call.principal.org_id, project_id, commit_id)
    if found is None:
        raise NotFound("There is no such commit.", field="base_commit_id")
    _, version = found
    return CommitId(commit_id), version


def _made_or_found(call: Write, body: CreateImport, prefix: str, base: Base | None) -> ImportRow:
    """A new import, or the one of the same source that has not ended and is the same in all else."""
    while True:
        made = insert_import(
            call.tx,
            project_id=ProjectId(body.project_id),
            title=body.title,
            mirror=body.mirror,
            prefix=prefix,
            source=body.source,
            base=base,
        )
        if made is not None:
            return made
        found = unfinished_import(call.tx, ProjectId(body.project_id), body.source or "")
        if found is None:
            continue  # it has ended in between
        operation = _started(call, found)
        if found.operation_id is not None and (operation is None or operation.finished):
            end_import(call.tx, found.import_id)  # its workflow could not note it
            continue
        asked = (body.title, body.mirror, prefix, body.base_commit_id)
        if (found.title, found.mirror, found.prefix, found.base_commit_id) != asked:
            raise AlreadyExists(
                "An import of this source with another title, mirror, prefix or base has not ended.",
                import_id=found.import_id,
            )
        return found


def _accepted(file: FileInput, prefix: str) -> FileToStage:
    return accept_file(file.path, file.content, description=file.description, memory_id=file.memory_id, prefix=prefix)


def _started(call: Write, row: ImportRow) -> StoredOperation | None:
    return None if row.operation_id is None else read_operation(call.connection, row.org_id, row.operation_id)


def _ended(row: ImportRow, operation: StoredOperation | None) -> VersionConflict:
    """The refusal of what only an import that is being staged takes; its operation may be past retention."""
    actual = row.outcome if operation is None else operation.status
    return VersionConflict("The import has ended.", expected="staging", actual=actual)


def _start(call: Write, row: ImportRow) -> StoredOperation:
    operation = accept_operation(
        call.tx,
        kind=OperationKind.IMPORT,
        workflow_id=import_workflow_id(row.import_id),
        project_id=row.project_id,
        review_id=None,
        request=ImportRequest(title=row.title).model_dump(mode="json"),
        redeliver_after_s=call.incoming.services.settings.delivery_first_retry_s,
    )
    set_operation(call.tx, row.import_id, operation.operation_id)
    return operation
