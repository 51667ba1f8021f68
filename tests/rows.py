"""Rows for tests, made through the product's own transactions; every test has an organization of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Row, text
from sqlmodel import Session, SQLModel

from activities.accepting import ProposedOperation
from activities.drafting import append, create_draft, discard
from models.errors import Problem
from models.identifiers import (
    CommitId,
    DraftId,
    MemoryId,
    OrganizationId,
    ProjectId,
    UserId,
    new_organization_id,
    new_project_id,
    new_user_id,
)
from models.rules.folding import Action
from models.rules.names import name_key
from models.rules.roles import OrgRole
from models.store.audit import record_audit
from models.store.commits import organization_ref
from models.store.drafts import read_draft
from models.store.locks import DraftRow, lock_coordination
from models.store.transaction import Transaction, transaction
from models.store.users import change_user, read_user
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


def an_organization(engine: Engine, *, named: Somewhere | None = None) -> Somewhere:
    """A new organization; `named` lends its owner's and project's ids, which belong to one organization each."""
    place = Somewhere(
        engine,
        new_organization_id(),
        named.owner if named else new_user_id(),
        named.project_id if named else new_project_id(),
    )
    now = datetime.now(UTC)
    with acting(place) as tx:
        _add(tx, Organization(org_id=place.org_id, name="Acme", path_owners=[], created_at=now, updated_at=now))
        _add(tx, OrganizationRef(org_id=place.org_id, updated_at=now))
        _add_user(tx, place.owner, "owner")
        _add_project(tx, place.project_id)
    return place


def a_user(place: Somewhere, role: str = "member", *, user_id: UserId | None = None) -> UserId:
    user_id = user_id or new_user_id()
    with acting(place) as tx:
        _add_user(tx, user_id, role)
    return user_id


def _add_user(tx: Transaction, user_id: UserId, role: str) -> None:
    _add(tx, User(org_id=tx.org_id, user_id=user_id, name=user_id, role=role, created_at=tx.now, updated_at=tx.now))
    record_audit(tx, "user.create", "user", user_id, detail={"role": role})


def _add(tx: Transaction, row: SQLModel) -> None:
    with Session(tx.connection) as session:
        session.add(row)
        session.flush()


def with_role(place: Somewhere, user_id: UserId, role: OrgRole) -> None:
    """Give a user another role, as the API does."""
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        user = read_user(tx.connection, tx.org_id, user_id)
        change_user(tx, user, name=user.name, email=user.email, role=role)


def a_project(place: Somewhere, *, project_id: ProjectId | None = None) -> ProjectId:
    project_id = project_id or new_project_id()
    with acting(place) as tx:
        _add_project(tx, project_id)
    return project_id


def _add_project(tx: Transaction, project_id: ProjectId) -> None:
    _add(
        tx,
        Project(
            org_id=tx.org_id,
            project_id=project_id,
            name=project_id,
            name_key=name_key(project_id),
            slug=project_id,
            created_at=tx.now,
            updated_at=tx.now,
        ),
    )
    _add(tx, ProjectRef(org_id=tx.org_id, project_id=project_id, updated_at=tx.now))


def with_state(place: Somewhere, project_id: ProjectId, state: str) -> None:
    """Archive a project, or take it into use again."""
    execute(
        place, "update projects set state = :state where org_id = :o and project_id = :p", p=project_id, state=state
    )


def execute(place: Somewhere, statement: str, **names: object) -> None:
    """Change rows behind the product's back; `:o` is the organization."""
    with place.engine.begin() as connection:
        connection.execute(text(statement), {"o": place.org_id, **names})


def fetch(place: Somewhere, statement: str, **names: object) -> list[Row[tuple[Any, ...]]]:
    """Read rows; `:o` is the organization."""
    with place.engine.connect() as connection:
        return list(connection.execute(text(statement), {"o": place.org_id, **names}))


