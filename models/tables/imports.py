"""Folders on their way into Drafts: staged files, and the plan that was made of them (publication.md §6)."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import ident, instant, instant_or_none, key, one_of

OF_IMPORT = (["org_id", "import_id"], ["imports.org_id", "imports.import_id"])


class Import(SQLModel, table=True):
    """An import; it is being staged until `operation_id` is set, and that operation tells how it goes and ends.

    `source` is a label of the client's own, by which an interrupted import is found again.
    `base_commit_id` names the commit that the files were taken from, and `base_version` the organization's there.
    `staged` counts its files: they are not counted at every request.
    `outcome` is what became of that operation, which may have been removed since.
    `plan_commit_id`, `plan_version`, `batches` and the counts are those of the plan, null before there is one.
    """

    __tablename__ = "imports"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"]),
        Index("ix_imports_author", "org_id", "author_id", "created_at"),
        Index(
            "uq_imports_source",
            "org_id",
            "author_id",
            "project_id",
            "source",
            unique=True,
            postgresql_where=text("source is not null and ended_at is null"),
        ),
    )

    org_id: str = key()
    import_id: str = key()
    project_id: str = ident()
    author_id: str = ident()
    title: str = Field(sa_type=Text)
    mirror: bool
    prefix: str = Field(sa_type=Text)
    source: str | None = ident(default=None)
    base_commit_id: str | None = ident(default=None)
    base_version: int | None = None
    operation_id: str | None = ident(default=None)
    review_id: str | None = ident(default=None)
    staged: int = 0
    attempt: int = 0
    plan_commit_id: str | None = ident(default=None)
    plan_version: int | None = None
    batches: int | None = None
    created: int | None = None
    updated: int | None = None
    renamed: int | None = None
    deleted: int | None = None
    unchanged: int | None = None
    created_at: datetime = instant()
    updated_at: datetime = instant()
    outcome: str | None = Field(default=None, sa_type=Text)
    ended_at: datetime | None = instant_or_none()


class ImportFile(SQLModel, table=True):
    """A staged file at its path below the prefix; the text is dropped when the import has ended.

    `report_code` and `report_detail` say why it is left out whatever the plan is; such a file has no blob.
    """

    __tablename__ = "import_files"
    __table_args__ = (
        ForeignKeyConstraint(*OF_IMPORT, ondelete="CASCADE"),
        CheckConstraint("(report_code is null) = (report_detail is null)", name="report_is_whole"),
        Index(
            "ix_import_files_reported",
            "org_id",
            "import_id",
            "path",
            postgresql_where=text("report_code is not null"),
        ),
    )

    org_id: str = key()
    import_id: str = key()
    path: str = key()
    memory_id: str | None = ident(default=None)
    description: str | None = Field(default=None, sa_type=Text)
    content: str | None = Field(default=None, sa_type=Text)
    blob_id: str | None = ident(default=None)
    content_hash: str | None = ident(default=None)
    report_code: str | None = Field(default=None, sa_type=Text)
    report_detail: str | None = Field(default=None, sa_type=Text)


class ImportReport(SQLModel, table=True):
    """Why the present plan leaves a staged file out, or keeps a Memory that has none."""

    __tablename__ = "import_reports"
    __table_args__ = (ForeignKeyConstraint(*OF_IMPORT, ondelete="CASCADE"),)

    org_id: str = key()
    import_id: str = key()
    path: str = key()
    code: str = Field(sa_type=Text)
    detail: str = Field(sa_type=Text)


class ImportOperation(SQLModel, table=True):
    """A draft operation of the plan; `file_path` names the staged file whose text or description it takes."""

    __tablename__ = "import_operations"
    __table_args__ = (
        ForeignKeyConstraint(*OF_IMPORT, ondelete="CASCADE"),
        one_of("action", "create", "update", "rename", "delete", "restore"),
        Index("ix_import_operations_batch", "org_id", "import_id", "batch"),
    )

    org_id: str = key()
    import_id: str = key()
    index: int = Field(primary_key=True)
    batch: int
    action: str = Field(sa_type=Text)
    memory_id: str | None = ident(default=None)
    path: str | None = Field(default=None, sa_type=Text)
    file_path: str | None = ident(default=None)
    takes_content: bool = False
    takes_description: bool = False


class ImportDraft(SQLModel, table=True):
    """The Draft that a batch of the plan became."""

    __tablename__ = "import_drafts"
    __table_args__ = (ForeignKeyConstraint(*OF_IMPORT, ondelete="CASCADE"),)

    org_id: str = key()
    import_id: str = key()
    batch: int = Field(primary_key=True)
    draft_id: str = ident()
