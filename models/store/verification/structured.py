"""Structured memories: each belongs to somebody, stands as its history says, and was told and audited step by step.

The scope of what is cleared goes with its history; events and audit of that stay, and are compared with nothing.
"""

from collections.abc import Iterator

from sqlalchemy import RowMapping, text

from models.rules.structured_fields import normalize_name, record_hash
from models.store.events import NOBODY
from models.store.verification.events import KEPT_SINCE
from models.store.verification.findings import Finding, shown
from models.store.verification.snapshot import Snapshot

OWNERS = text("""
    select m.scope, m.scope_id, m.name
    from structured_memories m
    left join (
        select 'user' as scope, user_id as id from users where org_id = :org_id
        union all
        select 'coordinator', user_id from users where org_id = :org_id
        union all
        select 'workstream', workstream_id from workstreams where org_id = :org_id
        union all
        select 'project', project_id from projects where org_id = :org_id and state <> 'deleted'
    ) o on o.scope = m.scope and o.id = m.scope_id
    where m.org_id = :org_id and m.scope <> 'global' and o.id is null
    order by m.scope, m.scope_id, m.name
""")
HISTORIES = text("""
    select m.scope, m.scope_id, m.name, m.revision, coalesce(h.versions, 0) as versions, h.first, h.last
    from structured_memories m
    left join (
        select scope, scope_id, name, count(*) as versions, min(revision) as first, max(revision) as last
        from structured_memory_revisions where org_id = :org_id group by scope, scope_id, name
    ) h on h.scope = m.scope and h.scope_id = m.scope_id and h.name = m.name
    where m.org_id = :org_id and (h.versions, h.first, h.last) is distinct from (m.revision, 1, m.revision)
    order by m.scope, m.scope_id, m.name
""")
LATEST = text("""
    select m.scope, m.scope_id, m.name, m.revision
    from structured_memories m
    join structured_memory_revisions r
      on r.org_id = m.org_id and r.scope = m.scope and r.scope_id = m.scope_id and r.name = m.name
     and r.revision = m.revision
    where m.org_id = :org_id
      and ((r.memory_id, r.type, r.content, r.at, r.user_id)
               is distinct from (m.memory_id, m.type, m.content, m.updated, m.updated_by)
           or (r.event = 'deleted') <> (m.deleted_at is not null) or m.deleted_at <> m.updated
           or m.deleted_at is null and r.description <> m.description)
    order by m.scope, m.scope_id, m.name
""")
# What follows a gap follows nothing that is known.
STEPS = text("""
    select scope, scope_id, name, revision, event, before_event from (
        select r.*, lag(r.revision) over w as before, lag(r.event) over w as before_event,
               lag(r.memory_id) over w as before_id, lag(r.at) over w as before_at
        from structured_memory_revisions r where r.org_id = :org_id
        window w as (partition by r.scope, r.scope_id, r.name order by r.revision)
    ) step
    where revision = 1 and event <> 'created'
       or before = revision - 1 and (
           at < before_at or (event = 'created') <> (memory_id <> before_id)
           or (event in ('created', 'restored')) <> (before_event = 'deleted')
       )
    order by scope, scope_id, name, revision
""")
ORIGINS = text("""
    select m.scope, m.scope_id, m.name, m.memory_id
    from structured_memories m
    join structured_memory_revisions r
      on r.org_id = m.org_id and r.scope = m.scope and r.scope_id = m.scope_id and r.name = m.name
     and r.memory_id = m.memory_id and r.event = 'created'
    where m.org_id = :org_id and (r.at, r.user_id) <> (m.created, m.created_by)
    order by m.scope, m.scope_id, m.name
""")
# A deleted one keeps the hash of what it was.
TEXTS = text("""
    select m.scope, m.scope_id, m.name, m.content_hash,
           case when m.deleted_at is null then m.type else r.type end as type,
           case when m.deleted_at is null then m.description else r.description end as description,
           case when m.deleted_at is null then m.content else r.content end as content
    from structured_memories m
    left join structured_memory_revisions r
      on r.org_id = m.org_id and r.scope = m.scope and r.scope_id = m.scope_id and r.name = m.name
     and r.revision = m.revision - 1
    where m.org_id = :org_id
    order by m.scope, m.scope_id, m.name
""")
TOLD = text(f"""
    select r.scope, r.scope_id, r.name, r.revision, r.event, count(e.id) as times
    from structured_memory_revisions r
    left join workstreams w on w.org_id = r.org_id and r.scope = 'workstream' and w.workstream_id = r.scope_id
    left join events e
      on e.org_id = r.org_id and e.resource_type = 'structured_memory' and e.resource_id = r.memory_id
     and e.version = r.revision
     and e.kind = case r.event when 'deleted' then 'memory.deleted' when 'restored' then 'memory.restored'
                               else 'memory.saved' end
     and e.project_id is not distinct from case r.scope when 'project' then r.scope_id end
     and e.user_id is not distinct from case r.scope when 'user' then r.scope_id when 'workstream' then w.owner_id
                                                     when 'coordinator' then '{NOBODY}' end
    where r.org_id = :org_id and r.at > {KEPT_SINCE}
    group by r.scope, r.scope_id, r.name, r.revision, r.event having count(e.id) <> 1
    order by r.scope, r.scope_id, r.name, r.revision
""")  # noqa: S608  (constants of ours)
# Versions that nothing tells apart, of one moment, are audited as often as there are of them.
AUDITED = text("""
    select r.scope, r.scope_id, r.name, r.revision, r.event, r.versions, coalesce(a.times, 0) as times
    from (
        select scope, scope_id, name, revision, event, memory_id, user_id, session_id, at,
               count(*) over (partition by memory_id, event, at, user_id, session_id) as versions
        from structured_memory_revisions where org_id = :org_id
    ) r
    left join (
        select resource_id, action, at, actor, session_id, count(*) as times
        from audit_events where org_id = :org_id and resource_type = 'structured_memory'
        group by resource_id, action, at, actor, session_id
    ) a
      on a.resource_id = r.memory_id and a.at = r.at and a.actor = r.user_id
     and a.session_id is not distinct from r.session_id
     and a.action = case r.event when 'created' then 'memory.save' when 'updated' then 'memory.update'
                                 when 'deleted' then 'memory.delete' else 'memory.restore' end
    where coalesce(a.times, 0) <> r.versions
    order by r.scope, r.scope_id, r.name, r.revision
""")

