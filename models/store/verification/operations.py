"""Operations: each has one outcome, and what succeeded has had its effect, once."""

from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import RowMapping, text

from models.store.operations import OperationKind
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

OPERATIONS = text("""
    select o.operation_id, o.kind, o.status, o.review_id, o.user_id, o.result is not null as has_result,
           o.problem is not null as has_problem, o.next_delivery_at is not null as is_due,
           o.progress_done, o.progress_total, o.request ->> 'decision' as decision,
           o.result ->> 'commit_id' as commit_id, o.result ->> 'already_published' as already_published,
           o.result ->> 'revision' as revision, r.status as review_status, r.submission, r.merged_commit_id,
           c.commit_id as own_commit_id, p.project_id is not null as project_kept, p.selection_revision
    from operations o
    left join reviews r on r.org_id = o.org_id and r.review_id = o.review_id
    left join commits c on c.org_id = o.org_id and c.review_id = o.review_id and c.scope = 'org'
    left join project_refs p on p.org_id = o.org_id and p.project_id = o.project_id
    where o.org_id = :org_id order by o.operation_id
""")
DECIDED = text("""
    select o.operation_id, o.review_id, o.request ->> 'decision' as decision
    from operations o
    where o.org_id = :org_id and o.kind = :kind and o.status = 'succeeded'
      and not exists (
          select from review_timeline t
          where t.org_id = o.org_id and t.review_id = o.review_id and t.actor_id = o.user_id
            and t.event = o.request ->> 'decision'
      )
    order by o.operation_id
""")
# A merge that ended longer ago than any retention lasts may have been removed.
MERGES = text("""
    select r.review_id, r.status, count(o.operation_id) as merges
    from reviews r
    left join review_timeline t on t.org_id = r.org_id and t.review_id = r.review_id and t.event = 'merged'
    left join operations o
      on o.org_id = r.org_id and o.review_id = r.review_id and o.kind = :kind and o.status = 'succeeded'
    where r.org_id = :org_id group by r.review_id, r.status, t.at
    having count(o.operation_id) <> case r.status when 'merged' then 1 else 0 end
       and not (count(o.operation_id) = 0 and t.at < now() - cast(:least_kept as interval))
    order by r.review_id
""")

LEAST_KEPT = timedelta(days=7)
"""What `CANONRY_OPERATION_RETENTION` may be at least."""

ENDED = ("succeeded", "failed")


def check_operations(snapshot: Snapshot) -> Iterator[Finding]:
    """Every operation, and every Review's merge."""
    for row in snapshot.rows(OPERATIONS):
        yield from _check_outcome(row)
        if row["status"] == "succeeded":
            yield from _check_effect(row)
    for row in snapshot.rows(DECIDED, kind=OperationKind.DECIDE):
        where = f"operation {row['operation_id']} on Review {row['review_id']}"
        what = "a decision that succeeded is not in the timeline"
        yield Finding("operation.effect", what, where, shown(row["decision"]), "nothing")
    for row in snapshot.rows(MERGES, kind=OperationKind.MERGE, least_kept=LEAST_KEPT):
        what = f"merges that succeeded do not go with a Review that is {row['status']}"
        expected = "1" if row["status"] == "merged" else "none"
        yield Finding("operation.merge", what, f"Review {row['review_id']}", expected, str(row["merges"]))


def _check_outcome(row: RowMapping) -> Iterator[Finding]:
    where = f"operation {row['operation_id']}"
    ended = row["status"] in ENDED
    facts = {
        "has a result": (row["has_result"], row["status"] == "succeeded"),
        "has a problem": (row["has_problem"], row["status"] == "failed"),
        "is due": (row["is_due"], not ended),
    }
    for fact, (found, expected) in facts.items():
        if found != expected:
            what = f"it is {row['status']}, and whether it {fact} does not go with that"
            yield Finding("operation.outcome", what, where, _yes(yes=expected), _yes(yes=found))
    if ended and row["progress_done"] != row["progress_total"]:
        what = f"it is {row['status']}, and its progress is not at its end"
        yield Finding("operation.outcome", what, where, str(row["progress_total"]), str(row["progress_done"]))


def _yes(*, yes: bool) -> str:
    return "yes" if yes else "no"


def _check_effect(row: RowMapping) -> Iterator[Finding]:
    where = f"operation {row['operation_id']} on Review {shown(row['review_id'])}"
    expected, found = "", ""
    match row["kind"]:
        case OperationKind.SUBMIT:
            expected, found = "a Review", "a Review" if row["review_status"] else "none"
        case OperationKind.RESUBMIT:
            expected = "a second submission"
            found = expected if (row["submission"] or 0) > 1 else f"submission {shown(row['submission'])}"
        case OperationKind.WITHDRAW:
            expected, found = "withdrawn", shown(row["review_status"])
        case OperationKind.MERGE:
            commit_id = row["commit_id"] if row["already_published"] == "true" else row["own_commit_id"]
            expected = f"merged as {shown(row['commit_id'])}"
            found = f"{shown(row['review_status'])} as {shown(row['merged_commit_id'] and commit_id)}"
        case OperationKind.SELECT if row["project_kept"]:
            expected = f"revision {row['revision']} or later"
            found = expected if row["selection_revision"] >= int(row["revision"]) else str(row["selection_revision"])
    if found != expected:
        yield Finding("operation.effect", f"{row['kind']} succeeded without its effect", where, expected, found)
