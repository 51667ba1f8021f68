"""Commands for tests: accepted as the API accepts them, and carried out as an activity would, without Temporal."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from activities.accepting import ProposedOperation
from activities.boundary import Handler, carry_out
from activities.messages import Command, CommandOutcome
from activities.projections import replace_selection
from activities.publication import CLEAN_UP, publish_review
from activities.reconciliation import rebase, reconcile
from activities.reviews import perform
from models.identifiers import (
    MemoryId,
    ProjectId,
    ReviewId,
    UserId,
    final_id,
    new_review_id,
)
from models.store.locks import DraftRow, ReviewRow
from models.store.operations import OperationKind, StoredOperation, accept_operation, read_operation
from models.store.reviews import read_review
from tests.rows import Somewhere, a_draft, acting, fetch, provisional_ids
from workflows.ids import projection_workflow_id, publication_workflow_id, review_workflow_id


def an_operation(
    place: Somewhere,
    kind: OperationKind,
    request: dict[str, JsonValue],
    *,
    review_id: ReviewId | None = None,
    actor: UserId | None = None,
    project_id: ProjectId | None = None,
    workflow_id: str | None = None,
) -> StoredOperation:
    """An operation that was accepted and waits to be carried out, by the workflow of its kind unless one is named."""
    project_id = project_id or _project_of(place, review_id)
    with acting(place, actor) as tx:
        return accept_operation(
            tx,
            kind=kind,
            workflow_id=workflow_id or _carried_out_by(kind, place, project_id, review_id),
            project_id=project_id,
            review_id=review_id,
            request=request,
            redeliver_after_s=3_600,
        )


def _project_of(place: Somewhere, review_id: ReviewId | None) -> ProjectId:
    with place.engine.connect() as connection:
        row = None if review_id is None else read_review(connection, place.org_id, review_id)
    return place.project_id if row is None else row.project_id


def _carried_out_by(kind: OperationKind, place: Somewhere, project_id: ProjectId, review_id: ReviewId | None) -> str:
    if kind is OperationKind.MERGE:
        return publication_workflow_id(place.org_id)
    return review_workflow_id(review_id) if review_id is not None else projection_workflow_id(project_id)


def attempted(place: Somewhere, operation: StoredOperation) -> CommandOutcome:
    """Carry an operation out once, as its activity would, without Temporal."""
    handlers: dict[OperationKind, Handler] = {
        OperationKind.MERGE: publish_review,
        OperationKind.SELECT: replace_selection,
        OperationKind.RECONCILE: reconcile,
        OperationKind.REBASE: rebase,
    }
    command = Command(org_id=operation.org_id, operation_id=operation.operation_id)
    clean_up = CLEAN_UP if operation.kind is OperationKind.MERGE else ()
    return carry_out(place.engine, command, handlers.get(operation.kind, perform), clean_up=clean_up)


def carried_out(place: Somewhere, operation: StoredOperation) -> StoredOperation:
    """Carry an operation out; its row afterwards."""
    attempted(place, operation)
    return operation_now(place, operation)


def operation_now(place: Somewhere, operation: StoredOperation) -> StoredOperation:
    with place.engine.connect() as connection:
        stored = read_operation(connection, operation.org_id, operation.operation_id)
    assert stored is not None
    return stored


def result_of(operation: StoredOperation) -> dict[str, Any]:
    """What an operation that succeeded answers."""
    assert operation.status == "succeeded", operation.problem
    assert operation.result is not None
    return operation.result


def problem_of(operation: StoredOperation) -> dict[str, Any]:
    """What an operation that failed answers."""
    assert operation.status == "failed", operation.result
    assert operation.problem is not None
    return operation.problem


def a_submit(
    place: Somewhere,
    *drafts: DraftRow,
    author: UserId | None = None,
    title: str = "A Review",
    project_id: ProjectId | None = None,
) -> StoredOperation:
    return an_operation(
        place,
        OperationKind.SUBMIT,
        {"title": title, "drafts": _references(drafts)},
        review_id=new_review_id(),
        actor=author or drafts[0].author_id,
        project_id=project_id or drafts[0].project_id,
    )


def submitted(
    place: Somewhere,
    *drafts: DraftRow,
    author: UserId | None = None,
    title: str = "A Review",
    project_id: ProjectId | None = None,
) -> StoredOperation:
    return carried_out(place, a_submit(place, *drafts, author=author, title=title, project_id=project_id))


def _references(drafts: Sequence[DraftRow]) -> list[JsonValue]:
    return [{"draft_id": draft.draft_id, "expected_draft_version": draft.version} for draft in drafts]


def a_review(place: Somewhere, *drafts: DraftRow) -> ReviewId:
    """A submitted Review."""
    operation = submitted(place, *drafts)
    assert operation.status == "succeeded", operation.problem
    assert operation.review_id is not None
    return operation.review_id


def review(place: Somewhere, review_id: ReviewId) -> ReviewRow:
    with place.engine.connect() as connection:
        row = read_review(connection, place.org_id, review_id)
    assert row is not None
    return row


def _versioned(place: Somewhere, review_id: ReviewId, request: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"expected_review_version": review(place, review_id).version, **request}


def a_resubmit(
    place: Somewhere, review_id: ReviewId, *drafts: DraftRow, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    """A resubmission of Drafts as they are given."""
    request = _versioned(place, review_id, {"drafts": _references(drafts), **request})
    return an_operation(
        place, OperationKind.RESUBMIT, request, review_id=review_id, actor=actor or review(place, review_id).author_id
    )


def resubmitted(
    place: Somewhere, review_id: ReviewId, *drafts: DraftRow, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    return carried_out(place, a_resubmit(place, review_id, *drafts, actor=actor, **request))


def a_decision(
    place: Somewhere, review_id: ReviewId, decision: str, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    request = _versioned(place, review_id, {"decision": decision, **request})
    return an_operation(place, OperationKind.DECIDE, request, review_id=review_id, actor=actor)


def decided(
    place: Somewhere, review_id: ReviewId, decision: str, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    return carried_out(place, a_decision(place, review_id, decision, actor=actor, **request))


def a_withdrawal(
    place: Somewhere, review_id: ReviewId, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    request = _versioned(place, review_id, request)
    return an_operation(place, OperationKind.WITHDRAW, request, review_id=review_id, actor=actor)


def withdrawn(
    place: Somewhere, review_id: ReviewId, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    return carried_out(place, a_withdrawal(place, review_id, actor=actor, **request))


def a_merge(
    place: Somewhere, review_id: ReviewId, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    request = _versioned(place, review_id, request)
    return an_operation(place, OperationKind.MERGE, request, review_id=review_id, actor=actor)


def merged(
    place: Somewhere, review_id: ReviewId, *, actor: UserId | None = None, **request: JsonValue
) -> StoredOperation:
    return carried_out(place, a_merge(place, review_id, actor=actor, **request))


def published(place: Somewhere, *operations: ProposedOperation, project_id: ProjectId | None = None) -> list[MemoryId]:
    """Publish operations as one Review; the ids of what they create, in order."""
    draft = a_draft(place, *operations, project_id=project_id)
    outcome = merged(place, a_review(place, draft))
    assert outcome.status == "succeeded", outcome.problem
    return [final_id(provisional) for provisional in provisional_ids(place, draft.draft_id)]


def a_selection(
    place: Somewhere,
    project_id: ProjectId,
    memory_ids: Sequence[str],
    *,
    actor: UserId | None = None,
    revision: int | None = None,
) -> StoredOperation:
    if revision is None:
        revision = fetch(
            place,
            "select selection_revision from project_refs where org_id = :o and project_id = :p",
            p=project_id,
        )[0].selection_revision
    request: dict[str, JsonValue] = {"expected_revision": revision, "resource_ids": list(memory_ids)}
    return an_operation(place, OperationKind.SELECT, request, project_id=project_id, actor=actor)


def selected(
    place: Somewhere,
    project_id: ProjectId,
    memory_ids: Sequence[str],
    *,
    actor: UserId | None = None,
    revision: int | None = None,
) -> StoredOperation:
    return carried_out(place, a_selection(place, project_id, memory_ids, actor=actor, revision=revision))
