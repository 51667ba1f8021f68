"""Imports for tests: staged and started as the API does, and carried out step by step, without Temporal."""

from collections.abc import Callable
from typing import Any

import pytest

from activities.imports import ImportActivities
from activities.messages import Command, ImportBatch, ImportStep
from activities.requests import ImportRequest
from models.identifiers import ImportId, UserId
from models.rules.staged_files import FileToStage, accept_file
from models.store.drafts import read_draft
from models.store.imports import insert_import, read_import, set_operation, stage_files
from models.store.locks import DraftRow, ImportRow
from models.store.operations import OperationKind, StoredOperation, accept_operation
from tests.commands import merged, operation_now, result_of
from tests.rows import Somewhere, acting, fetch

MAX_STEPS = 300
FEW = 8  # operations a Draft where `few_a_draft` says so, for imports of few files in several Drafts


def few_a_draft(patch: pytest.MonkeyPatch) -> None:
    """Have a Draft of an import hold `FEW` operations instead of a thousand."""
    patch.setattr("models.rules.batches.MAX_DRAFT_OPERATIONS", FEW)


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
            request=ImportRequest(title=title).model_dump(mode="json"),
            redeliver_after_s=3_600,
        )
        set_operation(tx, row.import_id, operation.operation_id)
    return operation


def row_of_import(place: Somewhere, operation: StoredOperation) -> ImportRow:
    """The import that an operation carries out, as it is now."""
    with place.engine.connect() as connection:
        import_id = ImportId(operation.workflow_id.removeprefix("import/"))
        row = read_import(connection, place.org_id, import_id)
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


def first_open_draft(place: Somewhere) -> DraftRow:
    """The oldest of the organization's open Drafts, as it is now."""
    with place.engine.connect() as connection:
        draft = read_draft(connection, place.org_id, drafts_of(place, "open")[0].draft_id)
    assert draft is not None
    return draft


def merged_result(place: Somewhere, operation: StoredOperation) -> dict[str, Any]:
    """What the merge of an import's Review answers."""
    review_id = row_of_import(place, operation).review_id
    assert review_id is not None
    return result_of(merged(place, review_id))


def staged_texts(place: Somewhere) -> int:
    """How many texts of staged files the organization has."""
    (row,) = fetch(place, "select count(content) as texts from import_files where org_id = :o")
    return int(row.texts)
