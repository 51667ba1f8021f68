"""Rows and accepted operations for tests of workflows on a real database."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue
from sqlalchemy import Engine, text
from sqlmodel import Session

from activities.accepting import ProposedOperation
from activities.amendments import amend_review
from activities.drafting import create_draft
from activities.requests import ImportRequest, RebaseRequest, ReconcileRequest
from models.identifiers import (
    CandidateId,
    OperationId,
    OrganizationId,
    ProjectId,
    ReviewId,
    UserId,
    new_organization_id,
    new_project_id,
    new_review_id,
    new_user_id,
)
from models.rules.folding import Action
from models.rules.staged_files import accept_file
from models.store.imports import insert_import, set_operation, stage_files
from models.store.locks import DraftRow
from models.store.operations import Due, OperationKind, StoredOperation, accept_operation, read_operation
from models.store.reviews import Schedule, read_review
from models.store.transaction import transaction
from models.tables import Organization, OrganizationRef, Project, ProjectRef, User
from workflows.ids import (
    import_workflow_id,
    projection_workflow_id,
    publication_workflow_id,
    reconciliation_workflow_id,
    review_workflow_id,
)

BODY = "the-text-of-a-memory"
"""What every Draft here says: histories and logs never hold it."""


@dataclass(frozen=True)
class Tenant:
    """An organization with its owner and one empty project."""

    org_id: OrganizationId
    owner_id: UserId
    project_id: ProjectId


def a_tenant(engine: Engine) -> Tenant:
    now = datetime.now(UTC)
    tenant = Tenant(new_organization_id(), new_user_id(), new_project_id())
    org_id, project_id, name = tenant.org_id, tenant.project_id, uuid.uuid4().hex
    with Session(engine) as session:
        session.add(Organization(org_id=org_id, name=name, path_owners=[], created_at=now, updated_at=now))
        session.add(OrganizationRef(org_id=org_id, updated_at=now))
        session.flush()
        session.add(
            User(org_id=org_id, user_id=tenant.owner_id, name=name, role="owner", created_at=now, updated_at=now)
        )
        session.add(
            Project(
                org_id=org_id,
                project_id=project_id,
                name=name,
                name_key=name,
                slug=name,
                created_at=now,
                updated_at=now,
            )
        )
        session.flush()
        session.add(ProjectRef(org_id=org_id, project_id=project_id, updated_at=now))
        session.commit()
    return tenant


def accepted(
    engine: Engine,
    tenant: Tenant,
    kind: OperationKind,
    workflow_id: str,
    request: dict[str, JsonValue],
    review_id: ReviewId | None = None,
    *,
    redeliver_after_s: float = 0,
) -> Due:
    """An operation that the API has accepted, due at once unless said otherwise, as it would hand it over."""
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        operation = accept_operation(
            tx,
            kind=kind,
            workflow_id=workflow_id,
            project_id=tenant.project_id,
            review_id=review_id,
            request=request,
            redeliver_after_s=redeliver_after_s,
        )
    return Due(
        org_id=tenant.org_id,
        operation_id=operation.operation_id,
        kind=kind,
        workflow_id=workflow_id,
        project_id=tenant.project_id,
        review_id=review_id,
        title=str(request.get("title", "")),
    )


def an_accepted_selection(engine: Engine, tenant: Tenant, *, redeliver_after_s: float = 0) -> Due:
    """A selection change that changes nothing: the shortest operation that succeeds."""
    return accepted(
        engine,
        tenant,
        OperationKind.SELECT,
        projection_workflow_id(tenant.project_id),
        {"expected_revision": 0, "resource_ids": []},
        redeliver_after_s=redeliver_after_s,
    )


def an_accepted_submit(engine: Engine, tenant: Tenant, title: str, *, redeliver_after_s: float = 0) -> Due:
    """A submit of a new Draft that creates one Memory."""
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        draft = create_draft(
            tx,
            project_id=tenant.project_id,
            title=title,
            base_commit_id=None,
            operations=[
                ProposedOperation(
                    Action.CREATE, path=f"notes/{uuid.uuid4().hex}.md", content=f"{BODY}\n", description=""
                )
            ],
        )
    review_id = new_review_id()
    drafts: JsonValue = [{"draft_id": draft.draft_id, "expected_draft_version": draft.version}]
    return accepted(
        engine,
        tenant,
        OperationKind.SUBMIT,
        review_workflow_id(review_id),
        {"title": title, "drafts": drafts},
        review_id,
        redeliver_after_s=redeliver_after_s,
    )


def an_open_draft(engine: Engine, tenant: Tenant) -> DraftRow:
    """A Draft of the owner that creates one Memory."""
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        creates = ProposedOperation(Action.CREATE, path=f"{uuid.uuid4().hex}.md", content=f"{BODY}\n", description="")
        return create_draft(tx, project_id=tenant.project_id, title=BODY, base_commit_id=None, operations=[creates])


def an_accepted_candidate(engine: Engine, tenant: Tenant, draft: DraftRow) -> Due:
    """The making of a Draft's candidate."""
    return accepted(
        engine,
        tenant,
        OperationKind.RECONCILE,
        reconciliation_workflow_id(draft.draft_id),
        ReconcileRequest(draft_id=draft.draft_id, expected_draft_version=draft.version).model_dump(mode="json"),
    )


