"""Audit: each change of state has one row, written in the same transaction."""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.audit import AUDIT_ACTIONS
from models.store.verification.events import KEPT_SINCE
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

# What happened, by the action and the resource that the audit trail has to name as often.
CHANGES = text(f"""
    with named as materialized (
        select * from unnest(cast(:events as text[]), cast(:actions as text[])) as n(event, action)
    ),
    changes as (
        select n.action, t.review_id as id from review_timeline t join named n on n.event = t.event
        where t.org_id = :org_id
        union all
        select 'review.amend', e.resource_id from events e
        where e.org_id = :org_id and e.kind = 'review.amended' and e.at > {KEPT_SINCE}
        union all
        select 'draft.discard', d.draft_id from drafts d where d.org_id = :org_id and d.status = 'discarded'
        union all
        select 'draft.rebase', v.draft_id from draft_revisions v where v.org_id = :org_id
        union all
        select 'comment.create', c.comment_id from review_comments c where c.org_id = :org_id
        union all
        select 'selection.replace', c.project_id from commits c
        where c.org_id = :org_id and c.scope = 'project' and c.review_id is null
    ),
    audited as (
        select a.action, a.resource_id as id from audit_events a
        left join project_refs r on r.org_id = a.org_id and r.project_id = a.resource_id
        where a.org_id = :org_id
          and (a.action = any(:actions) or a.action in ('draft.discard', 'draft.rebase', 'comment.create')
               or a.action = 'review.amend' and a.at > {KEPT_SINCE}
               or a.action = 'selection.replace' and r.project_id is not null)
    )
    select coalesce(c.action, a.action) as action, coalesce(c.id, a.id) as id,
           coalesce(c.times, 0) as times, coalesce(a.times, 0) as audited
    from (select action, id, count(*) as times from changes group by action, id) c
    full join (select action, id, count(*) as times from audited group by action, id) a
      on a.action = c.action and a.id = c.id
    where coalesce(c.times, 0) <> coalesce(a.times, 0)
    order by 1, 2
""")  # noqa: S608  (a constant of ours)
MERGES = text("""
    select a.event_id, r.review_id, r.merged_commit_id, a.after_hash
    from audit_events a join reviews r on r.org_id = a.org_id and r.review_id = a.resource_id
    where a.org_id = :org_id and a.action = 'review.merge' and r.status = 'merged'
      and a.after_hash is distinct from coalesce(r.merged_commit_id, r.result_hash)
    order by a.event_id
""")


def check_audit(snapshot: Snapshot) -> Iterator[Finding]:
    """Every change of a Review, Draft, comment and selection against the audit trail."""
    for row in snapshot.rows(CHANGES, events=list(AUDIT_ACTIONS), actions=list(AUDIT_ACTIONS.values())):
        what = "the audit trail does not name a change as often as it happened"
        where = f"{row['action']} of {row['id']}"
        yield Finding("audit.count", what, where, str(row["times"]), str(row["audited"]))
    for row in snapshot.rows(MERGES):
        where = f"audit event {row['event_id']} of Review {row['review_id']}"
        what = "the audit trail names another commit than the Review"
        yield Finding("audit.merge", what, where, shown(row["merged_commit_id"]), shown(row["after_hash"]))
