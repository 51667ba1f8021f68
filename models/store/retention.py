"""What is past retention is removed: a bounded number of rows a statement, each safe to run again.

These statements serve the whole installation. They skip rows that somebody holds, and find them again the next time.
"""

from datetime import datetime

from sqlalchemy import Connection, text

from models.identifiers import OrganizationId
from models.store.idempotency import KEPT

KEYS = text("""
    with past as (
        select org_id, user_id, method, path, key from idempotency_keys
        where created_at < clock_timestamp() - cast(:kept as interval)
        order by created_at limit :limit for no key update skip locked
    )
    delete from idempotency_keys k using past p
    where k.org_id = p.org_id and k.user_id = p.user_id and k.method = p.method and k.path = p.path and k.key = p.key
""")
# An import's status is its operation's: what that was stays with the import.
OPERATIONS = text("""
    with past as (
        select org_id, operation_id from operations
        where status in ('succeeded', 'failed') and updated_at < :before
        order by updated_at limit :limit for no key update skip locked
    ),
    gone as (
        delete from operations o using past p where o.org_id = p.org_id and o.operation_id = p.operation_id
        returning o.org_id, o.operation_id, o.kind, o.status
    ),
    noted as (
        update imports i set outcome = g.status
        from gone g where g.kind = 'import.run' and i.org_id = g.org_id and i.operation_id = g.operation_id
    )
    select count(*) from gone
""")
# Made for a Draft that has changed or closed since, or followed by another one after the same Drafts: what moved in
# between does not move back. An open Draft has one alone and one after others, both live. What a rebase applied stays.
CANDIDATES = text("""
    with past as (
        select c.org_id, c.candidate_id from reconciliation_candidates c
        join drafts d on d.org_id = c.org_id and d.draft_id = c.draft_id
        where c.created_at < :before
          and (d.status in ('merged', 'discarded') or d.version <> c.draft_version or exists (
              select from reconciliation_candidates later
              where later.org_id = c.org_id and later.draft_id = c.draft_id
                and jsonb_path_query_array(later.siblings, '$[*].draft_id')
                    = jsonb_path_query_array(c.siblings, '$[*].draft_id')
                and (later.base_version, later.current_version, later.siblings, later.built_on, later.engine)
                    is distinct from (c.base_version, c.current_version, c.siblings, c.built_on, c.engine)
                and (later.current_version, later.base_version, later.created_at)
                    > (c.current_version, c.base_version, c.created_at)))
          and not exists (
              select from draft_revisions r
              where r.org_id = c.org_id and r.draft_id = c.draft_id and r.candidate_id = c.candidate_id)
        order by c.created_at limit :limit for no key update of c skip locked
    )
    delete from reconciliation_candidates c using past p
    where c.org_id = p.org_id and c.candidate_id = p.candidate_id
""")
IMPORTS = text("""
    with past as (
        select org_id, import_id from imports where operation_id is null and updated_at < :before
        order by updated_at limit :limit for no key update skip locked
    )
    delete from imports i using past p where i.org_id = p.org_id and i.import_id = p.import_id
""")
ORGANIZATIONS = text("""
    select org_id from organizations where org_id > :after order by org_id limit :limit
""")
# The feed is cut at its beginning, in its own order and up to the first event that is to stay: what is left is whole.
EVENTS = text("""
    with first as materialized (
        select id, xid, at, row_number() over (order by xid, id) as number
        from (
            select id, xid, at from events
            where org_id = :org_id and xid < pg_snapshot_xmin(pg_current_snapshot()) order by xid, id limit :limit
        ) e
    ),
    past as materialized (
        select id, xid, at from first
        where number < coalesce((select min(number) from first where at >= :before), :limit + 1)
    ),
    gone as (
        delete from events e using past p where e.org_id = :org_id and e.id = p.id returning e.id
    ),
    moved as (
        insert into feed_floors as f (org_id, xid, id, at)
        select :org_id, p.xid, p.id, (select max(at) from past) from past p order by p.xid desc, p.id desc limit 1
        on conflict (org_id) do update
        set xid = excluded.xid, id = excluded.id, at = greatest(f.at, excluded.at)
        where f.org_id = :org_id and (f.xid, f.id) < (excluded.xid, excluded.id)
    )
    select count(*) from gone
""")


def remove_keys(connection: Connection, *, limit: int) -> int:
    """Remove Idempotency-Keys that are not kept any longer; how many."""
    return connection.execute(KEYS, {"kept": KEPT, "limit": limit}).rowcount


def remove_operations(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove operations that ended before a time; how many. Their keys have to be gone before."""
    return int(connection.execute(OPERATIONS, {"before": before, "limit": limit}).scalar_one())


def remove_candidates(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove candidates from before a time that nobody can use any more; how many."""
    return connection.execute(CANDIDATES, {"before": before, "limit": limit}).rowcount


def remove_imports(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove imports that were never started, with all that is staged in them; how many."""
    return connection.execute(IMPORTS, {"before": before, "limit": limit}).rowcount


def organizations_after(connection: Connection, after: str, *, limit: int) -> list[OrganizationId]:
    """The next organizations, by id."""
    return list(connection.execute(ORGANIZATIONS, {"after": after, "limit": limit}).scalars())


def remove_events(connection: Connection, org_id: OrganizationId, *, before: datetime, limit: int) -> int:
    """Cut an organization's feed at its beginning, up to a time, and note where it begins now; how many events."""
    return int(connection.execute(EVENTS, {"org_id": org_id, "before": before, "limit": limit}).scalar_one())
