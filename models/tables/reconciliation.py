"""What falls behind: candidates, what rebases saved, and what a Draft stands on beside its base (publication.md §3)."""

from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text
from sqlmodel import Field, SQLModel

from models.tables.columns import JSON, ident, instant, key, one_of

OF_DRAFT = (["org_id", "draft_id"], ["drafts.org_id", "drafts.draft_id"])


class ReconciliationCandidate(SQLModel, table=True):
    """A proposal to bring a Draft up to date; it never changes.

    `siblings` lists the Drafts before it in its Review, `[{draft_id, draft_version}]`, and `built_on` those that create
    what an open Draft changes. `binding` is the hash of all that it was made for: an equal one gives the same
    candidate. `memories` and `conflicts` name texts by blob id.
    `review_hash` is what the whole Review would come to with it, null while that has conflicts or there is none.
    """

    __tablename__ = "reconciliation_candidates"
    __table_args__ = (
        ForeignKeyConstraint(*OF_DRAFT, ondelete="CASCADE"),
        one_of("reconciliation", "clean", "conflicts"),
        CheckConstraint("(reconciliation = 'clean') = (result_hash is not null)", name="clean_has_result"),
        Index("uq_reconciliation_candidates_binding", "org_id", "draft_id", "binding", unique=True),
        Index("ix_reconciliation_candidates_created_at", "created_at"),
    )

    org_id: str = key()
    candidate_id: str = key()
    draft_id: str = ident()
    draft_version: int
    base_commit_id: str | None = ident(default=None)
    base_version: int
    current_commit_id: str | None = ident(default=None)
    current_version: int
    siblings: JsonValue = Field(sa_type=JSON, nullable=False)
    built_on: JsonValue = Field(sa_type=JSON, nullable=False)
    binding: str = ident()
    reconciliation: str = Field(sa_type=Text)
    memories: JsonValue = Field(sa_type=JSON, nullable=False)
    conflicts: JsonValue = Field(sa_type=JSON, nullable=False)
    result_hash: str | None = ident(default=None)
    review_hash: str | None = ident(default=None)
    engine: str = Field(sa_type=Text)
    created_at: datetime = instant()


class DraftBaseState(SQLModel, table=True):
    """A Memory as an earlier Draft of the Review left it, where a Draft was rebased onto that instead of its base.

    A path is null where it did not exist. It goes before what the base commit holds, until the next rebase.
    """

    __tablename__ = "draft_base_states"
    __table_args__ = (
        ForeignKeyConstraint(*OF_DRAFT, ondelete="CASCADE"),
        ForeignKeyConstraint(["org_id", "blob_id"], ["blobs.org_id", "blobs.blob_id"]),
        CheckConstraint("(path is null) = (blob_id is null)", name="state_is_whole"),
    )

    org_id: str = key()
    draft_id: str = key()
    memory_id: str = key()
    path: str | None = Field(default=None, sa_type=Text)
    description: str | None = Field(default=None, sa_type=Text)
    blob_id: str | None = ident(default=None)


class DraftRevision(SQLModel, table=True):
    """A Draft as it was before a rebase; `operations` in the shape of the API, whole."""

    __tablename__ = "draft_revisions"
    __table_args__ = (ForeignKeyConstraint(*OF_DRAFT, ondelete="CASCADE"),)

    org_id: str = key()
    draft_id: str = key()
    version: int = Field(primary_key=True)
    title: str = Field(sa_type=Text)
    base_commit_id: str | None = ident(default=None)
    base_version: int
    operations: JsonValue = Field(sa_type=JSON, nullable=False)
    candidate_id: str = ident()
    created_at: datetime = instant()
