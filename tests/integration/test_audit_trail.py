"""The audit trail tells what one transaction did in the order in which it did it."""

from sqlalchemy import Engine

from models.schemas.tenancy import AuditQuery
from models.store.audit import record_audit
from models.store.audit_trail import list_audit_events
from tests.rows import acting, an_organization


def test_events_of_one_transaction_stand_in_the_order_they_were_recorded_in(engine: Engine) -> None:
    place = an_organization(engine)
    recorded = [str(number) for number in range(50)]
    with acting(place) as tx:
        for resource_id in recorded:
            record_audit(tx, "test.done", "test", resource_id)
        events = list_audit_events(
            tx.connection, place.org_id, AuditQuery(action="test.done"), before=None, limit=len(recorded)
        )
    assert [event.resource_id for event in events] == recorded[::-1]
