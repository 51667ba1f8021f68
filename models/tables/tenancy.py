"""Who there is: organizations, people, tokens, projects and their members (tenancy.md)."""

from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ARRAY, ForeignKeyConstraint, Index, LargeBinary, Text, text
from sqlmodel import Field, SQLModel

from models.tables.columns import JSON, ident, instant, instant_or_none, key, one_of


class Organization(SQLModel, table=True):
    """The tenant, and the only publication authority; policies are flat columns."""

    __tablename__ = "organizations"
    __table_args__ = (one_of("global_write", "member", "admin"),)

    org_id: str = key()
    name: str = Field(sa_type=Text)
    required_approvals: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    allow_self_approval: bool = Field(default=True, sa_column_kwargs={"server_default": text("true")})
    path_owners: JsonValue = Field(sa_type=JSON, nullable=False, sa_column_kwargs={"server_default": text("'[]'")})
    review_reminder_after: int | None = None
    review_expires_after: int | None = None
    global_write: str = Field(default="member", sa_type=Text, sa_column_kwargs={"server_default": "member"})
    version: int = 1
    created_at: datetime = instant()
    updated_at: datetime = instant()


class User(SQLModel, table=True):
    """A person or an agent's account in one organization."""

    __tablename__ = "users"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        one_of("role", "owner", "admin", "member"),
        Index(
            "uq_users_email", "org_id", text("lower(email)"), unique=True, postgresql_where=text("email is not null")
        ),
    )

    org_id: str = key()
    user_id: str = key()
    name: str = Field(sa_type=Text)
    email: str | None = Field(default=None, sa_type=Text)
    role: str = Field(sa_type=Text)
    version: int = 1
    created_at: datetime = instant()
    updated_at: datetime = instant()


class Token(SQLModel, table=True):
    """A credential; only the hash of its secret is kept."""

    __tablename__ = "tokens"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "user_id"], ["users.org_id", "users.user_id"], ondelete="CASCADE"),
        Index("uq_tokens_token_id", "token_id", unique=True),
        Index("ix_tokens_user", "org_id", "user_id"),
    )

    org_id: str = key()
    token_id: str = key()
    user_id: str = ident()
    name: str = Field(sa_type=Text)
    permissions: list[str] = Field(sa_type=ARRAY(Text))
    secret_hash: bytes = Field(sa_type=LargeBinary)
    expires_at: datetime | None = instant_or_none()
    created_at: datetime = instant()


class Project(SQLModel, table=True):
    """Where changes are proposed and published Memory is used. A deleted one stays as a tombstone for its Reviews."""

    __tablename__ = "projects"
    __table_args__ = (
        ForeignKeyConstraint(["org_id"], ["organizations.org_id"]),
        one_of("state", "active", "archived", "deleted"),
        Index("uq_projects_name_key", "org_id", "name_key", unique=True, postgresql_where=text("state <> 'deleted'")),
        Index("uq_projects_slug", "org_id", "slug", unique=True, postgresql_where=text("state <> 'deleted'")),
    )

    org_id: str = key()
    project_id: str = key()
    name: str = Field(sa_type=Text)
    name_key: str = ident()
    slug: str = ident()
    description: str = Field(default="", sa_type=Text)
    state: str = Field(default="active", sa_type=Text)
    version: int = 1
    created_at: datetime = instant()
    updated_at: datetime = instant()


class ProjectMember(SQLModel, table=True):
    """What a user may do in a project."""

    __tablename__ = "project_members"
    __table_args__ = (
        ForeignKeyConstraint(["org_id", "project_id"], ["projects.org_id", "projects.project_id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["org_id", "user_id"], ["users.org_id", "users.user_id"], ondelete="CASCADE"),
        one_of("role", "admin", "member", "viewer"),
        Index("ix_project_members_user", "org_id", "user_id"),
    )

    org_id: str = key()
    project_id: str = key()
    user_id: str = key()
    role: str = Field(sa_type=Text)
    created_at: datetime = instant()
    updated_at: datetime = instant()