def an_accepted_rebase(engine: Engine, tenant: Tenant, draft: DraftRow, candidate_id: str) -> Due:
    """A rebase of a Draft onto one of its candidates."""
    request = RebaseRequest(
        draft_id=draft.draft_id, candidate_id=CandidateId(candidate_id), expected_draft_version=draft.version
    )
    return accepted(
        engine,
        tenant,
        OperationKind.REBASE,
        reconciliation_workflow_id(draft.draft_id),
        request.model_dump(mode="json"),
    )


def an_accepted_import(engine: Engine, tenant: Tenant, paths: Sequence[str], *, redeliver_after_s: float = 0) -> Due:
    """An import of files at the paths."""
    files = [accept_file(path, BODY, description=None, memory_id=None, prefix="") for path in paths]
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        row = insert_import(tx, project_id=tenant.project_id, title="Notes", mirror=False, prefix="", source=None)
        assert row is not None
        if files:
            stage_files(tx, row.import_id, files)
    due = accepted(
        engine,
        tenant,
        OperationKind.IMPORT,
        import_workflow_id(row.import_id),
        ImportRequest(title="Notes").model_dump(mode="json"),
        redeliver_after_s=redeliver_after_s,
    )
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        set_operation(tx, row.import_id, OperationId(due.operation_id))
    return due


def an_accepted_command(
    engine: Engine, tenant: Tenant, kind: OperationKind, review_id: str, request: dict[str, JsonValue]
) -> Due:
    """A command on an existing Review, or its merge."""
    review = ReviewId(review_id)
    lane = publication_workflow_id(tenant.org_id)
    workflow_id = lane if kind == OperationKind.MERGE else review_workflow_id(review)
    return accepted(engine, tenant, kind, workflow_id, request, review)


def scheduled(engine: Engine, tenant: Tenant, submitted: Due, at: datetime) -> None:
    """Have the owner schedule the Review of an accepted submit for a time."""
    review_id = ReviewId(submitted.review_id or "")
    with transaction(engine, org_id=tenant.org_id, actor_id=tenant.owner_id, request_id="req_test") as tx:
        review = read_review(tx.connection, tenant.org_id, review_id)
        assert review is not None
        amend_review(
            tx, review_id, expected_version=review.version, title=None, description=None, schedule=Schedule(at)
        )


def scheduled_merges(engine: Engine, tenant: Tenant) -> list[Due]:
    """The merges that the clock made, as a delivery loop would find them."""
    with engine.connect() as connection:
        rows = connection.execute(
            text("""
                select org_id, operation_id, kind, workflow_id, project_id, review_id, '' from operations
                where org_id = :org_id and request ->> 'scheduled_for' is not null order by operation_id
            """),
            {"org_id": tenant.org_id},
        )
        return [Due(*row) for row in rows]


def operation_of(engine: Engine, due: Due) -> StoredOperation:
    with engine.connect() as connection:
        operation = read_operation(connection, OrganizationId(due.org_id), OperationId(due.operation_id))
    assert operation is not None
    return operation


def succeeded(engine: Engine, due: Due) -> bool:
    """Whether the operation has succeeded; one that failed fails the test instead of letting it wait."""
    operation = operation_of(engine, due)
    assert operation.status != "failed", operation.problem
    return operation.status == "succeeded"
