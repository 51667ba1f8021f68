"""Workflow ids: the business identity, readable and stable, so that a repeated start finds what runs."""

RETENTION = "retention"
"""The schedule, and the runs that it starts, of what removes the past."""

REINDEX = "reindex"
"""The schedule, and the runs that it starts, of what holds search indexes against Postgres."""

REPAIR_INDEX = "repair_index"
"""The activity of that by its name: the processes that carry it out load more than a workflow's do."""


def review_workflow_id(review_id: str) -> str:
    """Who carries a Review's life."""
    return f"review/{review_id}"


def publication_workflow_id(org_id: str) -> str:
    """Who publishes for an organization."""
    return f"publication/{org_id}"


def projection_workflow_id(project_id: str) -> str:
    """Who changes a project's selection."""
    return f"projection/{project_id}"


def reconciliation_workflow_id(draft_id: str) -> str:
    """Who brings a Draft up to date."""
    return f"reconcile/{draft_id}"


def import_workflow_id(import_id: str) -> str:
    """Who makes Drafts and a Review of an import's files."""
    return f"import/{import_id}"
