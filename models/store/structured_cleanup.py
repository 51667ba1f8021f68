"""The end of a whole scope, with its user, workstream or project (memory.md §8)."""

from collections.abc import Sequence

import psycopg

from models.identifiers import OrganizationId, new_audit_event_id
from models.rules.visibility import Scope
from models.store.events import NOBODY
from models.store.structured import Actor

HELD = """
    select distinct m.scope_id from structured_memories m
    where m.org_id = %(org_id)s and m.scope = %(scope)s and m.scope_id = any(%(scope_ids)s::text[])
"""
PRESENT = """
    select count(*) from structured_memories m
    where m.org_id = %(org_id)s and m.scope = %(scope)s and m.scope_id = %(scope_id)s and m.deleted_at is null
"""
CLEAR = """
    with known as (
        select distinct r.memory_id from structured_memory_revisions r
        where r.org_id = %(org_id)s and r.scope = %(scope)s and r.scope_id = %(scope_id)s
    ), forgotten as (
        delete from injected_memories i using known k where i.org_id = %(org_id)s and i.memory_id = k.memory_id
    ), gone as (
        delete from structured_memories m
        where m.org_id = %(org_id)s and m.scope = %(scope)s and m.scope_id = %(scope_id)s
        returning m.*
    ), told_of as (
        select g.*, e.event_id, clock_timestamp() as now
        from (select *, row_number() over (order by memory_id) as number from gone where deleted_at is null) g
        join unnest(%(event_ids)s::text[]) with ordinality as e(event_id, number) on e.number = g.number
    ), audited as (
        insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, session_id,
                                  request_id, before_hash, after_hash, detail)
        select c.org_id, c.event_id, c.now, %(user_id)s, 'memory.delete', 'structured_memory', c.memory_id,
               %(session_id)s, %(request_id)s, c.content_hash, null,
               jsonb_build_object('name', c.name, 'scope', c.scope, 'scope_id', c.scope_id, 'type', c.type,
                                  'surface', %(surface)s::text)
        from told_of c
    ), told as (
        insert into events (org_id, kind, resource_type, resource_id, project_id, user_id, version, at)
        select c.org_id, 'memory.deleted', 'structured_memory', c.memory_id, null, %(nobody)s, c.revision + 1, c.now
        from told_of c
    )
    select count(*) from told_of
"""


def clear_memories(connection: psycopg.Connection, actor: Actor, *, scope: Scope, scope_id: str) -> int:
    """Remove a scope's memories, their history and the records of their injections; audited and told one by one.

    Whoever calls holds the scope's owner by a lock that saves wait for (`models.store.locks`), and removes it next: so
    the events are told to followers of the index alone, and to nobody who could no longer ask for the scope.

    Returns:
        How many memories there were.
    """
    names: dict[str, object] = {"org_id": actor.org_id, "scope": scope, "scope_id": scope_id}
    row = connection.execute(PRESENT, names).fetchone()
    present = 0 if row is None else int(row[0])
    told = {
        "user_id": actor.user_id,
        "session_id": actor.session_id,
        "request_id": actor.request_id,
        "surface": actor.surface,
        "nobody": NOBODY,
        "event_ids": [new_audit_event_id() for _ in range(present)],
    }
    connection.execute(CLEAR, {**names, **told})
    return present


def scopes_to_clear(
    connection: psycopg.Connection, org_id: OrganizationId, *, scope: Scope, scope_ids: Sequence[str]
) -> list[str]:
    """Those of many scopes that `clear_memories` would find anything in, deleted memories included; in order."""
    names = {"org_id": org_id, "scope": scope, "scope_ids": [*scope_ids]}
    return sorted(str(row[0]) for row in connection.execute(HELD, names))
