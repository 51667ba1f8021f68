"""What rebases saved: every Draft as it was before (publication.md §3)."""

import orjson
from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping, text

from models.identifiers import CandidateId, DraftId, OrganizationId
from models.schemas.drafts import DraftOperationBody
from models.schemas.reconciliation import RevisionBody
from models.store.draft_views import operation_bodies
from models.store.locks import DraftRow
from models.store.transaction import Transaction


def save_revision(tx: Transaction, draft: DraftRow, candidate_id: CandidateId) -> None:
    """Keep a locked Draft as it is, before a rebase by a candidate rewrites it."""
    operations = operation_bodies(tx.connection, tx.org_id, draft.draft_id)
    stored: list[JsonValue] = [operation.model_dump(mode="json") for operation in operations]
    tx.connection.execute(
        text("""
            insert into draft_revisions (operations, org_id, draft_id, version, title, base_commit_id, base_version,
                                         candidate_id, created_at)
            values (cast(:operations as jsonb), :org_id, :draft_id, :version, :title, :base_commit_id, :base_version,
                    :candidate_id, :now)
        """),
        {
            "org_id": tx.org_id,
            "draft_id": draft.draft_id,
            "version": draft.version,
            "title": draft.title,
            "base_commit_id": draft.base_commit_id,
            "base_version": draft.base_version,
            "operations": orjson.dumps(stored).decode(),
            "candidate_id": candidate_id,
            "now": tx.now,
        },
    )


def revisions(
    connection: Connection, org_id: OrganizationId, draft_id: DraftId, *, before: int | None, limit: int
) -> list[RevisionBody]:
    """What rebases saved of a Draft, newest first.

    Args:
        connection: any.
        org_id: the organization.
        draft_id: the Draft.
        before: only those of lower versions; None: from the newest on.
        limit: at most so many.
    """
    rows = connection.execute(
        text("""
            select operations, version, base_commit_id, title, candidate_id, created_at from draft_revisions
            where org_id = :org_id and draft_id = :draft_id
              and (cast(:before as integer) is null or version < :before)
            order by version desc limit :limit
        """),
        {"org_id": org_id, "draft_id": draft_id, "before": before, "limit": limit},
    )
    return [_revision(row) for row in rows.mappings()]


def _revision(row: RowMapping) -> RevisionBody:
    operations = [DraftOperationBody.model_validate(operation) for operation in row["operations"]]
    return RevisionBody(**{**row, "operations": operations})
