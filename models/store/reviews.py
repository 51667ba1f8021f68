"""Reviews: their rows and the timeline."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import Connection, RowMapping, text

from models.identifiers import OrganizationId, ProjectId, ReviewId, UserId
from models.store.locks import ReviewRow, one_or_none, row_of
from models.store.review_timers import settle_timer
from models.store.transaction import Transaction

FINAL = ("withdrawn", "merged")


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

    Its timers go with it; those of a new submission are settled by whoever stores that.
    """
    columns = {field.name: getattr(change, field.name) for field in fields(change) if field.name != "schedule"}
    schedule = {
        "reschedules": change.schedule is not None,
        "publish_at": None if change.schedule is None else change.schedule.publish_at,
    }
    names = {"org_id": tx.org_id, "review_id": review_id, "now": tx.now}
    row = tx.connection.execute(CHANGE, columns | schedule | names).mappings().one()
    if row["status"] in FINAL or change.submission is not None:
        return row_of(ReviewRow, row)
    return settle_timer(tx, review_id)


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
