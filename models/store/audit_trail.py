"""The audit trail, read back (tenancy.md)."""

from datetime import datetime

from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from models.identifiers import OrganizationId
from models.schemas.tenancy import AuditEventView, AuditQuery
from models.tables import AuditEvent


def list_audit_events(
    connection: Connection,
    org_id: OrganizationId,
    wanted: AuditQuery,
    *,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[AuditEventView]:
    """The organization's audit trail, newest first, the events before a position (time, event id).

    Args:
        connection: any.
        org_id: the organization.
        wanted: which events; its page is left to `before` and `limit`.
        before: the position, None at the beginning.
        limit: how many at most.
    """
    statement = select(*(col(getattr(AuditEvent, name)) for name in AuditEventView.model_fields))
    statement = statement.where(col(AuditEvent.org_id) == org_id)
    for name in ("actor", "action", "resource_id"):
        value = getattr(wanted, name)
        if value is not None:
            statement = statement.where(col(getattr(AuditEvent, name)) == value)
    if wanted.since is not None:
        statement = statement.where(col(AuditEvent.at) >= wanted.since)
    if wanted.until is not None:
        statement = statement.where(col(AuditEvent.at) < wanted.until)
    if before is not None:
        statement = statement.where(tuple_(col(AuditEvent.at), col(AuditEvent.event_id)) < tuple_(*before))
    newest_first = statement.order_by(col(AuditEvent.at).desc(), col(AuditEvent.event_id).desc()).limit(limit)
    return [AuditEventView.model_validate(row) for row in connection.execute(newest_first)]
