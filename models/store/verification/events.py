"""Events: the change feed tells of each commit once and in order, and of each step of a Review.

Retention cuts the feed at its beginning: what happened later than the last event that was removed is told of in full.
"""

from collections.abc import Iterator

from sqlalchemy import text

from models.store.audit import AUDIT_ACTIONS
from models.store.verification.chains import named
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

KEPT_SINCE = """
    coalesce((select f.at from feed_floors f where f.org_id = :org_id), cast('-infinity' as timestamptz))
"""
"""The time since which an organization's feed is whole."""

COMMITS = text(f"""
    select coalesce(c.project_id, '') as owner, c.commit_id, c.version, count(e.id) as told
    from commits c
    left join events e
      on e.org_id = c.org_id and e.resource_id = c.commit_id and e.version = c.version
     and e.project_id is not distinct from c.project_id
     and e.user_id is null and e.kind = case c.scope when 'org' then 'commit.published' else 'projection.moved' end
    where c.org_id = :org_id and c.created_at > {KEPT_SINCE}
    group by owner, c.commit_id, c.version having count(e.id) <> 1
    order by owner, c.version
""")  # noqa: S608  (a constant of ours)
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
REVIEWS = text(f"""
    select coalesce(t.review_id, e.review_id) as review_id, coalesce(t.event, e.event) as event,
           coalesce(t.times, 0) as times, coalesce(e.times, 0) as told
    from (
        select review_id, event, count(*) as times from review_timeline
        where org_id = :org_id and event = any(:events) and at > {KEPT_SINCE} group by review_id, event
    ) t
    full join (
        select resource_id as review_id, substr(kind, 8) as event, count(*) as times from events
        where org_id = :org_id and resource_type = 'review' and substr(kind, 8) = any(:events)
          and at > {KEPT_SINCE}
        group by review_id, event
    ) e on e.review_id = t.review_id and e.event = t.event
    where coalesce(t.times, 0) <> coalesce(e.times, 0)
    order by 1, 2
""")  # noqa: S608  (a constant of ours)
# Drafts enter a Review and leave it in turns; one that is discarded need not have left it before.
DRAFTS = text(f"""
    select d.draft_id, d.status, coalesce(e.created, 0) as created, coalesce(e.merged, 0) as merged,
           coalesce(e.discarded, 0) as discarded, coalesce(e.entered, 0) as entered,
           coalesce(e.rebased, 0) as rebased, coalesce(v.revisions, 0) as revisions
    from drafts d
    left join (
        select resource_id, count(*) filter (where kind = 'draft.created') as created,
               count(*) filter (where kind = 'draft.merged') as merged,
               count(*) filter (where kind = 'draft.discarded') as discarded,
               count(*) filter (where kind = 'draft.rebased' and at > {KEPT_SINCE}) as rebased,
               count(*) filter (where kind = 'draft.submitted')
                   - count(*) filter (where kind = 'draft.reopened') as entered
        from events where org_id = :org_id and resource_type = 'draft' group by resource_id
    ) e on e.resource_id = d.draft_id
    left join (
        select draft_id, count(*) as revisions from draft_revisions
        where org_id = :org_id and created_at > {KEPT_SINCE} group by draft_id
    ) v on v.draft_id = d.draft_id
    where d.org_id = :org_id
      and (coalesce(e.created, 0) <> 1 and d.created_at > {KEPT_SINCE} or coalesce(e.created, 0) > 1
           or (coalesce(e.merged, 0), coalesce(e.discarded, 0))
                  <> (cast(d.status = 'merged' as integer), cast(d.status = 'discarded' as integer))
              and d.updated_at > {KEPT_SINCE}
           or coalesce(e.rebased, 0) <> coalesce(v.revisions, 0)
           or d.status <> 'discarded' and d.created_at > {KEPT_SINCE}
              and coalesce(e.entered, 0) <> cast(d.status in ('submitted', 'merged') as integer))
    order by d.draft_id
""")  # noqa: S608  (a constant of ours)
# Who may see an event, and which version of what it tells of.
ADDRESSES = text("""
    select e.id, e.kind, e.resource_id, x.resource_id is not null as kept
    from events e
    left join (
        select 'draft' as resource_type, draft_id as resource_id, project_id, author_id, version
        from drafts where org_id = :org_id
        union all
        select 'review', review_id, project_id, null, version from reviews where org_id = :org_id
    ) x on x.resource_type = e.resource_type and x.resource_id = e.resource_id
    where e.org_id = :org_id and e.resource_type in ('draft', 'review')
      and (x.resource_id is null or e.version > x.version
           or (e.project_id, e.user_id) is distinct from (x.project_id, x.author_id))
    order by e.id
""")
KINDS = text("""
    select id, kind, resource_type from events
    where org_id = :org_id and split_part(kind, '.', 1)
        <> case resource_type when 'commit' then case kind when 'projection.moved' then 'projection' else 'commit' end
                              when 'structured_memory' then 'memory' else resource_type end
    order by id
""")
# Readers stop below the oldest transaction that is open: what is ahead of all of them is seen by nobody.
AHEAD = text("""
    select id, cast(xid as text) as xid, cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as next from events
    where org_id = :org_id and xid >= pg_snapshot_xmax(pg_current_snapshot())
      and xid is distinct from pg_current_xact_id_if_assigned()
    order by id
""")

# What retention removed is gone up to a place in the feed's order.
BELOW_FLOOR = text("""
    select id, kind from events
    where org_id = :org_id and (xid, id) <= (select f.xid, f.id from feed_floors f where f.org_id = :org_id)
    order by id
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
    yield from _check_drafts(snapshot)
    for row in snapshot.rows(AHEAD):
        what = "no transaction has come so far, and nobody sees it"
        yield Finding("event.ahead", what, f"event {row['id']}", f"below {row['next']}", row["xid"])
    for row in snapshot.rows(BELOW_FLOOR):
        yield Finding("event.floor", "the feed begins after it", f"event {row['id']}", "nothing", row["kind"])


def _check_drafts(snapshot: Snapshot) -> Iterator[Finding]:
    for row in snapshot.rows(DRAFTS):
        what = f"followers are not told what became of it, which is {row['status']}"
        found = f"created {row['created']}, merged {row['merged']}, discarded {row['discarded']}"
        where, expected = f"Draft {row['draft_id']}", f"each step once, rebased {row['revisions']}"
        found = f"{found}, in a Review {row['entered']}, rebased {row['rebased']}"
        yield Finding("event.draft", what, where, expected, found)
    for row in snapshot.rows(ADDRESSES):
        where = f"event {row['id']}, {row['kind']} of {row['resource_id']}"
        what = "it is for others, or of a later version" if row["kept"] else "what it tells of is not there"
        yield Finding("event.address", what, where, "as its row says", "another")
    for row in snapshot.rows(KINDS):
        where = f"event {row['id']}"
        yield Finding("event.kind", "its kind is not of its resource", where, row["resource_type"], shown(row["kind"]))