def a_member(place: Somewhere, role: str = "member", *, project_id: ProjectId | None = None) -> UserId:
    user_id = a_user(place)
    joins(place, user_id, role, project_id=project_id)
    return user_id


def joins(place: Somewhere, user_id: UserId, role: str = "member", *, project_id: ProjectId | None = None) -> None:
    with acting(place) as tx:
        _add(
            tx,
            ProjectMember(
                org_id=place.org_id,
                project_id=project_id or place.project_id,
                user_id=user_id,
                role=role,
                created_at=tx.now,
                updated_at=tx.now,
            ),
        )


def leaves(place: Somewhere, user_id: UserId) -> None:
    """Take a user out of every project."""
    execute(place, "delete from project_members where org_id = :o and user_id = :u", u=user_id)


def creates(path: str, content: str = "text\n", description: str = "") -> ProposedOperation:
    return ProposedOperation(Action.CREATE, path=path, content=content, description=description)


def updates(memory_id: str, content: str | None = None, description: str | None = None) -> ProposedOperation:
    return ProposedOperation(Action.UPDATE, MemoryId(memory_id), content=content, description=description)


def renames(memory_id: str, new_path: str) -> ProposedOperation:
    return ProposedOperation(Action.RENAME, MemoryId(memory_id), new_path=new_path)


def deletes(memory_id: str) -> ProposedOperation:
    return ProposedOperation(Action.DELETE, MemoryId(memory_id))


def restores(
    memory_id: str, path: str | None = None, content: str | None = None, description: str | None = None
) -> ProposedOperation:
    return ProposedOperation(Action.RESTORE, MemoryId(memory_id), path=path, content=content, description=description)


def a_draft(
    place: Somewhere,
    *operations: ProposedOperation,
    author: UserId | None = None,
    project_id: ProjectId | None = None,
    base: CommitId | None = None,
) -> DraftRow:
    with acting(place, author) as tx:
        return create_draft(
            tx,
            project_id=project_id or place.project_id,
            title="A change",
            base_commit_id=base,
            operations=operations,
        )


def appended(place: Somewhere, draft: DraftRow, *operations: ProposedOperation) -> DraftRow:
    with acting(place, draft.author_id) as tx:
        return append(tx, draft.draft_id, expected_version=draft.version, operations=operations)


def discarded(place: Somewhere, draft: DraftRow, *, actor: UserId | None = None) -> DraftRow:
    with acting(place, actor) as tx:
        return discard(tx, draft.draft_id, expected_version=None)


def refused(action: Callable[[], object]) -> Problem:
    """The problem that an action is refused with."""
    try:
        action()
    except Problem as problem:
        return problem
    raise AssertionError("it was not refused")


def provisional_ids(place: Somewhere, draft_id: DraftId) -> list[MemoryId]:
    """The ids that a Draft's creates got, in order."""
    rows = fetch(
        place,
        """
        select memory_id from draft_operations
        where org_id = :o and draft_id = :d and action = 'create' order by index
        """,
        d=draft_id,
    )
    return [MemoryId(row.memory_id) for row in rows]


def current(place: Somewhere, draft: DraftRow) -> DraftRow:
    """A Draft as it is now."""
    with place.engine.connect() as connection:
        row = read_draft(connection, place.org_id, draft.draft_id)
    assert row is not None
    return row


def ref_of(place: Somewhere) -> tuple[CommitId | None, int]:
    """Where the organization stands: commit and version."""
    with place.engine.connect() as connection:
        return organization_ref(connection, place.org_id)


def tree(place: Somewhere) -> dict[str, tuple[str, str, str]]:
    """What is published now: path, description and body by id."""
    rows = fetch(
        place,
        """
        select v.memory_id, v.path, v.description, b.content
        from memory_versions v join blobs b on b.org_id = v.org_id and b.blob_id = v.blob_id
        where v.org_id = :o and v.to_version is null
        """,
    )
    return {row.memory_id: (row.path, row.description, row.content) for row in rows}
