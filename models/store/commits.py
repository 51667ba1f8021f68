"""Commits and refs: one chain for the organization, one for each project's projection."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from sqlalchemy import Connection, RowMapping, text

from models.errors import NotFound
from models.identifiers import CommitId, OrganizationId, ProjectId, ReviewId, TreeId
from models.rules.hashes import CommitFields, commit_id
from models.store.transaction import Transaction

WRITE = text("""
    insert into commits (org_id, commit_id, scope, project_id, version, parent_commit_id, tree_id, message, review_id,
                         created_by, created_at, org_commit_id, selection_revision)
    select * from unnest(
        cast(:org_id as text[]), cast(:commit_id as text[]), cast(:scope as text[]), cast(:project_id as text[]),
        cast(:version as integer[]), cast(:parent_commit_id as text[]), cast(:tree_id as text[]),
        cast(:message as text[]), cast(:review_id as text[]), cast(:created_by as text[]),
        cast(:created_at as timestamptz[]), cast(:org_commit_id as text[]), cast(:selection_revision as integer[])
    )
""")


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """A commit with its id."""

    commit_id: CommitId
    fields: CommitFields

    @classmethod
    def of(cls, fields: CommitFields) -> "StoredCommit":
        """Name the commit by its hash."""
        return cls(commit_id(fields), fields)


def write_commits(tx: Transaction, commits: Sequence[StoredCommit]) -> None:
    """Insert commits, in one statement; the unique key on (owner, version) keeps each chain linear."""
    columns = {field.name: [getattr(commit.fields, field.name) for commit in commits] for field in fields(CommitFields)}
    tx.connection.execute(WRITE, {**columns, "commit_id": [commit.commit_id for commit in commits]})


def advance_organization_ref(tx: Transaction, commit: StoredCommit) -> None:
    """Step the organization's Ref to its next commit; the coordination row is locked."""
    tx.connection.execute(
        text("""
            update organization_refs set commit_id = :commit_id, version = :version, updated_at = :now
            where org_id = :org_id
        """),
        {"org_id": tx.org_id, "commit_id": commit.commit_id, "version": commit.fields.version, "now": tx.now},
    )


def organization_commit_fields(
    tx: Transaction, *, version: int, parent: CommitId | None, tree_id: TreeId, message: str, review_id: ReviewId
) -> CommitFields:
    """The fields of an Organization Commit made now by the actor."""
    return CommitFields(
        scope="org",
        org_id=tx.org_id,
        project_id=None,
        version=version,
        parent_commit_id=parent,
        tree_id=tree_id,
        message=message,
        review_id=review_id,
        created_by=tx.actor_id,
        created_at=tx.now,
        org_commit_id=None,
        selection_revision=None,
    )


def organization_ref(connection: Connection, org_id: OrganizationId) -> tuple[CommitId | None, int]:
    """Where the organization stands, unlocked: its commit and version, 0 before the first."""
    row = connection.execute(
        text("select commit_id, version from organization_refs where org_id = :org_id"), {"org_id": org_id}
    ).one()
    return row.commit_id, row.version


def read_commit(connection: Connection, org_id: OrganizationId, commit: str) -> RowMapping | None:
    """A commit's row, or None."""
    return (
        connection.execute(
            text("select * from commits where org_id = :org_id and commit_id = :commit_id"),
            {"org_id": org_id, "commit_id": commit},
        )
        .mappings()
        .one_or_none()
    )


def require_organization_commit(connection: Connection, org_id: OrganizationId, commit_id: CommitId) -> RowMapping:
    """The row of a commit of the organization itself.

    Raises:
        NotFound: no such commit, or one of a project (`field`).
    """
    commit = read_commit(connection, org_id, commit_id)
    if commit is None or commit["scope"] != "org":
        raise NotFound("There is no such commit of the organization.", field="commit_id")
    return commit


def organization_version_of(
    connection: Connection, org_id: OrganizationId, project_id: ProjectId, commit: str
) -> tuple[CommitId, int] | None:
    """The Organization Commit that a base names, with its version: itself, or what a Project Commit stands on.

    None when it is unknown, or the commit of another project.
    """
    row = connection.execute(
        text("""
            select o.commit_id, o.version
            from commits c join commits o
              on o.org_id = c.org_id and o.commit_id = case c.scope when 'org' then c.commit_id else c.org_commit_id end
            where c.org_id = :org_id and c.commit_id = :commit_id and coalesce(c.project_id, :project_id) = :project_id
        """),
        {"org_id": org_id, "commit_id": commit, "project_id": project_id},
    ).one_or_none()
    return None if row is None else (row.commit_id, row.version)
