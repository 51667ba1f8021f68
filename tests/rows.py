"""Rows for tests, made through the product's own transactions; every test has an organization of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue
from sqlalchemy import Engine, text

from activities.accepting import ProposedOperation
from activities.boundary import Handler, carry_out
from activities.drafting import append, create_draft
from activities.messages import Command
from activities.projections import replace_selection
from activities.publication import publish_review
from activities.reviews import perform
from models.identifiers import (
    DraftId,
    MemoryId,
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
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from models.store.operations import OperationKind, StoredOperation, accept_operation, read_operation
from models.store.reviews import read_review
from models.store.transaction import Transaction, transaction
from models.tables import Organization, OrganizationRef, Project, ProjectMember, ProjectRef, User


@dataclass(frozen=True)
class Somewhere:
    """An organization with an owner and one project."""

    engine: Engine
    org_id: OrganizationId
    owner: UserId
    project_id: ProjectId


@contextmanager
def acting(place: Somewhere, actor: UserId | None = None) -> Iterator[Transaction]:
    """A transaction of the organization, by its owner unless somebody else is named."""
    with transaction(place.engine, org_id=place.org_id, actor_id=actor or place.owner, request_id="test") as tx:
        yield tx


def an_organization(engine: Engine) -> Somewhere:
    place = Somewhere(engine, new_organization_id(), new_user_id(), new_project_id())
    now = datetime.now(UTC)
    with acting(place) as tx:
        tx.session.add(Organization(org_id=place.org_id, name="Acme", path_owners=[], created_at=now, updated_at=now))
        tx.session.flush()
        tx.session.add(OrganizationRef(org_id=place.org_id, updated_at=now))
    a_user(place, "owner", user_id=place.owner)
    a_project(place, project_id=place.project_id)
    return place


def a_user(place: Somewhere, role: str = "member", *, user_id: UserId | None = None) -> UserId:
    now = datetime.now(UTC)
    user_id = user_id or new_user_id()
    with acting(place) as tx:
        tx.session.add(
            User(org_id=place.org_id, user_id=user_id, name=user_id, role=role, created_at=now, updated_at=now)
        )
    return user_id


def a_project(place: Somewhere, *, project_id: ProjectId | None = None) -> ProjectId:
    now = datetime.now(UTC)
    project_id = project_id or new_project_id()
    with acting(place) as tx:
        tx.session.add(
            Project(
                org_id=place.org_id,
                project_id=project_id,
                name=project_id,
                name_key=project_id,
                slug=project_id,
                created_at=now,
                updated_at=now,
            )
        )
        tx.session.flush()
        tx.session.add(ProjectRef(org_id=place.org_id, project_id=project_id, updated_at=now))
    return project_id


def a_member(place: Somewhere, role: str = "member", *, project_id: ProjectId | None = None) -> UserId:
    now = datetime.now(UTC)
    user_id = a_user(place)
    with acting(place) as tx:
        tx.session.add(
            ProjectMember(
                org_id=place.org_id,
                project_id=project_id or place.project_id,
                user_id=user_id,
                role=role,
                created_at=now,
                updated_at=now,
            )
        )
    return user_id


def creates(path: str, content: str = "text\n", description: str = "") -> ProposedOperation:
    return ProposedOperation(Action.CREATE, path=path, content=content, description=description)


def updates(memory_id: str, content: str | None = None, description: str | None = None) -> ProposedOperation:
    return ProposedOperation(Action.UPDATE, MemoryId(memory_id), content=content, description=description)


def renames(memory_id: str, new_path: str) -> ProposedOperation:
    return ProposedOperation(Action.RENAME, MemoryId(memory_id), new_path=new_path)


def deletes(memory_id: str) -> ProposedOperation:
    return ProposedOperation(Action.DELETE, MemoryId(memory_id))


def a_draft(
    place: Somewhere,
    *operations: ProposedOperation,
    author: UserId | None = None,
    project_id: ProjectId | None = None,
) -> DraftRow:
    with acting(place, author) as tx:
        return create_draft(
            tx,
            project_id=project_id or place.project_id,
            title="A change",
            base_commit_id=None,
            operations=operations,
        )


def appended(place: Somewhere, draft: DraftRow, *operations: ProposedOperation) -> DraftRow:
    with acting(place, draft.author_id) as tx:
        return append(tx, draft.draft_id, expected_version=draft.version, operations=operations)


def provisional_ids(place: Somewhere, draft_id: DraftId) -> list[MemoryId]:
    """The ids that a Draft's creates got, in order."""
    with place.engine.connect() as connection:
        return list(
            connection.execute(
                text(
                    "select memory_id from draft_operations where draft_id = :id and action = 'create' order by index"
                ),
                {"id": draft_id},
            ).scalars()
        )


