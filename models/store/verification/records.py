"""Records: timeline, audit trail, rows and commits tell of one event by the same person, at the same time.

What happened is written to all of them in one transaction, which has one actor and one time.
"""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.audit import AUDIT_ACTIONS
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

SUBMITTING = ("submitted", "resubmitted", "rebased", "draft_discarded")
"""The events of a timeline that make a submission."""

# A merge is audited with the commit that it made.
TIMELINES = text("""
    with named as materialized (
        select * from unnest(cast(:events as text[]), cast(:actions as text[])) as n(event, action)
    )
    select t.review_id, t.position, t.event, t.actor_id, t.at, t.new_hash, s.result_hash, a.audited
    from review_timeline t
    join named n on n.event = t.event
    join reviews r on r.org_id = t.org_id and r.review_id = t.review_id
    left join review_submissions s on s.org_id = t.org_id and s.review_id = t.review_id and s.number = t.submission
    left join (
        select resource_id, action, at, actor, after_hash, count(*) as audited from audit_events
        where org_id = :org_id group by resource_id, action, at, actor, after_hash
    ) a on a.resource_id = t.review_id and a.action = n.action and a.at = t.at and a.actor = t.actor_id
       and a.after_hash = case t.event when 'merged' then coalesce(r.merged_commit_id, t.new_hash) else t.new_hash end
    where t.org_id = :org_id and (a.audited is null or s.result_hash <> t.new_hash)
    order by t.review_id, t.position
""")
SUBMISSIONS = text("""
    select s.review_id, s.number, s.created_by, s.created_at, r.author_id
    from review_submissions s
    join reviews r on r.org_id = s.org_id and r.review_id = s.review_id
    left join (
        select review_id, at, actor_id from review_timeline
        where org_id = :org_id and event = any(:submitting) group by review_id, at, actor_id
    ) t on t.review_id = s.review_id and t.at = s.created_at and t.actor_id = s.created_by
    where s.org_id = :org_id and (t.at is null or s.number = 1 and s.created_by <> r.author_id)
    order by s.review_id, s.number
""")
APPROVALS = text("""
    select a.approval_id, a.review_id, a.actor_id, a.created_at
    from review_approvals a
    left join (
        select review_id, at, actor_id from review_timeline
        where org_id = :org_id and event in ('approved', 'merged') group by review_id, at, actor_id
    ) t on t.review_id = a.review_id and t.at = a.created_at and t.actor_id = a.actor_id
    where a.org_id = :org_id and t.at is null
    order by a.review_id, a.approval_id
""")
COMMITS = text("""
    select c.commit_id, c.created_by, c.created_at, c.review_id, t.actor_id, t.at
    from commits c
    join review_timeline t on t.org_id = c.org_id and t.review_id = c.review_id and t.event = 'merged'
    where c.org_id = :org_id and (t.actor_id <> c.created_by or t.at <> c.created_at)
    order by c.commit_id
""")
SELECTIONS = text("""
    select c.commit_id, c.created_by
    from commits c
    left join audit_events a
      on a.org_id = c.org_id and a.resource_id = c.project_id and a.action = 'selection.replace'
     and a.after_hash = c.commit_id and a.actor = c.created_by
    where c.org_id = :org_id and c.scope = 'project' and c.review_id is null and a.event_id is null
    order by c.commit_id
""")
REFS = text("""
    select 'the organization' as owner, r.updated_at, c.created_at
    from organization_refs r join commits c on c.org_id = r.org_id and c.commit_id = r.commit_id
    where r.org_id = :org_id and r.updated_at <> c.created_at
    union all
    select 'project ' || r.project_id, r.updated_at, c.created_at
    from project_refs r join commits c on c.org_id = r.org_id and c.commit_id = r.commit_id
    where r.org_id = :org_id and r.updated_at <> c.created_at
    order by 1
""")
CREATIONS = text("""
    with made as (
        select user_id as id, 'user.create' as action from users where org_id = :org_id
        union all
        select token_id, 'token.create' from tokens where org_id = :org_id
    )
    select m.id, m.action from made m
    left join audit_events a on a.org_id = :org_id and a.resource_id = m.id and a.action = m.action
    where a.event_id is null order by m.id
""")


def check_records(snapshot: Snapshot) -> Iterator[Finding]:
    """Everything that is told more than once."""
    for row in snapshot.rows(TIMELINES, events=list(AUDIT_ACTIONS), actions=list(AUDIT_ACTIONS.values())):
        where = f"{row['event']}, event {row['position']} of Review {row['review_id']}"
        if row["result_hash"] is not None and row["new_hash"] != row["result_hash"]:
            what = "the timeline names another result than the submission"
            yield Finding("record.hash", what, where, shown(row["result_hash"]), shown(row["new_hash"]))
        else:
            what = "the audit trail does not tell the same of it"
            yield Finding("record.audit", what, where, f"{row['actor_id']} at {row['at']}", "another or nothing")
    for row in snapshot.rows(SUBMISSIONS, submitting=list(SUBMITTING)):
        where = f"submission {row['number']} of Review {row['review_id']}"
        what, found = "nobody made it then", f"{row['created_by']} at {row['created_at']}"
        yield Finding("record.submission", what, where, f"as the timeline, by {row['author_id']} at first", found)
    for row in snapshot.rows(APPROVALS):
        where, found = f"approval {row['approval_id']} of Review {row['review_id']}", row["actor_id"]
        what = "the timeline knows nothing of it"
        yield Finding("record.approval", what, where, "who approved or merged then", f"{found} at {row['created_at']}")
    for row in snapshot.rows(COMMITS):
        where = f"commit {row['commit_id']} of Review {row['review_id']}"
        expected, found = f"{row['actor_id']} at {row['at']}", f"{row['created_by']} at {row['created_at']}"
        yield Finding("record.commit", "it was made by another than who merged", where, expected, found)
    for row in snapshot.rows(SELECTIONS):
        what = "the audit trail does not tell of a change of selection"
        yield Finding("record.selection", what, f"commit {row['commit_id']}", row["created_by"], "another or nothing")
    for row in snapshot.rows(REFS):
        what = "its time is not that of its commit"
        where = f"the ref of {row['owner']}"
        yield Finding("record.ref", what, where, str(row["created_at"]), str(row["updated_at"]))
    for row in snapshot.rows(CREATIONS):
        yield Finding("record.creation", "nobody is said to have made it", row["id"], row["action"], "nothing")
