"""Events: the change feed tells of each commit once and in order, and of each step of a Review."""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.audit import AUDIT_ACTIONS
from models.store.verification.chains import named
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

COMMITS = text("""
    select coalesce(c.project_id, '') as owner, c.commit_id, c.version, count(e.id) as told
    from commits c
    left join events e
      on e.org_id = c.org_id and e.resource_id = c.commit_id and e.version = c.version
     and e.project_id is not distinct from c.project_id
     and e.kind = case c.scope when 'org' then 'commit.published' else 'projection.moved' end
    where c.org_id = :org_id group by owner, c.commit_id, c.version having count(e.id) <> 1
    order by owner, c.version
""")
UNKNOWN = text("""
    select e.id, e.kind, e.resource_id, coalesce(e.project_id, '') as owner
    from events e
    left join commits c on c.org_id = e.org_id and c.commit_id = e.resource_id
    left join project_refs r on r.org_id = e.org_id and r.project_id = e.project_id
    where e.org_id = :org_id and e.kind in ('commit.published', 'projection.moved') and c.commit_id is null
      and (e.project_id is null or r.project_id is not null)
    order by e.id
""")
# By id: it is drawn under the coordination row, as the commit's version is.
DISORDERED = text("""
    select * from (
        select e.id, coalesce(e.project_id, '') as owner, e.resource_id, e.version,
               lag(e.version) over (partition by e.project_id order by e.id) as before
        from events e
        where e.org_id = :org_id and e.kind in ('commit.published', 'projection.moved')
    ) told where version < before order by id
""")
REVIEWS = text("""
    select coalesce(t.review_id, e.review_id) as review_id, coalesce(t.event, e.event) as event,
           coalesce(t.times, 0) as times, coalesce(e.times, 0) as told
    from (
        select review_id, event, count(*) as times from review_timeline
        where org_id = :org_id and event = any(:events) group by review_id, event
    ) t
    full join (
        select resource_id as review_id, substr(kind, 8) as event, count(*) as times from events
        where org_id = :org_id and resource_type = 'review' and substr(kind, 8) = any(:events)
        group by review_id, event
    ) e on e.review_id = t.review_id and e.event = t.event
    where coalesce(t.times, 0) <> coalesce(e.times, 0)
    order by 1, 2
""")

TOLD = (*AUDIT_ACTIONS, "draft_discarded")
"""The events of a timeline that followers are told of."""


def check_events(snapshot: Snapshot) -> Iterator[Finding]:
    """Every commit and every Review of the organization against its feed."""
    for row in snapshot.rows(COMMITS):
        where = f"commit {row['commit_id']}, version {row['version']} of {named(row['owner'])}"
        yield Finding("event.commit", "followers are not told of a commit once", where, "one event", str(row["told"]))
    for row in snapshot.rows(UNKNOWN):
        where = f"event {row['id']} of {named(row['owner'])}"
        yield Finding("event.commit", f"{row['kind']} tells of no commit", where, "a commit", shown(row["resource_id"]))
    for row in snapshot.rows(DISORDERED):
        where = f"event {row['id']} of commit {row['resource_id']} of {named(row['owner'])}"
        what = "commits are told of out of order"
        yield Finding("event.order", what, where, f"after version {row['before']}", f"version {row['version']}")
    for row in snapshot.rows(REVIEWS, events=list(TOLD)):
        where = f"{row['event']} of Review {row['review_id']}"
        what = "followers are not told of a Review as often as its timeline says"
        yield Finding("event.review", what, where, str(row["times"]), str(row["told"]))