def an_operation(
    place: Somewhere,
    kind: OperationKind,
    request: dict[str, JsonValue],
    *,
    review_id: ReviewId | None = None,
    actor: UserId | None = None,
    project_id: ProjectId | None = None,
) -> StoredOperation:
    with acting(place, actor) as tx:
        return accept_operation(
            tx,
            kind=kind,
            workflow_id="test",
            project_id=project_id or place.project_id,
            review_id=review_id,
            request=request,
            redeliver_after_s=3_600,
        )


def carried_out(place: Somewhere, operation: StoredOperation, handler: Handler) -> StoredOperation:
    """Carry an operation out as an activity would, without Temporal; its row afterwards."""
    carry_out(place.engine, Command(org_id=operation.org_id, operation_id=operation.operation_id), handler)
    with place.engine.connect() as connection:
        stored = read_operation(connection, operation.org_id, operation.operation_id)
    assert stored is not None
    return stored


def submitted(
    place: Somewhere, *drafts: DraftRow, author: UserId | None = None, title: str = "A Review"
) -> StoredOperation:
    request: dict[str, JsonValue] = {"title": title, "drafts": _references(place, drafts)}
    operation = an_operation(
        place,
        OperationKind.SUBMIT,
        request,
        review_id=new_review_id(),
        actor=author or drafts[0].author_id,
        project_id=drafts[0].project_id,
    )
    return carried_out(place, operation, perform)


def _references(place: Somewhere, drafts: Sequence[DraftRow]) -> list[JsonValue]:
    return [{"draft_id": draft.draft_id, "expected_draft_version": draft.version} for draft in drafts]


def a_review(place: Somewhere, *drafts: DraftRow) -> ReviewId:
    """A submitted Review."""
    operation = submitted(place, *drafts)
    assert operation.status == "succeeded", operation.problem
    assert operation.review_id is not None
    return operation.review_id


def review_version(place: Somewhere, review_id: ReviewId) -> int:
    with place.engine.connect() as connection:
        review = read_review(connection, place.org_id, review_id)
    assert review is not None
    return review.version


def a_merge(place: Somewhere, review_id: ReviewId, **request: JsonValue) -> StoredOperation:
    """A merge operation that waits to be carried out."""
    return an_operation(
        place,
        OperationKind.MERGE,
        {"expected_review_version": review_version(place, review_id), **request},
        review_id=review_id,
    )


def merged(place: Somewhere, review_id: ReviewId, **request: JsonValue) -> StoredOperation:
    return carried_out(place, a_merge(place, review_id, **request), publish_review)


def decided(place: Somewhere, review_id: ReviewId, decision: str, *, actor: UserId | None = None) -> StoredOperation:
    request: dict[str, JsonValue] = {
        "decision": decision,
        "expected_review_version": review_version(place, review_id),
    }
    operation = an_operation(place, OperationKind.DECIDE, request, review_id=review_id, actor=actor)
    return carried_out(place, operation, perform)


def published(place: Somewhere, *operations: ProposedOperation, project_id: ProjectId | None = None) -> list[MemoryId]:
    """Publish operations as one Review; the ids of what they create, in order."""
    draft = a_draft(place, *operations, project_id=project_id)
    outcome = merged(place, a_review(place, draft))
    assert outcome.status == "succeeded", outcome.problem
    return [MemoryId("mem_" + provisional[4:]) for provisional in provisional_ids(place, draft.draft_id)]


def selected(place: Somewhere, project_id: ProjectId, memory_ids: Sequence[str]) -> StoredOperation:
    with place.engine.connect() as connection:
        revision = connection.execute(
            text("select selection_revision from project_refs where project_id = :id"), {"id": project_id}
        ).scalar_one()
    request: dict[str, JsonValue] = {"expected_revision": revision, "resource_ids": list(memory_ids)}
    operation = an_operation(place, OperationKind.SELECT, request, project_id=project_id)
    return carried_out(place, operation, replace_selection)


def current(place: Somewhere, draft: DraftRow) -> DraftRow:
    with place.engine.connect() as connection:
        row = read_draft(connection, place.org_id, draft.draft_id)
    assert row is not None
    return row
