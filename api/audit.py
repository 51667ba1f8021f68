"""The audit trail; owners and admins (tenancy.md)."""

from datetime import datetime

from api.answers import Answer, answer
from api.calls import Read
from api.paging import Paging
from api.routing import Routes
from models.errors import InvalidRequest
from models.rules.hashes import instant
from models.schemas.common import Page
from models.schemas.tenancy import AuditEventView, AuditQuery
from models.store.audit_trail import AuditFilter
from models.store.audit_trail import list_audit_events as audit_trail

routes = Routes("audit")


@routes.read("/admin/audit-events", answers=Page[AuditEventView], query=AuditQuery)
def list_audit_events(call: Read) -> Answer:
    """Who did what to which resource, newest first."""
    call.require_administrator()
    query = call.query(AuditQuery)
    wanted = AuditFilter(query.actor, query.action, query.resource_id, query.since, query.until)
    filters = query.model_dump_json(exclude={"limit", "cursor"})
    paging = Paging(query, "audit", call.principal.org_id, filters, parts=2)
    before = None if paging.after is None else (_instant(paging.after[0]), paging.after[1])
    rows = audit_trail(call.connection, call.principal.org_id, wanted, before=before, limit=paging.fetch)
    page = paging.page(
        Page[AuditEventView],
        rows,
        show=AuditEventView.model_validate,
        position=lambda row: [instant(row.at), row.event_id],
    )
    return answer(page)


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest.of("cursor", "malformed") from None
