"""Operations: accepted commands, outbox and receipt in one row (architecture.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum

import orjson
from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping, TextClause, text

from models.errors import Problem
from models.identifiers import OperationId, OrganizationId, ProjectId, ReviewId, UserId, new_operation_id
from models.store.transaction import Transaction

CHANNEL = "canonry_operation"
"""The channel on which an operation's id is announced when its outcome commits."""

FINISHED_AMONG = """
    select o.operation_id from unnest(%s::text[], %s::text[]) as waited(org_id, operation_id)
    join operations o using (org_id, operation_id) where o.status in ('succeeded', 'failed')
"""
"""For psycopg itself, which listens on that channel: which of these operations have their outcome, given as columns."""

MAX_FAILURES = 5
"""An operation that failed so often for an unforeseen reason ends as `internal_error` (architecture.md §3)."""


READ = text("select * from operations where org_id = :org_id and operation_id = :operation_id")
# A Review is the effect of an operation that may be past retention.
ANY_FINISHED = text("""
    select exists (select from operations where status in ('succeeded', 'failed')) or exists (select from reviews)
""")
ACCEPT = text("""
    insert into operations (org_id, operation_id, kind, status, user_id, project_id, review_id, workflow_id, request,
                            request_id, progress_step, progress_done, progress_total, failures, deliveries,
                            next_delivery_at, created_at, updated_at)
    values (:org_id, :operation_id, :kind, 'pending', :user_id, :project_id, :review_id, :workflow_id,
            cast(:request as jsonb), :request_id, 'accepted', 0, 1, 0, 0,
            clock_timestamp() + make_interval(secs => :redeliver_after_s), :now, :now)
    returning *
""")
LOCK = text("select * from operations where org_id = :org_id and operation_id = :operation_id for no key update")


class OperationKind(StrEnum):
    """What an operation asks for; the part before the dot tells which workflow carries it out."""

    SUBMIT = "review.submit"
    RESUBMIT = "review.resubmit"
    DECIDE = "review.decide"
    WITHDRAW = "review.withdraw"
    MERGE = "review.merge"
    SELECT = "selection.replace"
    IMPORT = "import.run"
    RECONCILE = "draft.reconcile"
    REBASE = "draft.rebase"


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """An operation's row."""

    org_id: OrganizationId
    operation_id: OperationId
    kind: OperationKind
    status: str
    user_id: UserId
    project_id: ProjectId
    review_id: ReviewId | None
    workflow_id: str
    request: dict[str, JsonValue]
    request_id: str
    progress_step: str
    progress_done: int
    progress_total: int
    result: dict[str, JsonValue] | None
    problem: dict[str, JsonValue] | None
    failures: int
    created_at: datetime
    updated_at: datetime

    @property
    def finished(self) -> bool:
        """Whether the outcome stands."""
        return self.status in ("succeeded", "failed")

    @classmethod
    def of(cls, row: RowMapping) -> "StoredOperation":
        """From a row of the table."""
        values = {field.name: row[field.name] for field in fields(cls)}
        return cls(**values | {"kind": OperationKind(row["kind"])})


@dataclass(frozen=True, slots=True)
class Due:
    """An unfinished operation that is to be delivered to its workflow now."""

    org_id: str
    operation_id: str
    kind: str
    workflow_id: str
    project_id: str
    review_id: str | None
    title: str


def accept_operation(
    tx: Transaction,
    *,
    kind: OperationKind,
    workflow_id: str,
    project_id: str,
    review_id: ReviewId | None,
    request: dict[str, JsonValue],
    redeliver_after_s: float,
) -> "StoredOperation":
    """Store a command; from COMMIT on it will end, once, whatever is killed.

    Args:
        tx: the transaction; its actor is who asked.
        kind: one of `OperationKind`.
        workflow_id: who carries it out.
        project_id: the project it concerns.
        review_id: the Review it concerns, if any.
        request: ids, versions and short texts; of texts to publish none but resolved states.
        redeliver_after_s: when the delivery loops take it up if the first delivery was lost.
    """
    values = {
        "org_id": tx.org_id,
        "operation_id": new_operation_id(),
        "kind": kind,
        "user_id": tx.actor_id,
        "project_id": project_id,
        "review_id": review_id,
        "workflow_id": workflow_id,
        "request": orjson.dumps(request).decode(),
        "request_id": tx.request_id,
        "redeliver_after_s": redeliver_after_s,
        "now": tx.now,
    }
    return StoredOperation.of(tx.connection.execute(ACCEPT, values).mappings().one())


def read_operation(
    connection: Connection, org_id: OrganizationId, operation_id: OperationId
) -> "StoredOperation | None":
    """An operation's row, or None."""
    return _one(connection, READ, org_id, operation_id)


def any_finished(connection: Connection) -> bool:
    """Whether the installation has ever carried an operation out, for whomever and however it ended."""
    return bool(connection.execute(ANY_FINISHED).scalar_one())


def lock_operation(
    connection: Connection, org_id: OrganizationId, operation_id: OperationId
) -> "StoredOperation | None":
    """An operation's row, locked after the coordination row where that is taken."""
    return _one(connection, LOCK, org_id, operation_id)


def _one(
    connection: Connection, statement: TextClause, org_id: OrganizationId, operation_id: OperationId
) -> "StoredOperation | None":
    row = connection.execute(statement, {"org_id": org_id, "operation_id": operation_id}).mappings().one_or_none()
    return None if row is None else StoredOperation.of(row)


