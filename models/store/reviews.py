"""Reviews: rows, submissions, approvals and the timeline."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import (
    DraftId,
    MemoryId,
    OrganizationId,
    ProjectId,
    ReviewId,
    UserId,
    final_id,
    new_approval_id,
)
from models.rules.paths import path_key
from models.rules.states import State
from models.store.locks import ReviewRow, one_or_none, row_of
from models.store.review_timers import settle_timer
from models.store.transaction import Transaction

FINAL = ("withdrawn", "merged")


@dataclass(frozen=True, slots=True)
class Member:
    """A Draft of a submission, in the Review's order."""

    draft_id: DraftId
    draft_version: int


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """An approval that has not been dropped."""

    approval_id: str
    actor_id: UserId
    submission: int
    result_hash: str
    created_at: datetime


def read_review(connection: Connection, org_id: OrganizationId, review_id: ReviewId) -> ReviewRow | None:
    """A Review's row, unlocked."""
    row = connection.execute(
        text("select * from reviews where org_id = :org_id and review_id = :review_id"),
        {"org_id": org_id, "review_id": review_id},
    )
    return one_or_none(ReviewRow, row.mappings().one_or_none())


def insert_review(tx: Transaction, review: ReviewRow) -> None:
    """Store a new Review; its workflow is told to read it."""
    tx.connection.execute(
        text("""
            insert into reviews (org_id, review_id, project_id, author_id, title, description, status, closed_reason,
                                 version, submission, result_hash, publish_at, merged_commit_id, created_at, updated_at,
                                 refresh_pending)
            values (:org_id, :review_id, :project_id, :author_id, :title, :description, :status, :closed_reason,
                    :version, :submission, :result_hash, :publish_at, :merged_commit_id, :created_at, :updated_at,
                    true)
        """),
        {field.name: getattr(review, field.name) for field in fields(review)},
    )


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a Review is to be published by itself; None: not at all."""

    publish_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReviewChange:
    """What a command makes of a Review's row; None leaves a column alone."""

    status: str | None = None
    closed_reason: str | None = None
    title: str | None = None
    description: str | None = None
    submission: int | None = None
    result_hash: str | None = None
    merged_commit_id: str | None = None
    schedule: Schedule | None = None


CHANGE = text("""
    update reviews set
        status = coalesce(:status, status), closed_reason = coalesce(:closed_reason, closed_reason),
        title = coalesce(:title, title), description = coalesce(:description, description),
        submission = coalesce(:submission, submission), result_hash = coalesce(:result_hash, result_hash),
        merged_commit_id = coalesce(:merged_commit_id, merged_commit_id),
        publish_at = case when :reschedules then cast(:publish_at as timestamptz) else publish_at end,
        publish_operation_id = case when :reschedules then null else publish_operation_id end,
        version = version + 1, refresh_pending = true, next_timer_at = null, updated_at = :now
    where org_id = :org_id and review_id = :review_id
    returning *
""")


def change_review(tx: Transaction, review_id: ReviewId, change: ReviewChange) -> ReviewRow:
    """Change a Review's row, a version further, and have its workflow read it again; the row as it is then.

    Its timers go with it; after a new submission they count from that once it is stored.
    """
    columns = {field.name: getattr(change, field.name) for field in fields(change) if field.name != "schedule"}
    schedule = {
        "reschedules": change.schedule is not None,
        "publish_at": None if change.schedule is None else change.schedule.publish_at,
    }
    names = {"org_id": tx.org_id, "review_id": review_id, "now": tx.now}
    row = tx.connection.execute(CHANGE, columns | schedule | names).mappings().one()
    return row_of(ReviewRow, row) if row["status"] in FINAL else settle_timer(tx, review_id)


# By arrays: row by row, the tens of thousands of an import took longer than all else of its submission.
STATES = text("""
    insert into review_submission_states
        (org_id, review_id, number, memory_id, path, description, blob_id,
         base_path, base_description, base_blob_id, path_key, base_path_key, created_for)
    select :org_id, :review_id, :number, s.*
    from unnest(
        cast(:memory_ids as text[]), cast(:paths as text[]), cast(:descriptions as text[]), cast(:blob_ids as text[]),
        cast(:base_paths as text[]), cast(:base_descriptions as text[]), cast(:base_blob_ids as text[]),
        cast(:path_keys as text[]), cast(:base_path_keys as text[]), cast(:created_for as text[])
    ) as s
""")


