"""What is considered: Reviews, their immutable submissions, approvals, timeline and comments (publication.md §4)."""

from datetime import datetime

from sqlalchemy import Boolean, CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import ident, instant, instant_or_none, key, one_of

OF_REVIEW = (["org_id", "review_id"], ["reviews.org_id", "reviews.review_id"])
OF_SUBMISSION = (
    ["org_id", "review_id", "number"],
    ["review_submissions.org_id", "review_submissions.review_id", "review_submissions.number"],
)


class Review(SQLModel, table=True):
    """Drafts that are considered and published together; `submission` is the number of the latest.

    `reminded_submission` is the number of the last one that a reminder was written for, `publish_operation_id` the
    merge that was made when `publish_at` fell due.
    """

    __tablename__ = "reviews"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"]),
        one_of("status", "open", "approved", "rejected", "withdrawn", "merged"),
        Index("ix_reviews_project", "org_id", "project_id", "created_at"),
        Index("ix_reviews_author", "org_id", "author_id"),
        Index("ix_reviews_refresh", "org_id", "review_id", postgresql_where=text("refresh_pending")),
        Index("ix_reviews_timer", "next_timer_at", postgresql_where=text("next_timer_at is not null")),
    )

    org_id: str = key()
    review_id: str = key()
    project_id: str = ident()
    author_id: str = ident()
    title: str = Field(sa_type=Text)
    description: str = Field(default="", sa_type=Text)
    status: str = Field(sa_type=Text)
    closed_reason: str | None = Field(default=None, sa_type=Text)
    version: int
    submission: int
    result_hash: str = ident()
    publish_at: datetime | None = instant_or_none()
    publish_operation_id: str | None = ident(default=None)
    next_timer_at: datetime | None = instant_or_none()
    reminded_submission: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    refresh_pending: bool = Field(default=False, sa_type=Boolean, sa_column_kwargs={"server_default": text("false")})
    merged_commit_id: str | None = ident(default=None)
    created_at: datetime = instant()
    updated_at: datetime = instant()


class ReviewSubmission(SQLModel, table=True):
    """An immutable, numbered record of what was submitted, `org_version` the organization's version at that moment."""

    __tablename__ = "review_submissions"
    __table_args__ = (ForeignKeyConstraint(*OF_REVIEW, ondelete="CASCADE"),)

    org_id: str = key()
    review_id: str = key()
    number: int = Field(primary_key=True)
    result_hash: str = ident()
    org_version: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    created_by: str = ident()
    created_at: datetime = instant()


class ReviewSubmissionDraft(SQLModel, table=True):
    """A Draft of a submission, at its version and with its title then, in the Review's order."""

    __tablename__ = "review_submission_drafts"
    __table_args__ = (
        ForeignKeyConstraint(*OF_SUBMISSION, ondelete="CASCADE"),
        Index("ix_review_submission_drafts_draft", "org_id", "draft_id"),
    )

    org_id: str = key()
    review_id: str = key()
    number: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    draft_id: str = ident()
    draft_version: int
    title: str = Field(default="", sa_type=Text, sa_column_kwargs={"server_default": ""})


class ReviewSubmissionState(SQLModel, table=True):
    """The folded final state of one touched Memory, beside its base: what reviewers saw, for ever.

    A path is null where the Memory does not exist on that side. `created_for` is the project that a created
    Memory will be selected for. The path keys are what globs are matched on; rows older than these columns have none.
    """

    __tablename__ = "review_submission_states"
    __table_args__ = (
        ForeignKeyConstraint(*OF_SUBMISSION, ondelete="CASCADE"),
        ForeignKeyConstraint(["org_id", "blob_id"], ["blobs.org_id", "blobs.blob_id"]),
        ForeignKeyConstraint(["org_id", "base_blob_id"], ["blobs.org_id", "blobs.blob_id"]),
        CheckConstraint("(path is null) = (blob_id is null)", name="result_is_whole"),
        CheckConstraint("(base_path is null) = (base_blob_id is null)", name="base_is_whole"),
    )

    org_id: str = key()
    review_id: str = key()
    number: int = Field(primary_key=True)
    memory_id: str = key()
    path: str | None = Field(default=None, sa_type=Text)
    description: str | None = Field(default=None, sa_type=Text)
    blob_id: str | None = ident(default=None)
    base_path: str | None = Field(default=None, sa_type=Text)
    base_description: str | None = Field(default=None, sa_type=Text)
    base_blob_id: str | None = ident(default=None)
    created_for: str | None = ident(default=None)
    path_key: str | None = ident(default=None)
    base_path_key: str | None = ident(default=None)


class ReviewApproval(SQLModel, table=True):
    """One person's approval of exactly one result; dropped, never re-pointed."""

    __tablename__ = "review_approvals"
    __table_args__ = (
        ForeignKeyConstraint(*OF_REVIEW, ondelete="CASCADE"),
        Index(
            "uq_review_approvals_actor",
            "org_id",
            "review_id",
            "actor_id",
            unique=True,
            postgresql_where=text("dropped_at is null"),
        ),
    )

    org_id: str = key()
    approval_id: str = key()
    review_id: str = ident()
    actor_id: str = ident()
    submission: int
    result_hash: str = ident()
    created_at: datetime = instant()
    dropped_at: datetime | None = instant_or_none()


class ReviewTimelineEvent(SQLModel, table=True):
    """What happened to a Review, in order."""

    __tablename__ = "review_timeline"
    __table_args__ = (
        ForeignKeyConstraint(*OF_REVIEW, ondelete="CASCADE"),
        one_of(
            "event",
            "submitted",
            "resubmitted",
            "rebased",
            "approved",
            "approval_dropped",
            "rejected",
            "draft_discarded",
            "reminded",
            "publish_skipped",
            "withdrawn",
            "expired",
            "merged",
        ),
    )

    org_id: str = key()
    review_id: str = key()
    position: int = Field(primary_key=True)
    at: datetime = instant()
    actor_id: str = ident()
    event: str = Field(sa_type=Text)
    submission: int | None = None
    old_hash: str | None = ident(default=None)
    new_hash: str | None = ident(default=None)
    reason: str | None = Field(default=None, sa_type=Text)


class ReviewComment(SQLModel, table=True):
    """A remark on a submission, or on a line of its proposed result."""

    __tablename__ = "review_comments"
    __table_args__ = (
        ForeignKeyConstraint(
            ["org_id", "review_id", "submission"],
            ["review_submissions.org_id", "review_submissions.review_id", "review_submissions.number"],
            ondelete="CASCADE",
        ),
        CheckConstraint("(anchor_path is null) = (anchor_line is null)", name="anchor_is_whole"),
        Index("ix_review_comments_review", "org_id", "review_id", "created_at"),
    )

    org_id: str = key()
    comment_id: str = key()
    review_id: str = ident()
    submission: int
    author_id: str = ident()
    body: str = Field(sa_type=Text)
    anchor_path: str | None = Field(default=None, sa_type=Text)
    anchor_line: int | None = None
    resolved: bool = Field(default=False, sa_type=Boolean, sa_column_kwargs={"server_default": text("false")})
    created_at: datetime = instant()
