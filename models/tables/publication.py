"""What is published: refs, commits, blobs, and Memory and projections as interval rows (publication.md §5).

An interval row holds from `from_version` until `to_version` of its own chain; null: it still holds.
"""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, SmallInteger, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from models.tables.columns import DIGEST, ident, instant, key, one_of

HEAD = text("to_version is null")
PAST = text("to_version is not null")
# True of every row, and of a statement that says so: others, planned without statistics, took the index for their own.
OPENED = text("from_version > 0")


class OrganizationRef(SQLModel, table=True):
    """The coordination row: first in the lock order, and no foreign key may point here.

    A foreign key would take a key-share lock on it from every append and save (architecture.md §3).
    """

    __tablename__ = "organization_refs"

    org_id: str = key()
    commit_id: str | None = ident(default=None)
    version: int = 0
    updated_at: datetime = instant()


class ProjectRef(SQLModel, table=True):
    """Where a project's projection stands, and the revision of its selection."""

    __tablename__ = "project_refs"
    __table_args__ = (ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"]),)

    org_id: str = key()
    project_id: str = key()
    commit_id: str | None = ident(default=None)
    version: int = 0
    selection_revision: int = 0
    updated_at: datetime = instant()


class Commit(SQLModel, table=True):
    """One version of the organization (`scope` org) or of one project's projection (`scope` project)."""

    __tablename__ = "commits"
    __table_args__ = (
        one_of("scope", "org", "project"),
        CheckConstraint("(scope = 'project') = (project_id is not null)", name="scope_matches_project"),
        UniqueConstraint("org_id", "project_id", "version", postgresql_nulls_not_distinct=True),
        Index(
            "uq_commits_review",
            "org_id",
            "review_id",
            unique=True,
            postgresql_where=text("scope = 'org' and review_id is not null"),
        ),
    )

    org_id: str = key()
    commit_id: str = key()
    scope: str = Field(sa_type=Text)
    project_id: str | None = ident(default=None)
    version: int
    parent_commit_id: str | None = ident(default=None)
    tree_id: str = ident()
    message: str = Field(sa_type=Text)
    review_id: str | None = ident(default=None)
    created_by: str = ident()
    created_at: datetime = instant()
    org_commit_id: str | None = ident(default=None)
    selection_revision: int | None = None


class Blob(SQLModel, table=True):
    """A body, once an organization, by the hash of its text."""

    __tablename__ = "blobs"

    org_id: str = key()
    blob_id: str = key()
    content_hash: str = ident()
    content: str = Field(sa_type=Text)


class Memory(SQLModel, table=True):
    """The identity of a published Memory; what it says stands in its versions."""

    __tablename__ = "memories"
    __table_args__ = (
        one_of("status", "active", "archived", "deprecated"),
        Index("ix_memories_gone", "org_id", "memory_id", postgresql_where=text("status <> 'active'")),
    )

    org_id: str = key()
    memory_id: str = key()
    status: str = Field(sa_type=Text)
    revision: int
    created_at: datetime = instant()
    updated_at: datetime = instant()


class MemoryVersion(SQLModel, table=True):
    """What a Memory said during an interval of the organization's versions."""

    __tablename__ = "memory_versions"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "memory_id"], ["memories.org_id", "memories.memory_id"]),
        ForeignKeyConstraint(["org_id", "blob_id"], ["blobs.org_id", "blobs.blob_id"]),
        CheckConstraint("to_version is null or to_version > from_version", name="interval_not_empty"),
        Index("uq_memory_versions_head", "org_id", "memory_id", unique=True, postgresql_where=HEAD),
        Index("uq_memory_versions_path", "org_id", "path_key", unique=True, postgresql_where=HEAD),
        Index(
            "ix_memory_versions_bucket",
            "org_id",
            "bucket",
            "memory_id",
            postgresql_where=HEAD,
            postgresql_include=["entry_digest"],
        ),
        Index("ix_memory_versions_from", "org_id", "from_version"),
        Index("ix_memory_versions_to", "org_id", "to_version", postgresql_where=PAST),
        Index("ix_memory_versions_past_path", "org_id", "path_key", "to_version", postgresql_where=PAST),
        Index("ix_memory_versions_blob", "org_id", "blob_id"),
    )

    org_id: str = key()
    memory_id: str = key()
    from_version: int = Field(primary_key=True)
    to_version: int | None = None
    path: str = Field(sa_type=Text)
    path_key: str = ident()
    description: str = Field(sa_type=Text)
    blob_id: str = ident()
    bucket: int = Field(sa_type=SmallInteger)
    entry_digest: bytes = Field(sa_type=DIGEST)


class OrgSelection(SQLModel, table=True):
    """A Memory that a project uses; ids only."""

    __tablename__ = "org_selections"
    __table_args__ = (Index("ix_org_selections_memory", "org_id", "memory_id", "project_id"),)

    org_id: str = key()
    project_id: str = key()
    memory_id: str = key()


class ProjectionVersion(SQLModel, table=True):
    """An entry of a project's tree during an interval of the project's versions.

    Derived from selection and organization, so it carries no foreign keys: a merge writes it for every affected
    project. The selection itself is the entry `project_org_selection`, without a path.
    """

    __tablename__ = "projection_versions"
    __table_args__ = (
        CheckConstraint("to_version is null or to_version > from_version", name="interval_not_empty"),
        Index("uq_projection_versions_head", "org_id", "project_id", "memory_id", unique=True, postgresql_where=HEAD),
        Index(
            "ix_projection_versions_bucket",
            "org_id",
            "project_id",
            "bucket",
            "memory_id",
            postgresql_where=HEAD,
            postgresql_include=["entry_digest"],
        ),
        Index("ix_projection_versions_from", "org_id", "project_id", "from_version", postgresql_where=OPENED),
        Index("ix_projection_versions_to", "org_id", "project_id", "to_version", postgresql_where=PAST),
    )

    org_id: str = key()
    project_id: str = key()
    memory_id: str = key()
    from_version: int = Field(primary_key=True)
    to_version: int | None = None
    path: str | None = Field(default=None, sa_type=Text)
    description: str = Field(sa_type=Text)
    blob_id: str = ident()
    bucket: int = Field(sa_type=SmallInteger)
    entry_digest: bytes = Field(sa_type=DIGEST)


class TreeBucket(SQLModel, table=True):
    """The digest of one bucket of a head tree; `owner_id` is a project's id, or `""` for the organization."""

    __tablename__ = "tree_buckets"

    org_id: str = key()
    owner_id: str = key()
    bucket: int = Field(sa_type=SmallInteger, primary_key=True)
    digest: bytes = Field(sa_type=DIGEST)


class ProjectMemory(SQLModel, table=True):
    """A project-scoped resource of an older system, read only; nothing here writes any."""

    __tablename__ = "project_memories"
    __table_args__ = (ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"]),)

    org_id: str = key()
    project_id: str = key()
    memory_id: str = key()
    path: str = Field(sa_type=Text)
    description: str = Field(default="", sa_type=Text)
    content: str = Field(sa_type=Text)
    content_hash: str = ident()
    created_at: datetime = instant()
    updated_at: datetime = instant()
