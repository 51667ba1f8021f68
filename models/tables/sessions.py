"""Where agents work: workstreams, sessions, and what was injected into them (tenancy.md, memory.md §2, §4, §5)."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import ident, instant, instant_or_none, key, one_of

OF_SESSION = (["org_id", "session_id"], ["sessions.org_id", "sessions.session_id"])


class Workstream(SQLModel, table=True):
    """A line of work of one user; `memory_enabled` is the persona memory lever, and `had_session` never turns false."""

    __tablename__ = "workstreams"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "owner_id"], ["users.org_id", "users.user_id"]),
        Index("ix_workstreams_owner", "org_id", "owner_id"),
    )

    org_id: str = key()
    workstream_id: str = key()
    owner_id: str = ident()
    title: str = Field(default="", sa_type=Text)
    project_id: str | None = ident(default=None)
    memory_enabled: bool = Field(default=True, sa_column_kwargs={"server_default": text("true")})
    had_session: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    version: int = 1
    created_at: datetime = instant()
    updated_at: datetime = instant()


class Session(SQLModel, table=True):
    """What an agent acts in: (acting user, kind, workstream, attached project, read-only), fixed when it is made.

    `opened_by` is the token's user who made it. `resumes` says whether its workstream had an earlier session, and
    `context_at` when it first asked for context.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "user_id"], ["users.org_id", "users.user_id"]),
        ForeignKeyConstraint(["org_id", "workstream_id"], ["workstreams.org_id", "workstreams.workstream_id"]),
        one_of("kind", "interactive", "coordinator"),
        Index("ix_sessions_user", "org_id", "user_id"),
        Index("ix_sessions_workstream", "org_id", "workstream_id"),
    )

    org_id: str = key()
    session_id: str = key()
    kind: str = Field(sa_type=Text)
    user_id: str = ident()
    opened_by: str = ident()
    workstream_id: str | None = ident(default=None)
    project_id: str | None = ident(default=None)
    read_only: bool = False
    resumes: bool = False
    context_at: datetime | None = instant_or_none()
    created_at: datetime = instant()


class Injection(SQLModel, table=True):
    """That a context answer carried memories; never contents or queries."""

    __tablename__ = "injections"
    __table_args__ = (
        ForeignKeyConstraint(*OF_SESSION, ondelete="CASCADE"),
        Index("ix_injections_session", "org_id", "session_id", "injection_id"),
    )

    org_id: str = key()
    injection_id: str = key()
    session_id: str = ident()
    turn_id: str | None = Field(default=None, sa_type=Text)
    at: datetime = instant()
    k: int
    in_scope: int
    index_revision: int = Field(sa_type=BigInteger)


class InjectedMemory(SQLModel, table=True):
    """One memory of an injection, in the order of the block."""

    __tablename__ = "injected_memories"
    __table_args__ = (
        ForeignKeyConstraint(
            ["org_id", "injection_id"], ["injections.org_id", "injections.injection_id"], ondelete="CASCADE"
        ),
        one_of("source", "structured", "published", "draft"),
        Index("ix_injected_memories_memory", "org_id", "memory_id"),
    )

    org_id: str = key()
    injection_id: str = key()
    position: int = Field(primary_key=True)
    memory_id: str = ident()
    revision: int
    score: float
    source: str = Field(sa_type=Text)


class Nudge(SQLModel, table=True):
    """When a session was last nudged with a kind; its cooldown begins then."""

    __tablename__ = "nudges"
    __table_args__ = (
        ForeignKeyConstraint(*OF_SESSION, ondelete="CASCADE"),
        one_of("kind", "denial", "tool_error", "correction", "completion", "resume"),
    )

    org_id: str = key()
    session_id: str = key()
    kind: str = key()
    at: datetime = instant()


class IndexOwner(SQLModel, table=True):
    """An API process that keeps a search index, and the task queue on which it repairs it; renewed while it lives.

    It belongs to the installation, not to an organization.
    """

    __tablename__ = "index_owners"

    owner_id: str = key()
    task_queue: str = Field(sa_type=Text)
    seen_at: datetime = instant()
