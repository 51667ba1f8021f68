"""Timers: each Review wakes when its row, its submission and the policy say, and what fell due is told of."""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.operations import OperationKind
from models.store.review_timers import next_timer_at
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

DUE_AT = next_timer_at("r", "submitted_at")
# The policy is read once, not joined: it has nothing but the organization in common with the Reviews.
TIMERS = text(f"""
    select r.review_id, r.next_timer_at, {DUE_AT} as due_at
    from (
        select r.*, s.created_at as submitted_at,
               (select review_reminder_after from organizations where org_id = :org_id) as review_reminder_after,
               (select review_expires_after from organizations where org_id = :org_id) as review_expires_after
        from reviews r
        left join review_submissions s
          on s.org_id = :org_id and s.review_id = r.review_id and s.number = r.submission
        where r.org_id = :org_id
    ) r
    where r.next_timer_at is distinct from {DUE_AT}
    order by r.review_id
""")  # noqa: S608  (constants of ours)
REMINDED = text("""
    select r.review_id, r.reminded_submission, r.submission
    from reviews r
    left join (
        select distinct review_id, submission from review_timeline where org_id = :org_id and event = 'reminded'
    ) t on t.review_id = r.review_id and t.submission = r.reminded_submission
    where r.org_id = :org_id
      and (r.reminded_submission > r.submission or r.reminded_submission > 0 and t.submission is null)
    order by r.review_id
""")
# The operation may be past retention.
PUBLISHED = text("""
    select r.review_id, r.publish_operation_id, r.publish_at, o.kind, o.review_id as merges
    from reviews r
    left join operations o on o.org_id = r.org_id and o.operation_id = r.publish_operation_id
    where r.org_id = :org_id and r.publish_operation_id is not null
      and (r.publish_at is null or (o.kind, o.review_id) <> (:merge, r.review_id))
    order by r.review_id
""")


def check_timers(snapshot: Snapshot) -> Iterator[Finding]:
    """Every Review's next timer, reminder and scheduled publication."""
    for row in snapshot.rows(TIMERS):
        what = "its timer is not when it is due"
        where, expected = f"Review {row['review_id']}", shown(row["due_at"])
        yield Finding("review.timer", what, where, expected, shown(row["next_timer_at"]))
    for row in snapshot.rows(REMINDED):
        what = "a submission is marked as reminded of that nobody was"
        expected = f"one of {row['submission']} that the timeline names"
        yield Finding("review.reminded", what, f"Review {row['review_id']}", expected, str(row["reminded_submission"]))
    for row in snapshot.rows(PUBLISHED, merge=OperationKind.MERGE):
        what = "what its schedule made is no merge of it"
        where = f"operation {row['publish_operation_id']} of Review {row['review_id']}"
        found = f"{shown(row['kind'])} of {shown(row['merges'])} for {shown(row['publish_at'])}"
        yield Finding("review.publishing", what, where, "its merge at a time", found)
