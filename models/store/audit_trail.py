"""The audit trail, read back (tenancy.md)."""

from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId
from models.schemas.tenancy import AuditEventView, AuditQuery

LIST = text("""
    select event_id, at, actor, action, resource_type, resource_id, session_id, request_id, before_hash, after_hash,
           detail
    from audit_events
    where org_id = :org_id
      and (cast(:actor as text) is null or actor = :actor)
      and (cast(:action as text) is null or action = :action)
      and (cast(:resource_id as text) is null or resource_id = :resource_id)
      and (cast(:since as timestamptz) is null or at >= :since)
      and (cast(:until as timestamptz) is null or at < :until)
      and (cast(:before_at as timestamptz) is null or (at, event_id) < (:before_at, :before_id))
    order by at desc, event_id desc limit :limit
""")


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
    before_at, before_id = before or (None, None)
    names = {
        "org_id": org_id,
        "actor": wanted.actor,
        "action": wanted.action,
        "resource_id": wanted.resource_id,
        "since": wanted.since,
        "until": wanted.until,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    return [AuditEventView.model_validate(row) for row in connection.execute(LIST, names)]
