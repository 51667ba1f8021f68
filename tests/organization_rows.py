"""Every row of one organization, for checks that look at the database and at nothing else."""

from collections.abc import Mapping

from sqlalchemy import text

from tests.rows import Somewhere

TABLES: Mapping[str, str] = {
    "organizations": "org_id",
    "organization_refs": "org_id",
    "users": "user_id",
    "tokens": "token_id",
    "projects": "project_id",
    "project_members": "project_id, user_id",
    "project_refs": "project_id",
    "commits": "coalesce(project_id, ''), version",
    "blobs": "blob_id",
    "memories": "memory_id",
    "memory_versions": "memory_id, from_version",
    "projection_versions": "project_id, memory_id, from_version",
    "tree_buckets": "owner_id, bucket",
    "org_selections": "project_id, memory_id",
    "project_memories": "project_id, memory_id",
    "drafts": "draft_id",
    "draft_operations": "draft_id, index",
    "draft_base_states": "draft_id, memory_id",
    "draft_revisions": "draft_id, version",
    "draft_operation_receipts": "user_id, local_operation_id",
    "reconciliation_candidates": "candidate_id",
    "reviews": "review_id",
    "review_submissions": "review_id, number",
    "review_submission_drafts": "review_id, number, position",
    "review_submission_states": "review_id, number, memory_id",
    "review_approvals": "approval_id",
    "review_timeline": "review_id, position",
    "review_comments": "comment_id",
    "imports": "import_id",
    "import_files": "import_id, path",
    "import_reports": "import_id, path",
    "import_operations": "import_id, index",
    "import_drafts": "import_id, batch",
    "workstreams": "workstream_id",
    "sessions": "session_id",
    "injections": "injection_id",
    "injected_memories": "injection_id, position",
    "nudges": "session_id, kind",
    "structured_memories": "scope, scope_id, name",
    "structured_memory_revisions": "scope, scope_id, name, revision",
    "operations": "operation_id",
    "audit_events": "event_id",
    "events": "id",
    "feed_floors": "org_id",
    "idempotency_keys": "user_id, method, path, key",
}
"""Tables that belong to organizations, with the order to read them in."""


# One statement: it is asked after each statement of others.
EVERYTHING = "select " + ", ".join(  # noqa: S608
    f"(select jsonb_agg(to_jsonb(each) order by {order}) from {table} each where org_id = :org_id) as {table}"  # noqa: S608
    for table, order in TABLES.items()
)


def everything(place: Somewhere) -> dict[str, object]:
    """Every row of a place's organization by table, to be compared."""
    with place.engine.connect() as connection:
        return dict(connection.execute(text(EVERYTHING), {"org_id": place.org_id}).mappings().one())