FINISH = text("""
    with finished as (
        update operations
        set status = :status, result = cast(:result as jsonb), problem = cast(:problem as jsonb),
            progress_step = :status, progress_done = progress_total, next_delivery_at = null, updated_at = :now
        where org_id = :org_id and operation_id = :operation_id and status in ('pending', 'running')
        returning operation_id
    )
    select pg_notify(:channel, operation_id) from finished
""")


def succeed(tx: Transaction, operation_id: OperationId, result: dict[str, JsonValue]) -> None:
    """Record the outcome and wake whoever waits for it, at COMMIT."""
    _finish(tx, operation_id, status="succeeded", result=result, problem=None)


def fail(tx: Transaction, operation_id: OperationId, problem: Problem) -> None:
    """Record a refusal as the outcome and wake whoever waits for it, at COMMIT."""
    _finish(tx, operation_id, status="failed", result=None, problem=problem.document())


def _finish(
    tx: Transaction,
    operation_id: OperationId,
    *,
    status: str,
    result: dict[str, JsonValue] | None,
    problem: dict[str, JsonValue] | None,
) -> None:
    tx.connection.execute(
        FINISH,
        {
            "org_id": tx.org_id,
            "operation_id": operation_id,
            "status": status,
            "result": None if result is None else orjson.dumps(result).decode(),
            "problem": None if problem is None else orjson.dumps(problem).decode(),
            "now": tx.now,
            "channel": CHANNEL,
        },
    )


@dataclass(frozen=True, slots=True)
class Failing:
    """How often an unfinished operation has failed, and as little else of it as ending it takes."""

    failures: int
    user_id: UserId
    review_id: ReviewId | None
    request_id: str


def count_failure(connection: Connection, org_id: OrganizationId, operation_id: OperationId) -> Failing | None:
    """Count an unforeseen failure, whatever is wrong with the row; None if it has its outcome, or is not there."""
    row = connection.execute(
        text("""
            update operations set failures = failures + 1, updated_at = clock_timestamp()
            where org_id = :org_id and operation_id = :operation_id and status in ('pending', 'running')
            returning failures, user_id, review_id, request_id
        """),
        {"org_id": org_id, "operation_id": operation_id},
    ).one_or_none()
    return None if row is None else Failing(*row)


def mark_running(connection: Connection, org_id: OrganizationId, operation_ids: Sequence[str], step: str) -> None:
    """Show that a worker has taken the operations up."""
    connection.execute(
        text("""
            update operations set status = 'running', progress_step = :step, updated_at = clock_timestamp()
            where org_id = :org_id and operation_id = any(:operation_ids) and status = 'pending'
        """),
        {"org_id": org_id, "operation_ids": list(operation_ids), "step": step},
    )


def show_progress(tx: Transaction, operation_id: OperationId, step: str, *, done: int, total: int) -> None:
    """Show how far a locked, unfinished operation is."""
    tx.connection.execute(
        text("""
            update operations
            set status = 'running', progress_step = :step, progress_done = :done, progress_total = :total,
                updated_at = :now
            where org_id = :org_id and operation_id = :operation_id and status in ('pending', 'running')
        """),
        {
            "org_id": tx.org_id,
            "operation_id": operation_id,
            "step": step,
            "done": done,
            "total": total,
            "now": tx.now,
        },
    )


# The statement's time, unlike the clock's, is one value for the index to search by.
CLAIM_DUE = text("""
    with due as (
        select org_id, operation_id from operations
        where status in ('pending', 'running') and next_delivery_at <= statement_timestamp()
        order by next_delivery_at limit :limit for no key update skip locked
    )
    update operations o
    set deliveries = o.deliveries + 1,
        next_delivery_at = clock_timestamp()
            + make_interval(secs => least(:first_retry_s * power(2, least(o.deliveries, 10)), :max_retry_s))
    from due
    where o.org_id = due.org_id and o.operation_id = due.operation_id
    returning o.org_id, o.operation_id, o.kind, o.workflow_id, o.project_id, o.review_id,
              coalesce(o.request ->> 'title', '') as title
""")


def claim_due(connection: Connection, *, limit: int, first_retry_s: float, max_retry_s: float) -> list[Due]:
    """Unfinished operations whose delivery is due; each is claimed by one process and falls due again later."""
    rows = connection.execute(CLAIM_DUE, {"limit": limit, "first_retry_s": first_retry_s, "max_retry_s": max_retry_s})
    return [Due(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class RefreshDue:
    """A Review whose workflow has to read its row again."""

    org_id: str
    review_id: str
    project_id: str
    title: str
    status: str


def reviews_to_refresh(connection: Connection, *, limit: int, merged_for_s: float) -> list[RefreshDue]:
    """Reviews that changed, or whose timer is due, and whose workflow has not recorded it.

    Args:
        connection: any.
        limit: at most so many, the oldest change first.
        merged_for_s: how long the lane that merged a Review is left to tell of it.
    """
    rows = connection.execute(
        text("""
            select org_id, review_id, project_id, title, status from reviews
            where (refresh_pending and (
                      status <> 'merged' or updated_at <= clock_timestamp() - make_interval(secs => :merged_for_s)))
               or next_timer_at <= statement_timestamp()
            order by updated_at limit :limit
        """),
        {"limit": limit, "merged_for_s": merged_for_s},
    )
    return [RefreshDue(*row) for row in rows]
