"""Imports: staged files and the plan that is made of them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "imports",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("import_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("author_id", sa.Text(collation="C"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("mirror", sa.Boolean(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(collation="C"), nullable=True),
        sa.Column("base_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("base_version", sa.Integer(), nullable=True),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=True),
        sa.Column("review_id", sa.Text(collation="C"), nullable=True),
        sa.Column("staged", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("plan_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("plan_version", sa.Integer(), nullable=True),
        sa.Column("batches", sa.Integer(), nullable=True),
        sa.Column("created", sa.Integer(), nullable=True),
        sa.Column("updated", sa.Integer(), nullable=True),
        sa.Column("renamed", sa.Integer(), nullable=True),
        sa.Column("deleted", sa.Integer(), nullable=True),
        sa.Column("unchanged", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_imports_org_id_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("org_id", "import_id", name=op.f("pk_imports")),
    )
    op.create_index("ix_imports_author", "imports", ["org_id", "author_id", "created_at"], unique=False)
    op.create_index(
        "uq_imports_source",
        "imports",
        ["org_id", "author_id", "project_id", "source"],
        unique=True,
        postgresql_where=sa.text("source is not null and ended_at is null"),
    )
    op.create_table(
        "import_files",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("import_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=True),
        sa.Column("content_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("report_code", sa.Text(), nullable=True),
        sa.Column("report_detail", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(report_code is null) = (report_detail is null)", name=op.f("ck_import_files_report_is_whole")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "import_id"],
            ["imports.org_id", "imports.import_id"],
            name=op.f("fk_import_files_org_id_import_id_imports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "import_id", "path", name=op.f("pk_import_files")),
    )
    op.create_index(
        "ix_import_files_reported",
        "import_files",
        ["org_id", "import_id", "path"],
        unique=False,
        postgresql_where=sa.text("report_code is not null"),
    )
    op.create_table(
        "import_reports",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("import_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(collation="C"), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "import_id"],
            ["imports.org_id", "imports.import_id"],
            name=op.f("fk_import_reports_org_id_import_id_imports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "import_id", "path", name=op.f("pk_import_reports")),
    )
    op.create_table(
        "import_operations",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("import_id", sa.Text(collation="C"), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=True),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("file_path", sa.Text(collation="C"), nullable=True),
        sa.Column("takes_content", sa.Boolean(), nullable=False),
        sa.Column("takes_description", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "action in ('create', 'update', 'rename', 'delete')", name=op.f("ck_import_operations_action_known")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "import_id"],
            ["imports.org_id", "imports.import_id"],
            name=op.f("fk_import_operations_org_id_import_id_imports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "import_id", "index", name=op.f("pk_import_operations")),
    )
    op.create_index("ix_import_operations_batch", "import_operations", ["org_id", "import_id", "batch"], unique=False)
    op.create_table(
        "import_drafts",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("import_id", sa.Text(collation="C"), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "import_id"],
            ["imports.org_id", "imports.import_id"],
            name=op.f("fk_import_drafts_org_id_import_id_imports"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "import_id", "batch", name=op.f("pk_import_drafts")),
    )


def downgrade() -> None:
    op.drop_table("import_drafts")
    op.drop_table("import_operations")
    op.drop_table("import_reports")
    op.drop_table("import_files")
    op.drop_table("imports")