def insert_submission(
    tx: Transaction,
    review_id: ReviewId,
    number: int,
    *,
    result_hash: str,
    project_id: ProjectId,
    members: Sequence[Member],
    states: Mapping[MemoryId, State],
    bases: Mapping[MemoryId, State],
    created: Collection[MemoryId],
) -> None:
    """Store an immutable submission; the bodies it names are blobs already.

    Args:
        tx: the transaction.
        review_id: the Review.
        number: the submission's number, from 1.
        result_hash: the hash of `states`.
        project_id: for which project creates will be selected.
        members: the Drafts with their versions, in the Review's order.
        states: final states by provisional or existing id.
        bases: the same at the Drafts' bases.
        created: the final ids of what the Drafts create.
    """
    scope = {"org_id": tx.org_id, "review_id": review_id, "number": number}
    tx.connection.execute(
        text("""
            insert into review_submissions (org_id, review_id, number, result_hash, org_version, created_by, created_at)
            select :org_id, :review_id, :number, :result_hash, version, :created_by, :created_at
            from organization_refs where org_id = :org_id
        """),
        scope | {"result_hash": result_hash, "created_by": tx.actor_id, "created_at": tx.now},
    )
    if members:
        tx.connection.execute(
            text("""
                insert into review_submission_drafts (org_id, review_id, number, position, draft_id, draft_version)
                values (:org_id, :review_id, :number, :position, :draft_id, :draft_version)
            """),
            [
                scope | {"position": position, "draft_id": member.draft_id, "draft_version": member.draft_version}
                for position, member in enumerate(members)
            ],
        )
    ends = [final_id(memory_id) for memory_id in states]
    tx.connection.execute(
        STATES,
        scope
        | {"memory_ids": ends, "created_for": [project_id if memory_id in created else None for memory_id in ends]}
        | _columns(list(states.values()), "")
        | _columns([bases.get(memory_id) for memory_id in states], "base_"),
    )
    settle_timer(tx, review_id)


def _columns(states: Sequence[State], side: str) -> dict[str, list[str | None]]:
    return {
        f"{side}paths": [None if state is None else state.path for state in states],
        f"{side}path_keys": [None if state is None else path_key(state.path) for state in states],
        f"{side}descriptions": [None if state is None else state.description for state in states],
        f"{side}blob_ids": [None if state is None else state.body.blob_id for state in states],
    }


