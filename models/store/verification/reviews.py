"""Reviews: status, timeline, approvals and publication say the same."""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

REVIEWS = text("""
    select r.review_id, r.status, r.closed_reason, r.result_hash, r.merged_commit_id, s.result_hash as submitted_hash,
           s.number is not null as submitted, t.events, t.last, t.last_event, a.standing,
           m.version as merged_version, p.commit_id as own_commit_id
    from reviews r
    left join review_submissions s
      on s.org_id = r.org_id and s.review_id = r.review_id and s.number = r.submission
    left join (
        select review_id, count(*) as events, max(position) as last,
               (array_agg(event order by position desc) filter (where event <> all (:beside)))[1] as last_event
        from review_timeline where org_id = :org_id group by review_id
    ) t on t.review_id = r.review_id
    left join (
        select review_id, count(*) as standing from review_approvals
        where org_id = :org_id and dropped_at is null group by review_id
    ) a on a.review_id = r.review_id
    left join commits m on m.org_id = r.org_id and m.commit_id = r.merged_commit_id and m.scope = 'org'
    left join commits p on p.org_id = r.org_id and p.review_id = r.review_id and p.scope = 'org'
    where r.org_id = :org_id order by r.review_id
""")
APPROVALS = text("""
    select a.approval_id, a.review_id, a.submission, a.result_hash, a.dropped_at,
           s.result_hash as submitted_hash, r.result_hash as present_hash
    from review_approvals a
    join review_submissions s on s.org_id = a.org_id and s.review_id = a.review_id and s.number = a.submission
    join reviews r on r.org_id = a.org_id and r.review_id = a.review_id
    where a.org_id = :org_id
      and (a.result_hash <> s.result_hash or a.dropped_at is null and a.result_hash <> r.result_hash)
    order by a.review_id, a.approval_id
""")

LAST_EVENTS = {"merged": ("merged",), "withdrawn": ("withdrawn", "expired"), "rejected": ("rejected",)}
"""The last event of Reviews with these statuses, and of no others."""

BESIDE = ("reminded", "publish_skipped")
"""Events that leave the status as it is."""

MAY_HAVE_APPROVALS = ("open", "approved", "merged")
HAVE_APPROVALS = ("approved", "merged")


def check_reviews(snapshot: Snapshot) -> Iterator[Finding]:
    """Every Review and every approval."""
    for row in snapshot.rows(REVIEWS, beside=list(BESIDE)):
        where = f"Review {row['review_id']}"
        if row["submitted"] and row["result_hash"] != row["submitted_hash"]:
            what = "the result is not that of the latest submission"
            yield Finding("review.result", what, where, row["submitted_hash"], row["result_hash"])
        yield from _check_timeline(row, where)
        yield from _check_approvals(row, where)
        yield from _check_commit(row, where)
    for row in snapshot.rows(APPROVALS):
        where = f"approval {row['approval_id']} of Review {row['review_id']}"
        if row["result_hash"] != row["submitted_hash"]:
            what = f"it approves another result than submission {row['submission']}"
            yield Finding("approval.hash", what, where, row["submitted_hash"], row["result_hash"])
        else:
            what = "it stands although the result is another by now"
            yield Finding("approval.standing", what, where, row["present_hash"], row["result_hash"])


def _check_timeline(row: RowMapping, where: str) -> Iterator[Finding]:
    events = row["events"] or 0
    if events == 0 or row["last"] != events - 1:
        found = f"{events} events up to position {shown(row['last'])}"
        yield Finding("review.timeline", "events are missing", where, "positions from 0 without gaps", found)
        return
    last = row["last_event"]
    finals = {event: status for status, events in LAST_EVENTS.items() for event in events}
    if finals.get(last) != (row["status"] if row["status"] in LAST_EVENTS else None):
        yield Finding("review.status", "the status is not what happened last", where, f"after {last}", row["status"])
    if (row["closed_reason"] is not None) != (row["status"] == "withdrawn"):
        what = f"closed_reason does not go with {row['status']}"
        expected_reason = "a reason" if row["status"] == "withdrawn" else "nothing"
        yield Finding("review.status", what, where, expected_reason, shown(row["closed_reason"]))


def _check_approvals(row: RowMapping, where: str) -> Iterator[Finding]:
    standing = row["standing"] or 0
    if row["status"] in HAVE_APPROVALS and not standing:
        yield Finding("approval.missing", f"it is {row['status']}, and nobody approves it", where, "one", "none")
    if row["status"] not in MAY_HAVE_APPROVALS and standing:
        what = f"an approval of a {row['status']} Review stands"
        yield Finding("approval.standing", what, where, "none", str(standing))


def _check_commit(row: RowMapping, where: str) -> Iterator[Finding]:
    merged, own = row["merged_commit_id"], row["own_commit_id"]
    if own is not None and own != merged:
        yield Finding("review.commit", "its commit is not the one it was merged as", where, own, shown(merged))
    elif row["status"] != "merged" and merged is not None:
        yield Finding("review.commit", f"it is {row['status']}, and has a commit", where, "none", merged)
    elif merged is not None and row["merged_version"] is None:
        yield Finding("review.commit", "it was merged as a commit that is not there", where, shown(merged), "nothing")
