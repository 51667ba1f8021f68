"""The audit trail, written in the transaction that it describes."""

from collections.abc import Mapping

import orjson
from pydantic import JsonValue
from sqlalchemy import text

from models.identifiers import SessionId, new_audit_event_id
from models.store.transaction import Transaction

AUDIT_ACTIONS: Mapping[str, str] = {
    "submitted": "review.submit",
    "resubmitted": "review.resubmit",
    "rebased": "review.rebase",
    "approved": "review.approve",
    "rejected": "review.reject",
    "withdrawn": "review.withdraw",
    "expired": "review.expire",
    "reminded": "review.remind",
    "publish_skipped": "review.skip_publication",
    "merged": "review.merge",
}
"""Audit names what was done, the timeline and the feed what then was so."""

INSERT = text("""
    insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, session_id, request_id,
                              before_hash, after_hash, detail)
    values (:org_id, :event_id, :at, :actor, :action, :resource_type, :resource_id, :session_id, :request_id,
            :before_hash, :after_hash, cast(:detail as jsonb))
""")


def record_audit(
    tx: Transaction,
    action: str,
    resource_type: str,
    resource_id: str,
    *,
    session_id: SessionId | None = None,
    before_hash: str | None = None,
    after_hash: str | None = None,
    detail: dict[str, JsonValue] | None = None,
) -> None:
    """Record that the actor did `action` (as `review.merge`) to a resource; ids and hashes only, never contents."""
    values = {
        "org_id": tx.org_id,
        "event_id": new_audit_event_id(),
        "at": tx.now,
        "actor": tx.actor_id,
        "action": action,
        "resource_type": resource_type,
        "resource_id": resource_id,
        "session_id": session_id,
        "request_id": tx.request_id,
        "before_hash": before_hash,
        "after_hash": after_hash,
        "detail": orjson.dumps(detail or {}).decode(),
    }
    tx.connection.execute(INSERT, values)
