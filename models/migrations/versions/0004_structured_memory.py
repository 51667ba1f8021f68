"""Structured memories, workstreams and sessions, what is injected, and the owners of search indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = (
    "index_owners",
    "structured_memory_revisions",
    "structured_memories",
    "nudges",
    "injected_memories",
    "injections",
    "sessions",
    "workstreams",
)


def upgrade() -> None:
    op.create_table(
        "workstreams",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("workstream_id", sa.Text(collation="C"), nullable=False),
        sa.Column("owner_id", sa.Text(collation="C"), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(collation="C"), nullable=True),
        sa.Column("memory_enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("had_session", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "owner_id"], ["users.org_id", "users.user_id"], name=op.f("fk_workstreams_org_id_owner_id_users")
        ),
        sa.PrimaryKeyConstraint("org_id", "workstream_id", name=op.f("pk_workstreams")),
    )
    op.create_index("ix_workstreams_owner", "workstreams", ["org_id", "owner_id"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("session_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("opened_by", sa.Text(collation="C"), nullable=False),
        sa.Column("workstream_id", sa.Text(collation="C"), nullable=True),
        sa.Column("project_id", sa.Text(collation="C"), nullable=True),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("resumes", sa.Boolean(), nullable=False),
        sa.Column("context_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind in ('interactive', 'coordinator')", name=op.f("ck_sessions_kind_known")),
        sa.ForeignKeyConstraint(
            ["org_id", "user_id"], ["users.org_id", "users.user_id"], name=op.f("fk_sessions_org_id_user_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "workstream_id"],
            ["workstreams.org_id", "workstreams.workstream_id"],
            name=op.f("fk_sessions_org_id_workstream_id_workstreams"),
        ),
        sa.PrimaryKeyConstraint("org_id", "session_id", name=op.f("pk_sessions")),
    )
    op.create_index("ix_sessions_user", "sessions", ["org_id", "user_id"], unique=False)
    op.create_index("ix_sessions_workstream", "sessions", ["org_id", "workstream_id"], unique=False)
    op.create_table(
        "injections",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("injection_id", sa.Text(collation="C"), nullable=False),
        sa.Column("session_id", sa.Text(collation="C"), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("in_scope", sa.Integer(), nullable=False),
        sa.Column("index_revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["org_id", "session_id"],
            ["sessions.org_id", "sessions.session_id"],
            name=op.f("fk_injections_org_id_session_id_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "injection_id", name=op.f("pk_injections")),
    )
    op.create_index("ix_injections_session", "injections", ["org_id", "session_id", "injection_id"], unique=False)
    op.create_table(
        "injected_memories",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("injection_id", sa.Text(collation="C"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "source in ('structured', 'published', 'draft')", name=op.f("ck_injected_memories_source_known")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "injection_id"],
            ["injections.org_id", "injections.injection_id"],
            name=op.f("fk_injected_memories_org_id_injection_id_injections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "injection_id", "position", name=op.f("pk_injected_memories")),
    )
    op.create_index("ix_injected_memories_memory", "injected_memories", ["org_id", "memory_id"], unique=False)
    op.create_table(
        "nudges",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("session_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind in ('denial', 'tool_error', 'correction', 'completion', 'resume')", name=op.f("ck_nudges_kind_known")
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "session_id"],
            ["sessions.org_id", "sessions.session_id"],
            name=op.f("fk_nudges_org_id_session_id_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("org_id", "session_id", "kind", name=op.f("pk_nudges")),
    )
    op.create_table(
        "index_owners",
        sa.Column("owner_id", sa.Text(collation="C"), nullable=False),
        sa.Column("task_queue", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", name=op.f("pk_index_owners")),
    )
    op.create_table(
        "structured_memories",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("scope", sa.Text(collation="C"), nullable=False),
        sa.Column("scope_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Text(collation="C"), nullable=False),
        sa.Column("updated_by", sa.Text(collation="C"), nullable=False),
        sa.Column("published_memory_id", sa.Text(collation="C"), nullable=True),
        sa.Column("content_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("replaced_hash", sa.Text(collation="C"), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(scope = 'global') = (scope_id = '')", name=op.f("ck_structured_memories_global_has_no_id")
        ),
        sa.CheckConstraint(
            "scope in ('global', 'workstream', 'user', 'coordinator', 'project')",
            name=op.f("ck_structured_memories_scope_known"),
        ),
        sa.CheckConstraint(
            "type in ('user', 'general', 'feedback', 'reference')", name=op.f("ck_structured_memories_type_known")
        ),
        sa.CheckConstraint(
            "(deleted_at is null) = (content is not null)", name=op.f("ck_structured_memories_deleted_has_no_content")
        ),
        sa.ForeignKeyConstraint(
            ["org_id"], ["organizations.org_id"], name=op.f("fk_structured_memories_org_id_organizations")
        ),
        sa.PrimaryKeyConstraint("org_id", "scope", "scope_id", "name", name=op.f("pk_structured_memories")),
    )
    op.create_index(
        "ix_structured_memories_all",
        "structured_memories",
        ["org_id", sa.literal_column("updated desc"), "memory_id"],
        unique=False,
        postgresql_where=sa.text("deleted_at is null"),
    )
    op.create_index(
        "ix_structured_memories_updated",
        "structured_memories",
        ["org_id", "scope", "scope_id", sa.literal_column("updated desc"), "memory_id"],
        unique=False,
        postgresql_where=sa.text("deleted_at is null"),
    )
    op.create_index("uq_structured_memories_memory_id", "structured_memories", ["org_id", "memory_id"], unique=True)
    op.create_table(
        "structured_memory_revisions",
        sa.Column("org_id", sa.Text(collation="C"), nullable=False),
        sa.Column("scope", sa.Text(collation="C"), nullable=False),
        sa.Column("scope_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(collation="C"), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("user_id", sa.Text(collation="C"), nullable=False),
        sa.Column("session_id", sa.Text(collation="C"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "event in ('created', 'updated', 'deleted', 'restored')",
            name=op.f("ck_structured_memory_revisions_event_known"),
        ),
        sa.CheckConstraint(
            "type in ('user', 'general', 'feedback', 'reference')",
            name=op.f("ck_structured_memory_revisions_type_known"),
        ),
        sa.ForeignKeyConstraint(
            ["org_id", "scope", "scope_id", "name"],
            [
                "structured_memories.org_id",
                "structured_memories.scope",
                "structured_memories.scope_id",
                "structured_memories.name",
            ],
            name="fk_structured_memory_revisions_identity",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "org_id", "scope", "scope_id", "name", "revision", name=op.f("pk_structured_memory_revisions")
        ),
    )
    op.create_index(
        "ix_events_structured",
        "events",
        ["xid", "id"],
        unique=False,
        postgresql_where=sa.text("resource_type = 'structured_memory'"),
    )


def downgrade() -> None:
    op.drop_index("ix_events_structured", table_name="events")
    for table in TABLES:
        op.drop_table(table)
