"""Whose a workstream is, for callers who name one outside of any session (memory.md §2)."""

import psycopg

from models.identifiers import OrganizationId, UserId, WorkstreamId

OWNER = "select w.owner_id from workstreams w where w.org_id = %(org_id)s and w.workstream_id = %(workstream_id)s"


def read_workstream_owner(
    connection: psycopg.Connection, org_id: OrganizationId, workstream_id: WorkstreamId
) -> UserId | None:
    """The owner of a workstream; None where the organization has none of this id."""
    row = connection.execute(OWNER, {"org_id": org_id, "workstream_id": workstream_id}).fetchone()
    return None if row is None else UserId(row[0])
