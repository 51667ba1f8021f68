"""First schema."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from models.tables.columns import Xid8

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=False),
        sa.Column("content_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "blob_id", name=op.f("pk_blobs")),
    )
    op.create_table(
        "commits",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("commit_id", sa.Text(collation="C"), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("parent_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("tree_id", sa.Text(collation="C"), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=True),
        sa.Column("created_by", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("org_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("selection_revision", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(scope = 'project') = (project_id is not null)", name=op.f("ck_commits_scope_matches_project")
        ),
        sa.CheckConstraint("scope in ('org', 'project')", name=op.f("ck_commits_scope_known")),
        sa.PrimaryKeyConstraint("org_id", "commit_id", name=op.f("pk_commits")),
        sa.UniqueConstraint(
            "org_id",
            "project_id",
            "version",
            name=op.f("uq_commits_org_id_project_id_version"),
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_index(
        "uq_commits_review",
        "commits",
        ["org_id", "review_id"],
        unique=True,
        postgresql_where=sa.text("scope = 'org' and review_id is not null"),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("xid", Xid8(), server_default=sa.text("pg_current_xact_id()"), nullable=False),
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=True),
        sa.Column("user_id", sa.Text(collation="C"), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_feed", "events", ["org_id", "xid", "id"], unique=False)
    op.create_table(
        "feed_epochs",
        sa.Column("epoch", sa.Text(collation="C"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("epoch", name=op.f("pk_feed_epochs")),
    )
    op.create_table(
        "memories",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("status in ('active', 'archived', 'deprecated')", name=op.f("ck_memories_status_known")),
        sa.PrimaryKeyConstraint("org_id", "memory_id", name=op.f("pk_memories")),
    )
    op.create_index(
        "ix_memories_gone",
        "memories",
        ["org_id", "memory_id"],
        unique=False,
        postgresql_where=sa.text("status <> 'active'"),
    )
    op.create_table(
        "org_selections",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "project_id", "memory_id", name=op.f("pk_org_selections")),
    )
    op.create_index("ix_org_selections_memory", "org_selections", ["org_id", "memory_id", "project_id"], unique=False)
    op.create_table(
        "organization_refs",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("org_id", name=op.f("pk_organization_refs")),
    )
    op.create_table(
        "organizations",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("required_approvals", sa.Integer(), server_default="0", nullable=False),
        sa.Column("allow_self_approval", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column(
            "path_owners",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'[]'"),
            nullable=False,
        ),
        sa.Column("review_reminder_after", sa.Integer(), nullable=True),
        sa.Column("review_expires_after", sa.Integer(), nullable=True),
        sa.Column("global_write", sa.Text(), server_default="member", nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("global_write in ('member', 'admin')", name=op.f("ck_organizations_global_write_known")),
        sa.PrimaryKeyConstraint("org_id", name=op.f("pk_organizations")),
    )
    op.create_table(
        "projection_versions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("from_version", sa.Integer(), nullable=False),
        sa.Column("to_version", sa.Integer(), nullable=True),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=False),
        sa.Column("bucket", sa.SmallInteger(), nullable=False),
        sa.Column("entry_digest", sa.LargeBinary(length=32), nullable=False),
        sa.CheckConstraint(
            "to_version is null or to_version > from_version", name=op.f("ck_projection_versions_interval_not_empty")
        ),
        sa.PrimaryKeyConstraint(
            "org_id", "project_id", "memory_id", "from_version", name=op.f("pk_projection_versions")
        ),
    )
    op.create_index(
        "ix_projection_versions_bucket",
        "projection_versions",
        ["org_id", "project_id", "bucket", "memory_id"],
        unique=False,
        postgresql_where=sa.text("to_version is null"),
        postgresql_include=["entry_digest"],
    )
    op.create_index(
        "uq_projection_versions_head",
        "projection_versions",
        ["org_id", "project_id", "memory_id"],
        unique=True,
        postgresql_where=sa.text("to_version is null"),
    )
    op.create_table(
        "tree_buckets",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("owner_id", sa.Text(collation="C"), nullable=False),
        sa.Column("bucket", sa.SmallInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("org_id", "owner_id", "bucket", name=op.f("pk_tree_buckets")),
    )
    op.create_table(
        "audit_events",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("event_id", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(collation="C"), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("resource_type", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Text(collation="C"), nullable=False),
        sa.Column("session_id", sa.Text(collation="C"), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("before_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("after_hash", sa.Text(collation="C"), nullable=True),
        sa.Column(
            "detail",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["org_id"], ["organizations.org_id"], name=op.f("fk_audit_events_org_id_organizations")
        ),
        sa.PrimaryKeyConstraint("org_id", "event_id", name=op.f("pk_audit_events")),
    )
    op.create_index("ix_audit_events_at", "audit_events", ["org_id", "at", "event_id"], unique=False)
    op.create_index("ix_audit_events_resource", "audit_events", ["org_id", "resource_id"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("method", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(collation="C"), nullable=False),
        sa.Column("key", sa.Text(collation="C"), nullable=False),
        sa.Column("body_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id"], ["organizations.org_id"], name=op.f("fk_idempotency_keys_org_id_organizations")
        ),
        sa.PrimaryKeyConstraint("org_id", "user_id", "method", "path", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "memory_versions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("from_version", sa.Integer(), nullable=False),
        sa.Column("to_version", sa.Integer(), nullable=True),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("path_key", sa.Text(collation="C"), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=False),
        sa.Column("bucket", sa.SmallInteger(), nullable=False),
        sa.Column("entry_digest", sa.LargeBinary(length=32), nullable=False),
        sa.CheckConstraint(
            "to_version is null or to_version > from_version", name=op.f("ck_memory_versions_interval_not_empty")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "blob_id"],
            ["blobs.org_id", "blobs.blob_id"],
            name=op.f("fk_memory_versions_org_id_blob_id_blobs"),
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "memory_id"],
            ["memories.org_id", "memories.memory_id"],
            name=op.f("fk_memory_versions_org_id_memory_id_memories"),
        ),
        sa.PrimaryKeyConstraint("org_id", "memory_id", "from_version", name=op.f("pk_memory_versions")),
    )
    op.create_index(
        "ix_memory_versions_bucket",
        "memory_versions",
        ["org_id", "bucket", "memory_id"],
        unique=False,
        postgresql_where=sa.text("to_version is null"),
        postgresql_include=["entry_digest"],
    )
    op.create_index("ix_memory_versions_from", "memory_versions", ["org_id", "from_version"], unique=False)
    op.create_index(
        "ix_memory_versions_past_path",
        "memory_versions",
        ["org_id", "path_key", "to_version"],
        unique=False,
        postgresql_where=sa.text("to_version is not null"),
    )
    op.create_index(
        "ix_memory_versions_to",
        "memory_versions",
        ["org_id", "to_version"],
        unique=False,
        postgresql_where=sa.text("to_version is not null"),
    )
    op.create_index(
        "uq_memory_versions_head",
        "memory_versions",
        ["org_id", "memory_id"],
        unique=True,
        postgresql_where=sa.text("to_version is null"),
    )
    op.create_index(
        "uq_memory_versions_path",
        "memory_versions",
        ["org_id", "path_key"],
        unique=True,
        postgresql_where=sa.text("to_version is null"),
    )
    op.create_table(
        "operations",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=True),
        sa.Column("workflow_id", sa.Text(collation="C"), nullable=False),
        sa.Column("request", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("progress_step", sa.Text(), nullable=False),
        sa.Column("progress_done", sa.Integer(), nullable=False),
        sa.Column("progress_total", sa.Integer(), nullable=False),
        sa.Column("result", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("problem", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("deliveries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_delivery_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(status = 'failed') = (problem is not null)", name=op.f("ck_operations_failure_has_problem")
        ),
        sa.CheckConstraint(
            "(status = 'succeeded') = (result is not null)", name=op.f("ck_operations_success_has_result")
        ),
        sa.CheckConstraint(
            "(status in ('pending', 'running')) = (next_delivery_at is not null)",
            name=op.f("ck_operations_unfinished_is_due"),
        ),
        sa.CheckConstraint(
            "status in ('pending', 'running', 'succeeded', 'failed')", name=op.f("ck_operations_status_known")
        ),
        sa.ForeignKeyConstraint(["org_id"], ["organizations.org_id"], name=op.f("fk_operations_org_id_organizations")),
        sa.PrimaryKeyConstraint("org_id", "operation_id", name=op.f("pk_operations")),
    )
    op.create_index(
        "ix_operations_due",
        "operations",
        ["next_delivery_at"],
        unique=False,
        postgresql_where=sa.text("status in ('pending', 'running')"),
    )
    op.create_table(
        "projects",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(collation="C"), nullable=False),
        sa.Column("slug", sa.Text(collation="C"), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state in ('active', 'archived', 'deleted')", name=op.f("ck_projects_state_known")),
        sa.ForeignKeyConstraint(["org_id"], ["organizations.org_id"], name=op.f("fk_projects_org_id_organizations")),
        sa.PrimaryKeyConstraint("org_id", "project_id", name=op.f("pk_projects")),
    )
    op.create_index(
        "uq_projects_name_key",
        "projects",
        ["org_id", "name_key"],
        unique=True,
        postgresql_where=sa.text("state <> 'deleted'"),
    )
    op.create_index(
        "uq_projects_slug", "projects", ["org_id", "slug"], unique=True, postgresql_where=sa.text("state <> 'deleted'")
    )
    op.create_table(
        "users",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("role in ('owner', 'admin', 'member')", name=op.f("ck_users_role_known")),
        sa.ForeignKeyConstraint(["org_id"], ["organizations.org_id"], name=op.f("fk_users_org_id_organizations")),
        sa.PrimaryKeyConstraint("org_id", "user_id", name=op.f("pk_users")),
    )
    op.create_index(
        "uq_users_email",
        "users",
        ["org_id", sa.literal_column("lower(email)")],
        unique=True,
        postgresql_where=sa.text("email is not null"),
    )
    op.create_table(
        "drafts",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("author_id", sa.Text(collation="C"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("base_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status in ('open', 'submitted', 'merged', 'discarded')", name=op.f("ck_drafts_status_known")
        ),
        sa.CheckConstraint("(base_version = 0) = (base_commit_id is null)", name=op.f("ck_drafts_base_is_whole")),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_drafts_org_id_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("org_id", "draft_id", name=op.f("pk_drafts")),
    )
    op.create_index("ix_drafts_author", "drafts", ["org_id", "author_id", "created_at"], unique=False)
    op.create_index("ix_drafts_project", "drafts", ["org_id", "project_id", "status"], unique=False)
    op.create_index(
        "ix_drafts_review",
        "drafts",
        ["org_id", "review_id"],
        unique=False,
        postgresql_where=sa.text("review_id is not null"),
    )
    op.create_table(
        "project_members",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("role in ('admin', 'member', 'viewer')", name=op.f("ck_project_members_role_known")),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_project_members_org_id_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["users.org_id", "users.user_id"],
            name=op.f("fk_project_members_org_id_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "project_id", "user_id", name=op.f("pk_project_members")),
    )
    op.create_index("ix_project_members_user", "project_members", ["org_id", "user_id"], unique=False)
    op.create_table(
        "project_refs",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("selection_revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_project_refs_org_id_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("org_id", "project_id", name=op.f("pk_project_refs")),
    )
    op.create_table(
        "reviews",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=False),
        sa.Column("author_id", sa.Text(collation="C"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("closed_reason", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("submission", sa.Integer(), nullable=False),
        sa.Column("result_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("publish_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_timer_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("refresh_pending", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("merged_commit_id", sa.Text(collation="C"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status in ('open', 'approved', 'rejected', 'withdrawn', 'merged')", name=op.f("ck_reviews_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "project_id"],
            ["projects.org_id", "projects.project_id"],
            name=op.f("fk_reviews_org_id_project_id_projects"),
        ),
        sa.PrimaryKeyConstraint("org_id", "review_id", name=op.f("pk_reviews")),
    )
    op.create_index("ix_reviews_author", "reviews", ["org_id", "author_id"], unique=False)
    op.create_index("ix_reviews_project", "reviews", ["org_id", "project_id", "created_at"], unique=False)
    op.create_index(
        "ix_reviews_refresh",
        "reviews",
        ["org_id", "review_id"],
        unique=False,
        postgresql_where=sa.text("refresh_pending"),
    )
    op.create_index(
        "ix_reviews_timer",
        "reviews",
        ["next_timer_at"],
        unique=False,
        postgresql_where=sa.text("next_timer_at is not null"),
    )
    op.create_table(
        "tokens",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("token_id", sa.Text(collation="C"), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("permissions", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "user_id"],
            ["users.org_id", "users.user_id"],
            name=op.f("fk_tokens_org_id_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "token_id", name=op.f("pk_tokens")),
    )
    op.create_index("ix_tokens_user", "tokens", ["org_id", "user_id"], unique=False)
    op.create_index("uq_tokens_token_id", "tokens", ["token_id"], unique=True)
    op.create_table(
        "draft_operations",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("new_path", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=True),
        sa.Column("content_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "action in ('create', 'update', 'rename', 'delete')", name=op.f("ck_draft_operations_action_known")
        ),
        sa.CheckConstraint("(content is null) = (blob_id is null)", name=op.f("ck_draft_operations_content_is_hashed")),
        sa.CheckConstraint(
            "(content is null) = (content_hash is null)", name=op.f("ck_draft_operations_content_is_hashed_twice")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "draft_id"],
            ["drafts.org_id", "drafts.draft_id"],
            name=op.f("fk_draft_operations_org_id_draft_id_drafts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "draft_id", "index", name=op.f("pk_draft_operations")),
    )
    op.create_index("ix_draft_operations_memory", "draft_operations", ["org_id", "memory_id"], unique=False)
    op.create_table(
        "review_approvals",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("approval_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("actor_id", sa.Text(collation="C"), nullable=False),
        sa.Column("submission", sa.Integer(), nullable=False),
        sa.Column("result_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dropped_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id"],
            ["reviews.org_id", "reviews.review_id"],
            name=op.f("fk_review_approvals_org_id_review_id_reviews"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "approval_id", name=op.f("pk_review_approvals")),
    )
    op.create_index(
        "uq_review_approvals_actor",
        "review_approvals",
        ["org_id", "review_id", "actor_id"],
        unique=True,
        postgresql_where=sa.text("dropped_at is null"),
    )
    op.create_table(
        "review_submissions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("result_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("created_by", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id"],
            ["reviews.org_id", "reviews.review_id"],
            name=op.f("fk_review_submissions_org_id_review_id_reviews"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "review_id", "number", name=op.f("pk_review_submissions")),
    )
    op.create_table(
        "review_timeline",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.Text(collation="C"), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("submission", sa.Integer(), nullable=True),
        sa.Column("old_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("new_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "event in ('submitted', 'resubmitted', 'rebased', 'approved', 'approval_dropped', 'rejected', 'draft_discarded', 'reminded', 'publish_skipped', 'withdrawn', 'expired', 'merged')",
            name=op.f("ck_review_timeline_event_known"),
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id"],
            ["reviews.org_id", "reviews.review_id"],
            name=op.f("fk_review_timeline_org_id_review_id_reviews"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "review_id", "position", name=op.f("pk_review_timeline")),
    )
    op.create_table(
        "review_comments",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("comment_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("submission", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Text(collation="C"), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("anchor_path", sa.Text(), nullable=True),
        sa.Column("anchor_line", sa.Integer(), nullable=True),
        sa.Column("resolved", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(anchor_path is null) = (anchor_line is null)", name=op.f("ck_review_comments_anchor_is_whole")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id", "submission"],
            ["review_submissions.org_id", "review_submissions.review_id", "review_submissions.number"],
            name=op.f("fk_review_comments_org_id_review_id_submission_review_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "comment_id", name=op.f("pk_review_comments")),
    )
    op.create_index("ix_review_comments_review", "review_comments", ["org_id", "review_id", "created_at"], unique=False)
    op.create_table(
        "review_submission_drafts",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("draft_id", sa.Text(collation="C"), nullable=False),
        sa.Column("draft_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id", "number"],
            ["review_submissions.org_id", "review_submissions.review_id", "review_submissions.number"],
            name=op.f("fk_review_submission_drafts_org_id_review_id_number_review_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "review_id", "number", "position", name=op.f("pk_review_submission_drafts")),
    )
    op.create_index(
        "ix_review_submission_drafts_draft", "review_submission_drafts", ["org_id", "draft_id"], unique=False
    )
    op.create_table(
        "review_submission_states",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("review_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("blob_id", sa.Text(collation="C"), nullable=True),
        sa.Column("base_path", sa.Text(), nullable=True),
        sa.Column("base_description", sa.Text(), nullable=True),
        sa.Column("base_blob_id", sa.Text(collation="C"), nullable=True),
        sa.Column("created_for", sa.Text(collation="C"), nullable=True),
        sa.CheckConstraint(
            "(base_path is null) = (base_blob_id is null)", name=op.f("ck_review_submission_states_base_is_whole")
        ),
        sa.CheckConstraint(
            "(path is null) = (blob_id is null)", name=op.f("ck_review_submission_states_result_is_whole")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "base_blob_id"],
            ["blobs.org_id", "blobs.blob_id"],
            name=op.f("fk_review_submission_states_org_id_base_blob_id_blobs"),
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "blob_id"],
            ["blobs.org_id", "blobs.blob_id"],
            name=op.f("fk_review_submission_states_org_id_blob_id_blobs"),
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "review_id", "number"],
            ["review_submissions.org_id", "review_submissions.review_id", "review_submissions.number"],
            name=op.f("fk_review_submission_states_org_id_review_id_number_review_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "review_id", "number", "memory_id", name=op.f("pk_review_submission_states")),
    )
    op.execute("insert into feed_epochs (epoch, started_at) values (gen_random_uuid()::text, now())")


def downgrade() -> None:
    op.drop_table("review_submission_states")
    op.drop_index("ix_review_submission_drafts_draft", table_name="review_submission_drafts")
    op.drop_table("review_submission_drafts")
    op.drop_index("ix_review_comments_review", table_name="review_comments")
    op.drop_table("review_comments")
    op.drop_table("review_timeline")
    op.drop_table("review_submissions")
    op.drop_index(
        "uq_review_approvals_actor", table_name="review_approvals", postgresql_where=sa.text("dropped_at is null")
    )
    op.drop_table("review_approvals")
    op.drop_index("ix_draft_operations_memory", table_name="draft_operations")
    op.drop_table("draft_operations")
    op.drop_index("uq_tokens_token_id", table_name="tokens")
    op.drop_index("ix_tokens_user", table_name="tokens")
    op.drop_table("tokens")
    op.drop_index("ix_reviews_timer", table_name="reviews", postgresql_where=sa.text("next_timer_at is not null"))
    op.drop_index("ix_reviews_refresh", table_name="reviews", postgresql_where=sa.text("refresh_pending"))
    op.drop_index("ix_reviews_project", table_name="reviews")
    op.drop_index("ix_reviews_author", table_name="reviews")
    op.drop_table("reviews")
    op.drop_table("project_refs")
    op.drop_index("ix_project_members_user", table_name="project_members")
    op.drop_table("project_members")
    op.drop_index("ix_drafts_review", table_name="drafts", postgresql_where=sa.text("review_id is not null"))
    op.drop_index("ix_drafts_project", table_name="drafts")
    op.drop_index("ix_drafts_author", table_name="drafts")
    op.drop_table("drafts")
    op.drop_index("uq_users_email", table_name="users", postgresql_where=sa.text("email is not null"))
    op.drop_table("users")
    op.drop_index("uq_projects_slug", table_name="projects", postgresql_where=sa.text("state <> 'deleted'"))
    op.drop_index("uq_projects_name_key", table_name="projects", postgresql_where=sa.text("state <> 'deleted'"))
    op.drop_table("projects")
    op.drop_index(
        "ix_operations_due", table_name="operations", postgresql_where=sa.text("status in ('pending', 'running')")
    )
    op.drop_table("operations")
    op.drop_index(
        "uq_memory_versions_path", table_name="memory_versions", postgresql_where=sa.text("to_version is null")
    )
    op.drop_index(
        "uq_memory_versions_head", table_name="memory_versions", postgresql_where=sa.text("to_version is null")
    )
    op.drop_index(
        "ix_memory_versions_past_path",
        table_name="memory_versions",
        postgresql_where=sa.text("to_version is not null"),
    )
    op.drop_index(
        "ix_memory_versions_to", table_name="memory_versions", postgresql_where=sa.text("to_version is not null")
    )
    op.drop_index("ix_memory_versions_from", table_name="memory_versions")
    op.drop_index(
        "ix_memory_versions_bucket",
        table_name="memory_versions",
        postgresql_where=sa.text("to_version is null"),
        postgresql_include=["entry_digest"],
    )
    op.drop_table("memory_versions")
    op.drop_index("ix_idempotency_keys_created_at", table_name="idempotency_keys")
    op.drop_table("idempotency_keys")
    op.drop_index("ix_audit_events_resource", table_name="audit_events")
    op.drop_index("ix_audit_events_at", table_name="audit_events")
    op.drop_table("audit_events")
    op.drop_table("tree_buckets")
    op.drop_index(
        "uq_projection_versions_head", table_name="projection_versions", postgresql_where=sa.text("to_version is null")
    )
    op.drop_index(
        "ix_projection_versions_bucket",
        table_name="projection_versions",
        postgresql_where=sa.text("to_version is null"),
        postgresql_include=["entry_digest"],
    )
    op.drop_table("projection_versions")
    op.drop_table("organizations")
    op.drop_table("organization_refs")
    op.drop_index("ix_org_selections_memory", table_name="org_selections")
    op.drop_table("org_selections")
    op.drop_index("ix_memories_gone", table_name="memories", postgresql_where=sa.text("status <> 'active'"))
    op.drop_table("memories")
    op.drop_table("feed_epochs")
    op.drop_index("ix_events_feed", table_name="events")
    op.drop_table("events")
    op.drop_index(
        "uq_commits_review", table_name="commits", postgresql_where=sa.text("scope = 'org' and review_id is not null")
    )
    op.drop_table("commits")
    op.drop_table("blobs")
