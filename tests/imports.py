"""Imports for tests: staged and started as the API does, and carried out step by step, without Temporal."""

from collections.abc import Callable
from typing import Any

from activities.imports import ImportActivities
from activities.messages import Command, ImportBatch, ImportStep
from activities.requests import ImportRequest
from models.identifiers import UserId
from models.rules.staging import FileToStage, accept_file
from models.store.imports import insert_import, read_import, set_operation, stage_files
from models.store.locks import ImportRow
from models.store.operations import OperationKind, StoredOperation, accept_operation
from tests.commands import operation_now
from tests.rows import Somewhere, acting, fetch

MAX_STEPS = 300


def a_file(
    path: str, content: str = "text\n", *, description: str | None = None, memory_id: str | None = None
) -> FileToStage:
    return accept_file(path, content, description=description, memory_id=memory_id, prefix="")


def an_import(
    place: Somewhere,
    *files: FileToStage,
    author: UserId | None = None,
    title: str = "Import",
    mirror: bool = False,
    prefix: str = "",
) -> StoredOperation:
    """An import that was staged and started, and waits to be carried out; its operation."""
    with acting(place, author) as tx:
        row = insert_import(tx, project_id=place.project_id, title=title, mirror=mirror, prefix=prefix, source=None)
        assert row is not None
        stage_files(tx, row.import_id, files)
        operation = accept_operation(
            tx,
            kind=OperationKind.IMPORT,
            workflow_id=f"import/{row.import_id}",
            project_id=place.project_id,
            review_id=None,
            request=ImportRequest(import_id=row.import_id, title=title).model_dump(mode="json"),
            redeliver_after_s=3_600,
        )
        set_operation(tx, row.import_id, operation.operation_id)
    return operation


def row_of_import(place: Somewhere, operation: StoredOperation) -> ImportRow:
    """The import that an operation carries out, as it is now."""
    with place.engine.connect() as connection:
        row = read_import(connection, place.org_id, ImportRequest.model_validate(operation.request).import_id)
    assert row is not None
    return row


def command_of(operation: StoredOperation) -> Command:
    return Command(org_id=operation.org_id, operation_id=operation.operation_id, kind=operation.kind)


def planned(place: Somewhere, operation: StoredOperation) -> ImportStep:
    return ImportActivities(place.engine).plan_import(command_of(operation))


def drafted(place: Somewhere, operation: StoredOperation) -> ImportStep:
    """Plan, and make a Draft of every batch."""
    step = planned(place, operation)
    while step.advanced and step.next_batch < step.batches:
        batch = ImportBatch(command=command_of(operation), batch=step.next_batch)
        step = ImportActivities(place.engine).draft_import_batch(batch)
    return step


def finished(place: Somewhere, operation: StoredOperation) -> bool:
    """Submit the Drafts; whether the operation has its outcome."""
    return ImportActivities(place.engine).finish_import(command_of(operation)).finished


def imported(
    place: Somewhere, operation: StoredOperation, *, before_submit: Callable[[], object] | None = None
) -> StoredOperation:
    """Carry an import out as its workflow does; its operation afterwards.

    Args:
        place: where.
        operation: the import's.
        before_submit: what somebody else does each time when all Drafts are there.
    """
    for _ in range(MAX_STEPS):
        step = drafted(place, operation)
        if step.advanced and before_submit is not None:
            before_submit()
        if step.finished or (step.advanced and finished(place, operation)):
            return operation_now(place, operation)
    raise AssertionError("the import does not end")


def drafts_of(place: Somewhere, status: str | None = None) -> list[Any]:
    """Id, title, status and version of the organization's Drafts, in order of creation."""
    return fetch(
        place,
        """
        select draft_id, title, status, version, base_version from drafts
        where org_id = :o and (cast(:status as text) is null or status = :status) order by draft_id
        """,
        status=status,
    )
