"""Structured memories: what an agent saves on its own, and every version of it (memory.md §1)."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import ident, instant, instant_or_none, key, one_of

SCOPES = ("global", "workstream", "user", "coordinator", "project")
TYPES = ("user", "general", "feedback", "reference")


class StructuredMemory(SQLModel, table=True):
    """One identity (organization, scope, scope id, name), one row.

    A deleted one keeps its row, without its texts, so that its revision goes on and saves of one name always meet in
    one place; `deleted_at` is set, and nothing but its history and its restoration sees it. `content_hash` is of the
    whole record, and `replaced_hash` that of the one before, for the audit trail.
    """

    __tablename__ = "structured_memories"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        one_of("scope", *SCOPES),
        one_of("type", *TYPES),
        CheckConstraint("(scope = 'global') = (scope_id = '')", name="global_has_no_id"),
        CheckConstraint("(deleted_at is null) = (content is not null)", name="deleted_has_no_content"),
        Index("uq_structured_memories_memory_id", "org_id", "memory_id", unique=True),
        Index(
            "ix_structured_memories_updated",
            "org_id",
            "scope",
            "scope_id",
            text("updated desc"),
            "memory_id",
            postgresql_where=text("deleted_at is null"),
        ),
        Index(
            "ix_structured_memories_all",
            "org_id",
            text("updated desc"),
            "memory_id",
            postgresql_where=text("deleted_at is null"),
        ),
    )

    org_id: str = key()
    scope: str = key()
    scope_id: str = key()
    name: str = key()
    memory_id: str = ident()
    type: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text)
    content: str | None = Field(default=None, sa_type=Text)
    created: datetime = instant()
    updated: datetime = instant()
    revision: int
    created_by: str = ident()
    updated_by: str = ident()
    published_memory_id: str | None = ident(default=None)
    content_hash: str = ident()
    replaced_hash: str | None = ident(default=None)
    deleted_at: datetime | None = instant_or_none()


class StructuredMemoryRevision(SQLModel, table=True):
    """A version of an identity; `content` is null where it was deleted."""

    __tablename__ = "structured_memory_revisions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["org_id", "scope", "scope_id", "name"],
            [
                "structured_memories.org_id",
                "structured_memories.scope",
                "structured_memories.scope_id",
                "structured_memories.name",
            ],
            ondelete="CASCADE",
            name="fk_structured_memory_revisions_identity",
        ),
        one_of("event", "created", "updated", "deleted", "restored"),
        one_of("type", *TYPES),
    )

    org_id: str = key()
    scope: str = key()
    scope_id: str = key()
    name: str = key()
    revision: int = Field(primary_key=True)
    event: str = Field(sa_type=Text)
    memory_id: str = ident()
    type: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text)
    content: str | None = Field(default=None, sa_type=Text)
    user_id: str = ident()
    session_id: str | None = ident(default=None)
    at: datetime = instant()
