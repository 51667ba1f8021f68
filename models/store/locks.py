"""Row locks in the one written order, always `FOR NO KEY UPDATE` (architecture.md §3).

    coordination row (`organization_refs`) → operation → import → project → review → drafts, by id → selection →
    access, by project → owner of a scope (user, then workstreams by id) → structured memory, by id

Whoever needs several of them takes them in this order and never goes back; what is not needed is left out.
Publication, selection, membership, user, project-state and Review changes take the coordination row: who holds it
sees roles, memberships and project states that cannot change until COMMIT. Draft appends lock their Draft only, and
staging locks its import only. Comments lock their Review's first submission, which nothing else does.

Who waits for the coordination row has written and locked nothing yet. A transaction's number is drawn by its first
lock or write, and the change feed is read in order of these numbers: drawn while waiting, two publications would be
told in another order than they happened. So whoever takes the row queues for an advisory lock, which draws none; the
row itself is free then. An Idempotency-Key is claimed by an advisory lock too, and its row is written last.

`FOR UPDATE` is wrong here: it conflicts with the key-share locks that foreign keys take on a referenced row, so that
an append would wait for a publication, and two of them could deadlock. Only the owner of a scope is locked by it, when
it goes: saves in its scope, its sessions and its workstreams hold that row by `FOR KEY SHARE`, and nothing may join
what is being cleared.

An append relies on the selection that it reads, and a selection on the Drafts that it reads: with neither's rows locked
by the other, both would be accepted, and a Draft would target what its project no longer uses. So appends to existing
Memories share an advisory lock of their project, which whoever takes something out of its selection has alone. Appends
never wait for each other by it, nor for publications, which do not take it: what these deselect is archived, and an
append may target that. `FOR KEY SHARE` of the project's ref would do but for its order: new sharers pass a waiting
`FOR UPDATE`, and eight clients that append kept one waiting for 3 s (measured), with the coordination row in its hands.

A save in a project relies on the access that it reads in the same way: it shares an advisory lock of the project's
access, which a change of members and the archiving or deletion of the project have alone. Who has waited for it reads
access in a new statement, which sees what the other one committed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TypeVar

import psycopg
from sqlalchemy import Connection, RowMapping, text

from models.errors import NotFound
from models.identifiers import (
    CommitId,
    DraftId,
    ImportId,
    OperationId,
    OrganizationId,
    ProjectId,
    ReviewId,
    UserId,
    WorkstreamId,
)


@dataclass(frozen=True, slots=True)
class OrganizationRefRow:
    """The coordination row: where the organization stands; version 0 has no commit."""

    org_id: OrganizationId
    commit_id: CommitId | None
    version: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project's row; `state` is `active`, `archived` or `deleted`."""

    org_id: OrganizationId
    project_id: ProjectId
    name: str
    state: str
    version: int


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A Review's row; `submission` is the number of the latest.

    `reminded_submission` is that of the last one reminded of, `publish_operation_id` the merge that fell due.
    """

    org_id: OrganizationId
    review_id: ReviewId
    project_id: ProjectId
    author_id: UserId
    title: str
    description: str
    status: str
    closed_reason: str | None
    version: int
    submission: int
    result_hash: str
    publish_at: datetime | None
    merged_commit_id: CommitId | None
    created_at: datetime
    updated_at: datetime
    reminded_submission: int = 0
    publish_operation_id: OperationId | None = None


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A Draft's row, without its operations."""

    org_id: OrganizationId
    draft_id: DraftId
    project_id: ProjectId
    author_id: UserId
    title: str
    status: str
    version: int
    base_commit_id: CommitId | None
    base_version: int
    review_id: ReviewId | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ImportRow:
    """An import's row, without its files; it is being staged until `operation_id` is set.

    `base_version` is the organization's at `base_commit_id`, which the files were taken from; the counts are null
    before there is a plan; `ended_at` is set with the outcome of its operation; `outcome` is that once the operation is
    past retention.
    """

    org_id: OrganizationId
    import_id: ImportId
    project_id: ProjectId
    author_id: UserId
    title: str
    mirror: bool
    prefix: str
    source: str | None
    base_commit_id: CommitId | None
    base_version: int | None
    operation_id: OperationId | None
    review_id: ReviewId | None
    staged: int
    attempt: int
    batches: int | None
    created: int | None
    updated: int | None
    renamed: int | None
    deleted: int | None
    unchanged: int | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    outcome: str | None


QUEUE = text("select pg_advisory_xact_lock(hashtextextended(:org_id, 1))")
COORDINATION = text("select * from organization_refs where org_id = :org_id for no key update")
IMPORT = text("select * from imports where org_id = :org_id and import_id = :import_id for no key update")
PROJECT = text("select * from projects where org_id = :org_id and project_id = :project_id for no key update")
REVIEW = text("select * from reviews where org_id = :org_id and review_id = :review_id for no key update")
FIRST_SUBMISSION = text("""
    select from review_submissions
    where org_id = :org_id and review_id = :review_id and number = 1 for no key update
""")
DRAFTS = text("""
    select * from drafts where org_id = :org_id and draft_id = any(:draft_ids)
    order by draft_id for no key update
""")
KEEP_SELECTION = text("select pg_advisory_xact_lock_shared(hashtextextended(:org_id || :project_id, 4))")
LOCK_SELECTION = text("select pg_advisory_xact_lock(hashtextextended(:org_id || :project_id, 4))")
KEEP_ACCESS = "select pg_advisory_xact_lock_shared(hashtextextended(%(org_id)s || %(project_id)s, 5))"
LOCK_ACCESS = text("""
    select pg_advisory_xact_lock(hashtextextended(cast(:org_id as text) || project_id, 5))
    from (select project_id from unnest(cast(:project_ids as text[])) as p(project_id) order by project_id) p
""")
LOCK_USER = text("select user_id from users where org_id = :org_id and user_id = :user_id for update")
LOCK_WORKSTREAMS = text("""
    select workstream_id from workstreams where org_id = :org_id and workstream_id = any(:workstream_ids)
    order by workstream_id for update
""")


