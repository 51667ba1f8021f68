"""The audit trail, read back (tenancy.md)."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import Connection, select, tuple_
from sqlmodel import col

from models.identifiers import OrganizationId
from models.tables import AuditEvent


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Who did what to which resource."""

    event_id: str
    at: datetime
    actor: str
    action: str
    resource_type: str
    resource_id: str
    session_id: str | None
    request_id: str
    before_hash: str | None
    after_hash: str | None
    detail: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which rows; None does not restrict. `since` is included, `until` is not."""

    actor: str | None = None
    action: str | None = None
    resource_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_audit_events(
    connection: Connection,
    org_id: OrganizationId,
    wanted: AuditFilter,
    *,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[AuditRow]:
    """The organization's audit trail, newest first, the rows before a position (time, event id)."""
    statement = select(*(col(getattr(AuditEvent, name)) for name in AuditRow.__slots__))
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
    return [AuditRow(*row) for row in connection.execute(newest_first)]
