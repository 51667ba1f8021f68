"""What was asked and what became of it: operations, idempotency keys, the change feed, audit (architecture.md §3)."""

from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Identity, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import JSON, Xid8, ident, instant, instant_or_none, key, one_of

UNFINISHED = text("status in ('pending', 'running')")
FINISHED = text("status in ('succeeded', 'failed')")


class Operation(SQLModel, table=True):
    """A command that was accepted: outbox and receipt in one row.

    `next_delivery_at` is set while it is unfinished; `request` holds ids, versions and short texts of the command.
    """

    __tablename__ = "operations"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        one_of("status", "pending", "running", "succeeded", "failed"),
        CheckConstraint(
            "(status in ('pending', 'running')) = (next_delivery_at is not null)", name="unfinished_is_due"
        ),
        CheckConstraint("(status = 'succeeded') = (result is not null)", name="success_has_result"),
        CheckConstraint("(status = 'failed') = (problem is not null)", name="failure_has_problem"),
        Index("ix_operations_due", "next_delivery_at", postgresql_where=UNFINISHED),
        Index("ix_operations_finished", "updated_at", postgresql_where=FINISHED),
    )

    org_id: str = key()
    operation_id: str = key()
    kind: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    user_id: str = ident()
    project_id: str = ident()
    review_id: str | None = ident(default=None)
    workflow_id: str = ident()
    request: dict[str, JsonValue] = Field(sa_type=JSON)
    request_id: str = Field(sa_type=Text)
    progress_step: str = Field(sa_type=Text)
    progress_done: int = 0
    progress_total: int = 1
    result: dict[str, JsonValue] | None = Field(default=None, sa_type=JSON)
    problem: dict[str, JsonValue] | None = Field(default=None, sa_type=JSON)
    failures: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    deliveries: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    next_delivery_at: datetime | None = instant_or_none()
    created_at: datetime = instant()
    updated_at: datetime = instant()


class IdempotencyKey(SQLModel, table=True):
    """The answer given to a POST that named a key; scope (user, method, path), kept 7 days."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        Index("ix_idempotency_keys_created_at", "created_at"),
    )

    org_id: str = key()
    user_id: str = key()
    method: str = key()
    path: str = key()
    key: str = key()
    body_hash: str = ident()
    status: int | None = None
    headers: dict[str, JsonValue] | None = Field(default=None, sa_type=JSON)
    body: str | None = Field(default=None, sa_type=Text)
    operation_id: str | None = ident(default=None)
    created_at: datetime = instant()


class Event(SQLModel, table=True):
    """That something readable changed; ids only.

    Readers order by `(xid, id)` below the oldest running transaction, so nothing that commits later sorts earlier.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_feed", "org_id", "xid", "id"),
        Index("ix_events_user", "org_id", "user_id", "xid", "id", postgresql_where=text("user_id is not null")),
        Index("ix_events_structured", "xid", "id", postgresql_where=text("resource_type = 'structured_memory'")),
    )

    id: int | None = Field(default=None, sa_type=BigInteger, primary_key=True, sa_column_args=(Identity(always=True),))
    xid: str | None = Field(
        default=None, sa_type=Xid8, nullable=False, sa_column_kwargs={"server_default": text("pg_current_xact_id()")}
    )
    org_id: str = ident()
    kind: str = Field(sa_type=Text)
    resource_type: str = Field(sa_type=Text)
    resource_id: str = ident()
    project_id: str | None = ident(default=None)
    user_id: str | None = ident(default=None)
    version: int | None = None
    at: datetime = instant()


class FeedEpoch(SQLModel, table=True):
    """Which life of the database the feed's cursors belong to; one row, replaced when a backup is restored."""

    __tablename__ = "feed_epochs"

    epoch: str = key()
    started_at: datetime = instant()


class FeedFloor(SQLModel, table=True):
    """The last event of an organization that retention removed: a cursor before it has expired.

    `at` is the latest time of all that were removed: of what happened later, every event is there.
    """

    __tablename__ = "feed_floors"
    __table_args__ = (ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),)

    org_id: str = key()
    xid: str = Field(sa_type=Xid8)
    id: int = Field(sa_type=BigInteger)
    at: datetime = instant()


class AuditEvent(SQLModel, table=True):
    """Who did what to which resource; hashes and ids, never contents."""

    __tablename__ = "audit_events"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        Index("ix_audit_events_at", "org_id", "at", "event_id"),
        Index("ix_audit_events_resource", "org_id", "resource_id"),
    )

    org_id: str = key()
    event_id: str = key()
    at: datetime = instant()
    actor: str = ident()
    action: str = Field(sa_type=Text)
    resource_type: str = Field(sa_type=Text)
    resource_id: str = ident()
    session_id: str | None = ident(default=None)
    request_id: str = Field(sa_type=Text)
    before_hash: str | None = ident(default=None)
    after_hash: str | None = ident(default=None)
    detail: JsonValue = Field(sa_type=JSON, nullable=False, sa_column_kwargs={"server_default": text("'{}'")})