def lock_coordination(connection: Connection, org_id: OrganizationId) -> OrganizationRefRow:
    """Lock the organization's coordination row, first of all.

    Raises:
        NotFound: no such organization.
    """
    connection.execute(QUEUE, {"org_id": org_id})
    rows = connection.execute(COORDINATION, {"org_id": org_id}).mappings()
    return _one(OrganizationRefRow, rows.one_or_none())


def lock_import(connection: Connection, org_id: OrganizationId, import_id: ImportId) -> ImportRow:
    """Lock an import, after the coordination row.

    Raises:
        NotFound: no such import.
    """
    rows = connection.execute(IMPORT, {"org_id": org_id, "import_id": import_id}).mappings()
    return _one(ImportRow, rows.one_or_none())


def lock_project(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> ProjectRow:
    """Lock a project, after the coordination row; a deleted one is answered with that state.

    Raises:
        NotFound: the organization never had this project.
    """
    rows = connection.execute(PROJECT, {"org_id": org_id, "project_id": project_id}).mappings()
    return _one(ProjectRow, rows.one_or_none())


def lock_review(connection: Connection, org_id: OrganizationId, review_id: ReviewId) -> ReviewRow:
    """Lock a Review, after its project.

    Raises:
        NotFound: the organization has no such Review (its submit has not succeeded yet, or never will).
    """
    rows = connection.execute(REVIEW, {"org_id": org_id, "review_id": review_id}).mappings()
    return _one(ReviewRow, rows.one_or_none())


def lock_comments(connection: Connection, org_id: OrganizationId, review_id: ReviewId) -> None:
    """Have the comments on a Review written one after the other, and nothing else wait for them."""
    connection.execute(FIRST_SUBMISSION, {"org_id": org_id, "review_id": review_id})


def lock_drafts(
    connection: Connection, org_id: OrganizationId, draft_ids: Iterable[DraftId]
) -> dict[DraftId, DraftRow]:
    """Lock Drafts, last, by id in one statement; ids that the organization does not have are left out."""
    rows = connection.execute(DRAFTS, {"org_id": org_id, "draft_ids": sorted(set(draft_ids))}).mappings()
    drafts = [row_of(DraftRow, row) for row in rows]
    return {draft.draft_id: draft for draft in drafts}


def keep_selection(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> None:
    """Have nobody take anything out of a project's selection until COMMIT; the next statement reads what is in it."""
    connection.execute(KEEP_SELECTION, {"org_id": org_id, "project_id": project_id})


def lock_selection(connection: Connection, org_id: OrganizationId, project_id: ProjectId) -> None:
    """Have no Draft of a project come to target anything until COMMIT; the next statement reads what they target.

    Drafts are not locked after it.
    """
    connection.execute(LOCK_SELECTION, {"org_id": org_id, "project_id": project_id})


def keep_access(connection: psycopg.Connection, org_id: OrganizationId, project_id: ProjectId) -> None:
    """Have nobody change who may write in a project until COMMIT; the next statement reads who may."""
    connection.execute(KEEP_ACCESS, {"org_id": org_id, "project_id": project_id})


def lock_access(connection: Connection, org_id: OrganizationId, *project_ids: ProjectId) -> None:
    """Have nobody save in projects until COMMIT, whose members or state change; after their rows."""
    connection.execute(LOCK_ACCESS, {"org_id": org_id, "project_ids": sorted(project_ids)})


def lock_user(connection: Connection, org_id: OrganizationId, user_id: UserId) -> None:
    """Have nothing more come to belong to a user who goes; the next statement reads what does."""
    connection.execute(LOCK_USER, {"org_id": org_id, "user_id": user_id})


def lock_workstreams(connection: Connection, org_id: OrganizationId, workstream_ids: Iterable[WorkstreamId]) -> None:
    """Have nothing more come to belong to workstreams that go, by id; the next statement reads what does."""
    names = {"org_id": org_id, "workstream_ids": sorted(workstream_ids)}
    connection.execute(LOCK_WORKSTREAMS, names)


R = TypeVar("R", OrganizationRefRow, ImportRow, ProjectRow, ReviewRow, DraftRow)


def row_of(kind: type[R], row: RowMapping) -> R:
    """A table's row as the class of its name; further columns are left out."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})


def one_or_none(kind: type[R], row: RowMapping | None) -> R | None:
    """The same, of a row that may be missing."""
    return None if row is None else row_of(kind, row)


def _one(kind: type[R], row: RowMapping | None) -> R:
    if row is None:
        raise NotFound("There is no such resource.")
    return row_of(kind, row)
