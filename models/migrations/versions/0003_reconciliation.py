"""Reconciliation, restore, review timers, the sync feed and its retention."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from models.tables.columns import Xid8

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ACTION = "ck_draft_operations_action_known"
IMPORT_ACTION = "ck_import_operations_action_known"
KNOWN = "action in ('create', 'update', 'rename', 'delete')"
KNOWN_WITH_RESTORE = "action in ('create', 'update', 'rename', 'delete', 'restore')"


def upgrade() -> None:
    _reconciliation()
    _drafts()
    _feed()
    _deltas()
    _reviews()
    op.add_column("imports", sa.Column("outcome", sa.Text(), nullable=True))
    op.create_index(
        "ix_operations_finished",
        "operations",
        ["updated_at"],
        unique=False,
        postgresql_where=sa.text("status in ('succeeded', 'failed')"),
    )
    op.create_table(
        "project_memories",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_project_memories_org_id_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("org_id", "project_id", "memory_id", name=op.f("pk_project_memories")),
    )


def _reconciliation() -> None:
    of_draft = (["org_id", "draft_id"], ["drafts.org_id", "drafts.draft_id"])
    op.create_table(
        "reconciliation_candidates",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("candidate_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_version", sa.Integer(), nullable=False),
        sa.Column("base_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("current_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("current_version", sa.Integer(), nullable=False),
        sa.Column("siblings", postgresql.JSONB(), nullable=False),
        sa.Column("built_on", postgresql.JSONB(), nullable=False),
        sa.Column("binding", sa.Text(collation="C"), nullable=False),
        sa.Column("reconciliation", sa.Text(), nullable=False),
        sa.Column("memories", postgresql.JSONB(), nullable=False),
        sa.Column("conflicts", postgresql.JSONB(), nullable=False),
        sa.Column("result_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("review_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "reconciliation in ('clean', 'conflicts')", name=op.f("ck_reconciliation_candidates_reconciliation_known")
        ),
        sa.CheckConstraint(
            "(reconciliation = 'clean') = (result_hash is not null)",
            name=op.f("ck_reconciliation_candidates_clean_has_result"),
        ),
        sa.ForeignKeyConstraint(
            *of_draft, name=op.f("fk_reconciliation_candidates_org_id_draft_id_drafts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("org_id", "candidate_id", name=op.f("pk_reconciliation_candidates")),
    )
    op.create_index(
        "uq_reconciliation_candidates_binding",
        "reconciliation_candidates",
        ["org_id", "draft_id", "binding"],
        unique=True,
    )
    op.create_index("ix_reconciliation_candidates_created_at", "reconciliation_candidates", ["created_at"])
    op.create_table(
        "draft_base_states",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=True),
        sa.CheckConstraint("(path is null) = (blob_id is null)", name=op.f("ck_draft_base_states_state_is_whole")),
        sa.ForeignKeyConstraint(
            *of_draft, name=op.f("fk_draft_base_states_org_id_draft_id_drafts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "blob_id"],
            ["blobs.org_id", "blobs.blob_id"],
            name=op.f("fk_draft_base_states_org_id_blob_id_blobs"),
        ),
        sa.PrimaryKeyConstraint("org_id", "draft_id", "memory_id", name=op.f("pk_draft_base_states")),
    )
    op.create_table(
        "draft_revisions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("base_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("operations", postgresql.JSONB(), nullable=False),
        sa.Column("candidate_id", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(*of_draft, name=op.f("fk_draft_revisions_org_id_draft_id_drafts"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("org_id", "draft_id", "version", name=op.f("pk_draft_revisions")),
    )


def _reviews() -> None:
    op.add_column("reviews", sa.Column("reminded_submission", sa.Integer(), server_default="0", nullable=False))
    op.add_column("reviews", sa.Column("publish_operation_id", sa.Text(collation="C"), nullable=True))
    op.add_column("review_submissions", sa.Column("org_version", sa.Integer(), server_default="0", nullable=False))
    for name in ("path_key", "base_path_key"):
        op.add_column("review_submission_states", sa.Column(name, sa.Text(collation="C"), nullable=True))
    op.add_column("review_submission_drafts", sa.Column("title", sa.Text(), server_default="", nullable=False))
    op.execute("""
        update review_submission_drafts m set title = d.title
        from drafts d where d.org_id = m.org_id and d.draft_id = m.draft_id
    """)


def _drafts() -> None:
    op.drop_constraint(op.f(ACTION), "draft_operations", type_="check")
    op.create_check_constraint(op.f(ACTION), "draft_operations", KNOWN_WITH_RESTORE)
    op.drop_constraint(op.f(IMPORT_ACTION), "import_operations", type_="check")
    op.create_check_constraint(op.f(IMPORT_ACTION), "import_operations", KNOWN_WITH_RESTORE)
    op.add_column("drafts", sa.Column("reconciled_version", sa.Integer(), server_default="0", nullable=False))
    op.add_column("drafts", sa.Column("reconcile_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        "ix_drafts_unfinished",
        "drafts",
        ["org_id", "status", sa.text("greatest(base_version, reconciled_version)")],
        unique=False,
        postgresql_where=sa.text("status in ('open', 'submitted')"),
    )
    op.create_index(
        "ix_drafts_reconcile",
        "drafts",
        ["reconcile_at"],
        unique=False,
        postgresql_where=sa.text("reconcile_at is not null"),
    )
    op.create_table(
        "draft_operation_receipts",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("local_operation_id", sa.Text(collation="C"), nullable=False),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["users.org_id", "users.user_id"],
            name=op.f("fk_draft_operation_receipts_org_id_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "user_id", "local_operation_id", name=op.f("pk_draft_operation_receipts")),
    )


def _feed() -> None:
    op.create_index(
        "ix_events_user",
        "events",
        ["org_id", "user_id", "xid", "id"],
        unique=False,
        postgresql_where=sa.text("user_id is not null"),
    )
    op.create_table(
        "feed_floors",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("xid", Xid8(), nullable=False),
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["org_id"], ["organizations.org_id"], name=op.f("fk_feed_floors_org_id_organizations")),
        sa.PrimaryKeyConstraint("org_id", name=op.f("pk_feed_floors")),
    )


def _deltas() -> None:
    """What changed between two versions is read by where its intervals begin and end, texts by who else has them."""
    op.create_index("ix_memory_versions_blob", "memory_versions", ["org_id", "blob_id"])
    op.create_index(
        "ix_projection_versions_from",
        "projection_versions",
        ["org_id", "project_id", "from_version"],
        postgresql_where=sa.text("from_version > 0"),
    )
    op.create_index(
        "ix_projection_versions_to",
        "projection_versions",
        ["org_id", "project_id", "to_version"],
        postgresql_where=sa.text("to_version is not null"),
    )


def downgrade() -> None:
    op.drop_index("ix_projection_versions_to", table_name="projection_versions")
    op.drop_index("ix_projection_versions_from", table_name="projection_versions")
    op.drop_index("ix_memory_versions_blob", table_name="memory_versions")
    op.drop_table("project_memories")
    op.drop_index("ix_operations_finished", table_name="operations")
    op.drop_column("imports", "outcome")
    for name in ("base_path_key", "path_key"):
        op.drop_column("review_submission_states", name)
    op.drop_column("review_submission_drafts", "title")
    op.drop_column("review_submissions", "org_version")
    op.drop_column("reviews", "publish_operation_id")
    op.drop_column("reviews", "reminded_submission")
    op.drop_table("feed_floors")
    op.drop_index("ix_events_user", table_name="events")
    op.drop_table("draft_operation_receipts")
    op.drop_index("ix_drafts_reconcile", table_name="drafts")
    op.drop_index("ix_drafts_unfinished", table_name="drafts")
    op.drop_column("drafts", "reconcile_at")
    op.drop_column("drafts", "reconciled_version")
    op.drop_constraint(op.f(IMPORT_ACTION), "import_operations", type_="check")
    op.create_check_constraint(op.f(IMPORT_ACTION), "import_operations", KNOWN)
    op.drop_constraint(op.f(ACTION), "draft_operations", type_="check")
    op.create_check_constraint(op.f(ACTION), "draft_operations", KNOWN)
    op.drop_table("draft_revisions")
    op.drop_table("draft_base_states")
    op.drop_table("reconciliation_candidates")
