"""When a Review's timers are due: publication, reminder and expiry, and the earliest of them in its row.

Reminder and expiry count from the latest submission, by the organization's policy (publication.md §4). Every
transaction that changes what they depend on settles `next_timer_at` again.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OperationId, OrganizationId, ReviewId
from models.store.locks import ReviewRow, row_of
from models.store.transaction import Transaction

UNPUBLISHED = "r.status not in ('withdrawn', 'merged') and r.publish_operation_id is null"
UNDER_REVIEW = "r.status in ('open', 'approved')"
# While a merge that fell due is under way, nothing else is: expiring would only take what is about to be published.
# The row keeps the moment all the same, so that a merge which ends without a trace leaves no Review without timers.
MERGING = """
    exists (select from operations m
            where m.org_id = :org_id and m.operation_id = r.publish_operation_id and m.status in ('pending', 'running'))
"""
SUBMITTED_AT = """
    (select s.created_at from review_submissions s
     where s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission)
"""
PUBLISH_AT = f"case when {UNPUBLISHED} then r.publish_at end"


def remind_at(policy: str, submitted_at: str) -> str:
    """When the Review `r` is reminded of, by the columns of an organization's `policy`."""
    due = f"{submitted_at} + make_interval(secs => {policy}.review_reminder_after)"
    return f"case when {UNDER_REVIEW} and r.reminded_submission < r.submission then {due} end"


def expire_at(policy: str, submitted_at: str) -> str:
    """When the Review `r` expires, by the columns of an organization's `policy`."""
    return f"case when {UNDER_REVIEW} then {submitted_at} + make_interval(secs => {policy}.review_expires_after) end"


def next_timer_at(policy: str, submitted_at: str) -> str:
    """When the first of the Review's timers is due; null when none runs."""
    return f"least({PUBLISH_AT}, {remind_at(policy, submitted_at)}, {expire_at(policy, submitted_at)})"


REMIND_AT, EXPIRE_AT = remind_at("o", SUBMITTED_AT), expire_at("o", SUBMITTED_AT)
NEXT_TIMER_AT = next_timer_at("o", SUBMITTED_AT)
"""Of the Review `r` of the organization `o`."""

SETTLE = text(f"""
    update reviews r set next_timer_at = {NEXT_TIMER_AT} from organizations o
    where o.org_id = :org_id and r.org_id = :org_id and r.review_id = :review_id
    returning r.*
""")  # noqa: S608  (constants of ours)
SETTLE_ALL = text(f"""
    update reviews r set next_timer_at = {NEXT_TIMER_AT}, refresh_pending = true from organizations o
    where o.org_id = :org_id and r.org_id = :org_id and r.status in ('open', 'approved')
      and r.next_timer_at is distinct from {NEXT_TIMER_AT}
""")  # noqa: S608  (constants of ours)
READ = text(f"""
    select {PUBLISH_AT} as publish_at,
           case when not {MERGING} then {REMIND_AT} end as remind_at,
           case when not {MERGING} then {EXPIRE_AT} end as expire_at
    from reviews r join organizations o on o.org_id = :org_id
    where r.org_id = :org_id and r.review_id = :review_id
""")  # noqa: S608  (constants of ours)
MARK_REMINDED = text("""
    update reviews set reminded_submission = submission, refresh_pending = true
    where org_id = :org_id and review_id = :review_id
""")
MARK_PUBLISHING = text("""
    update reviews set publish_operation_id = :operation_id, refresh_pending = true
    where org_id = :org_id and review_id = :review_id
""")


@dataclass(frozen=True, slots=True)
class Timers:
    """When each timer of a Review is due; None of one that does not run, or waits for a merge that fell due."""

    publish_at: datetime | None
    remind_at: datetime | None
    expire_at: datetime | None


def read_timers(connection: Connection, org_id: OrganizationId, review_id: ReviewId) -> Timers:
    """The timers of a Review, whose row is locked."""
    return Timers(*connection.execute(READ, {"org_id": org_id, "review_id": review_id}).one())


def settle_timer(tx: Transaction, review_id: ReviewId) -> ReviewRow:
    """Work out when a Review's next timer is due, after a change of its row or its submissions; the row."""
    row = tx.connection.execute(SETTLE, {"org_id": tx.org_id, "review_id": review_id})
    return row_of(ReviewRow, row.mappings().one())


def settle_timers(tx: Transaction) -> None:
    """The same for every open or approved Review of the organization, after a change of its policy."""
    tx.connection.execute(SETTLE_ALL, {"org_id": tx.org_id})


def mark_reminded(tx: Transaction, review_id: ReviewId) -> ReviewRow:
    """Note that the latest submission has had its reminder."""
    tx.connection.execute(MARK_REMINDED, {"org_id": tx.org_id, "review_id": review_id})
    return settle_timer(tx, review_id)


def mark_publishing(tx: Transaction, review_id: ReviewId, operation_id: OperationId) -> None:
    """Note which merge `publish_at` made, so that it makes one."""
    names = {"org_id": tx.org_id, "review_id": review_id, "operation_id": operation_id}
    tx.connection.execute(MARK_PUBLISHING, names)
    settle_timer(tx, review_id)