INJECTED = text("""
    select i.injection_id, i.memory_id
    from injected_memories i
    left join (
        select distinct memory_id from structured_memory_revisions where org_id = :org_id
    ) r on r.memory_id = i.memory_id
    where i.org_id = :org_id and i.source = 'structured' and r.memory_id is null
    order by i.injection_id, i.memory_id
""")


def check_structured(snapshot: Snapshot) -> Iterator[Finding]:
    """Every structured memory of the organization against its owner, its history, its feed and its audit trail."""
    for row in snapshot.rows(OWNERS):
        yield Finding("structured.owner", "nobody has this scope", _where(row), f"a {row['scope']}", "nothing")
    for row in snapshot.rows(HISTORIES):
        found = f"{row['versions']}, from {shown(row['first'])} to {shown(row['last'])}"
        what, expected = "its history has gaps", f"revisions 1 to {row['revision']}"
        yield Finding("structured.history", what, _where(row), expected, found)
    for row in snapshot.rows(LATEST):
        what = "it is not what its history ends with"
        yield Finding("structured.latest", what, _where(row), f"revision {row['revision']}", "another")
    for row in snapshot.rows(STEPS):
        where = f"revision {row['revision']} of {_where(row)}"
        found = f"{row['event']} after {shown(row['before_event'])}"
        yield Finding("structured.step", "what happened cannot follow what was before", where, "a step", found)
    for row in snapshot.rows(ORIGINS):
        what = "it was created by somebody else, or at another time"
        yield Finding("structured.origin", what, _where(row), "as its history says", "another")
    for row in snapshot.rows(TEXTS):
        yield from _check_text(row)
    yield from _check_trails(snapshot)


def _check_text(row: RowMapping) -> Iterator[Finding]:
    if normalize_name(row["name"]) != row["name"]:
        expected = shown(normalize_name(row["name"]))
        yield Finding("structured.name", "no look-up finds its name", _where(row), expected, shown(row["name"]))
    if row["content"] is None:  # there is no history to hash
        return
    fields = {field: row[field] for field in ("type", "name", "description", "content")}
    if (hashed := record_hash(**fields)) != row["content_hash"]:
        what = "its hash is not that of its text"
        yield Finding("structured.hash", what, _where(row), hashed, shown(row["content_hash"]))


def _check_trails(snapshot: Snapshot) -> Iterator[Finding]:
    for row in snapshot.rows(TOLD):
        where = f"{row['event']}, revision {row['revision']} of {_where(row)}"
        what = "those who may know are not told of it once"
        yield Finding("structured.told", what, where, "one event", str(row["times"]))
    for row in snapshot.rows(AUDITED):
        where = f"{row['event']}, revision {row['revision']} of {_where(row)}"
        what = "the audit trail does not name it once, by the same person at the same time"
        yield Finding("structured.audit", what, where, str(row["versions"]), str(row["times"]))
    for row in snapshot.rows(INJECTED):
        where = f"memory {row['memory_id']} of injection {row['injection_id']}"
        yield Finding("structured.injection", "it was cleared, and this was not", where, "nothing", "a record")


def _where(row: RowMapping) -> str:
    scope = row["scope"] if row["scope"] == "global" else f"{row['scope']} {row['scope_id']}"
    return f"memory {shown(row['name'])} of {scope}"
