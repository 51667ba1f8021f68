"""The audit trail; owners and admins (tenancy.md)."""

from api.answers import Answer, answer
from api.calls import Read
from api.paging import Paging
from api.positions import after_moment, moment_of
from api.routing import Routes
from models.schemas.common import Page
from models.schemas.tenancy import AuditEventView, AuditQuery
from models.store.audit_trail import list_audit_events as audit_trail

routes = Routes("audit")


@routes.read("/admin/audit-events", answers=Page[AuditEventView], query=AuditQuery)
def list_audit_events(call: Read) -> Answer:
    """Who did what to which resource, newest first."""
    call.require_administrator()
    query = call.query(AuditQuery)
    filters = query.model_dump_json(exclude={"limit", "cursor"})
    paging = Paging(query, "audit", call.principal.org_id, filters, parts=2)
    rows = audit_trail(call.connection, call.principal.org_id, query, before=after_moment(paging), limit=paging.fetch)
    page = paging.page(
        Page[AuditEventView],
        rows,
        show=lambda row: row,
        position=lambda row: moment_of(row.at, row.event_id),
    )
    return answer(page)
