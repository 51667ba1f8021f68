"""What is proposed: Drafts and their ordered operations (publication.md §2)."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import ident, instant, instant_or_none, key, one_of


class Draft(SQLModel, table=True):
    """A proposed change against a base: `base_version` 0 and no `base_commit_id` is the empty organization.

    `reconciled_version` is the organization's version that it was last compared with after a publication, and
    `reconcile_at` when that is asked for again, if nobody has done it.
    """

    __tablename__ = "drafts"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"]),
        one_of("status", "open", "submitted", "merged", "discarded"),
        CheckConstraint("(base_version = 0) = (base_commit_id is null)", name="base_is_whole"),
        Index("ix_drafts_author", "org_id", "author_id", "created_at"),
        Index("ix_drafts_project", "org_id", "project_id", "status"),
        Index("ix_drafts_review", "org_id", "review_id", postgresql_where=text("review_id is not null")),
        Index(
            "ix_drafts_unfinished",
            "org_id",
            "status",
            text("greatest(base_version, reconciled_version)"),
            postgresql_where=text("status in ('open', 'submitted')"),
        ),
        Index("ix_drafts_reconcile", "reconcile_at", postgresql_where=text("reconcile_at is not null")),
    )

    org_id: str = key()
    draft_id: str = key()
    project_id: str = ident()
    author_id: str = ident()
    title: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    version: int
    base_commit_id: str | None = ident(default=None)
    base_version: int = 0
    review_id: str | None = ident(default=None)
    reconciled_version: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    reconcile_at: datetime | None = instant_or_none()
    created_at: datetime = instant()
    updated_at: datetime = instant()


class DraftOperation(SQLModel, table=True):
    """One step of a Draft; its target is stored as an id, whatever named it."""

    __tablename__ = "draft_operations"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "draft_id"], ["drafts.org_id", "drafts.draft_id"], ondelete="CASCADE"),
        one_of("action", "create", "update", "rename", "delete", "restore"),
        CheckConstraint("(content is null) = (blob_id is null)", name="content_is_hashed"),
        CheckConstraint("(content is null) = (content_hash is null)", name="content_is_hashed_twice"),
        Index("ix_draft_operations_memory", "org_id", "memory_id"),
    )

    org_id: str = key()
    draft_id: str = key()
    index: int = Field(primary_key=True)
    operation_id: str = ident()
    action: str = Field(sa_type=Text)
    memory_id: str = ident()
    path: str | None = Field(default=None, sa_type=Text)
    new_path: str | None = Field(default=None, sa_type=Text)
    content: str | None = Field(default=None, sa_type=Text)
    blob_id: str | None = ident(default=None)
    content_hash: str | None = ident(default=None)
    description: str | None = Field(default=None, sa_type=Text)


class DraftOperationReceipt(SQLModel, table=True):
    """What became of an operation that a client numbered itself (publication.md §6, `draft-operation-batches`)."""

    __tablename__ = "draft_operation_receipts"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "user_id"], ["users.org_id", "users.user_id"], ondelete="CASCADE"),
    )

    org_id: str = key()
    user_id: str = key()
    local_operation_id: str = key()
    operation_id: str = ident()
    draft_id: str = ident()
    draft_version: int
    created_at: datetime = instant()