def members_of(
    connection: Connection, org_id: OrganizationId, review_ids: Collection[ReviewId]
) -> dict[tuple[ReviewId, int], list[Member]]:
    """The Drafts of every submission of Reviews, by (Review, number) and in order."""
    rows = connection.execute(
        text("""
            select review_id, number, draft_id, draft_version from review_submission_drafts
            where org_id = :org_id and review_id = any(:review_ids) order by review_id, number, position
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[tuple[ReviewId, int], list[Member]] = {}
    for row in rows:
        found.setdefault((row.review_id, row.number), []).append(Member(row.draft_id, row.draft_version))
    return found


def latest_members(connection: Connection, review: ReviewRow) -> list[Member]:
    """The Drafts of a Review's latest submission, in order."""
    rows = connection.execute(
        text("""
            select draft_id, draft_version from review_submission_drafts
            where org_id = :org_id and review_id = :review_id and number = :number order by position
        """),
        {"org_id": review.org_id, "review_id": review.review_id, "number": review.submission},
    )
    return [Member(row.draft_id, row.draft_version) for row in rows]


def approvals_of(
    connection: Connection, org_id: OrganizationId, review_ids: Collection[ReviewId]
) -> dict[ReviewId, list[StoredApproval]]:
    """The approvals of Reviews that stand, oldest first."""
    rows = connection.execute(
        text("""
            select review_id, approval_id, actor_id, submission, result_hash, created_at from review_approvals
            where org_id = :org_id and review_id = any(:review_ids) and dropped_at is null
            order by created_at, approval_id
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    found: dict[ReviewId, list[StoredApproval]] = {}
    for review_id, *values in rows:
        found.setdefault(review_id, []).append(StoredApproval(*values))
    return found


def insert_approval(tx: Transaction, review: ReviewRow) -> None:
    """Bind the actor's approval to the latest submission's result; one of an older result is dropped for it."""
    drop_approvals(tx, review.review_id, actor_id=tx.actor_id)
    tx.connection.execute(
        text("""
            insert into review_approvals
                (org_id, approval_id, review_id, actor_id, submission, result_hash, created_at)
            values (:org_id, :approval_id, :review_id, :actor_id, :submission, :result_hash, :created_at)
        """),
        {
            "org_id": tx.org_id,
            "approval_id": new_approval_id(),
            "review_id": review.review_id,
            "actor_id": tx.actor_id,
            "submission": review.submission,
            "result_hash": review.result_hash,
            "created_at": tx.now,
        },
    )


def drop_approvals(tx: Transaction, review_id: ReviewId, *, actor_id: UserId | None = None) -> int:
    """Drop the approvals that stand, of one actor or of all; how many there were."""
    return tx.connection.execute(
        text("""
            update review_approvals set dropped_at = :now
            where org_id = :org_id and review_id = :review_id and dropped_at is null
              and (cast(:actor_id as text) is null or actor_id = :actor_id)
        """),
        {"org_id": tx.org_id, "review_id": review_id, "actor_id": actor_id, "now": tx.now},
    ).rowcount


def add_to_timeline(
    tx: Transaction,
    review_id: ReviewId,
    event: str,
    *,
    submission: int | None = None,
    old_hash: str | None = None,
    new_hash: str | None = None,
    reason: str | None = None,
) -> None:
    """Record what happened; the Review's row is locked, so positions have no gaps."""
    tx.connection.execute(
        text("""
            insert into review_timeline
                (org_id, review_id, position, at, actor_id, event, submission, old_hash, new_hash, reason)
            select :org_id, :review_id, coalesce(max(position) + 1, 0), :at, :actor_id, :event, :submission,
                   :old_hash, :new_hash, :reason
            from review_timeline where org_id = :org_id and review_id = :review_id
        """),
        {
            "org_id": tx.org_id,
            "review_id": review_id,
            "at": tx.now,
            "actor_id": tx.actor_id,
            "event": event,
            "submission": submission,
            "old_hash": old_hash,
            "new_hash": new_hash,
            "reason": reason,
        },
    )


def unfinished_reviews(
    connection: Connection,
    org_id: OrganizationId,
    *,
    author_id: UserId | None = None,
    project_id: ProjectId | None = None,
    statuses: Collection[str] = ("open", "approved"),
) -> list[ReviewId]:
    """Reviews of an author or of a project with one of the statuses, by id."""
    rows = connection.execute(
        text("""
            select review_id from reviews
            where org_id = :org_id and status = any(:statuses)
              and (cast(:author_id as text) is null or author_id = :author_id)
              and (cast(:project_id as text) is null or project_id = :project_id)
            order by review_id
        """),
        {"org_id": org_id, "statuses": list(statuses), "author_id": author_id, "project_id": project_id},
    )
    return list(rows.scalars())


def projects_of(connection: Connection, org_id: OrganizationId, review_ids: Collection[ReviewId]) -> list[ProjectId]:
    """The projects that Reviews belong to, by id."""
    rows = connection.execute(
        text("""
            select distinct project_id from reviews
            where org_id = :org_id and review_id = any(:review_ids) order by project_id
        """),
        {"org_id": org_id, "review_ids": list(review_ids)},
    )
    return list(rows.scalars())


def record_refresh(connection: Connection, org_id: OrganizationId, review_id: ReviewId) -> RowMapping | None:
    """Note that a Review's workflow has read its row, and the columns that it reads; None where there is no Review."""
    row = connection.execute(
        text("""
            update reviews set refresh_pending = false where org_id = :org_id and review_id = :review_id
            returning status, title, project_id, version, next_timer_at
        """),
        {"org_id": org_id, "review_id": review_id},
    )
    return row.mappings().one_or_none()
