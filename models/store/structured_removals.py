"""Deleting structured memories and bringing them back, each with its history, audit and event (memory.md §1, §8)."""

from collections.abc import Mapping

import psycopg

from models.errors import AlreadyExists, NotFound, Problem
from models.rules.visibility import Envelope, Place, Scope
from models.store.structured import RECORD, Actor, MemoryRecord
from models.store.structured_visibility import AT_PLACE
from models.store.structured_writing import (
    AFTER_IT,
    OWNERS,
    TRAIL,
    Names,
    access_kept,
    names_of,
    present_revision,
    stale,
    why_not_written,
)

DELETE: Mapping[Scope, str] = {
    scope: f"""
    with owner as materialized ({owner}), before as materialized (
        select m.*, greatest(clock_timestamp(), {AFTER_IT}) as now from owner, structured_memories m
        where {AT_PLACE} and m.name = %(name)s and m.deleted_at is null
          and (%(memory_id)s::text is null or m.memory_id = %(memory_id)s)
          and (%(if_match)s::bigint is null or m.revision = %(if_match)s)
        for no key update of m
    ), changed as (
        update structured_memories m
        set content = null, description = '', deleted_at = b.now, updated = b.now, updated_by = %(user_id)s,
            revision = b.revision + 1, replaced_hash = b.content_hash
        from before b
        where {AT_PLACE} and m.name = b.name
        returning m.org_id, m.revision, m.updated
    ), told_of as (
        select b.org_id, b.scope, b.scope_id, b.name, b.memory_id, b.type, b.description, c.revision, c.updated,
               null::text as kept_content, b.content_hash as before_hash, null::text as after_hash,
               'memory.deleted' as kind, 'deleted' as event, 'memory.delete' as action
        from before b, changed c
    ), {TRAIL}
    select b.memory_id, b.name, b.description, b.content, b.type, b.scope, b.scope_id, b.created, c.updated,
           c.revision, b.created_by, %(user_id)s::text, b.published_memory_id
    from before b, changed c
    """
    for scope, owner in OWNERS.items()
}


def delete_memory(
    connection: psycopg.Connection,
    actor: Actor,
    envelope: Envelope,
    place: Place,
    name: str,
    *,
    if_match: int | None = None,
    memory_id: str | None = None,
) -> MemoryRecord:
    """Delete the memory of a normalized name in a place; its history stays.

    Args:
        connection: in an open transaction, or one that commits each statement.
        actor: who deletes.
        envelope: what they see and may write.
        place: where.
        name: which.
        if_match: the revision that is to be deleted.
        memory_id: delete no other than this one, which may have gone and come again under its name.

    Returns:
        The record with the texts that it had; `revision` and `updated` are those of the deletion.

    Raises:
        NotFound: there is none, or the project, workstream or user of the scope is gone.
        Forbidden: the place is not written by them, or not any more.
        ReadOnlySession, ProjectArchived, MemoryDisabled: as the envelope says.
        PreconditionFailed: `if_match` is not the revision.
    """
    names = {**names_of(actor, envelope, place, name), "if_match": if_match, "memory_id": memory_id}
    with access_kept(connection, actor, envelope, place):
        row = connection.execute(DELETE[place.scope], names).fetchone()
        if row is None:
            raise _why_not_deleted(connection, place, names)
    return MemoryRecord(*row)


LOCK: Mapping[Scope, str] = {
    scope: f"""
    with owner as materialized ({owner})
    select m.deleted_at is not null from owner, structured_memories m where {AT_PLACE} and m.name = %(name)s
    for no key update of m
    """
    for scope, owner in OWNERS.items()
}
RESTORE: Mapping[Scope, str] = {
    scope: f"""
    with owner as materialized ({owner}), changed as (
        update structured_memories m
        set content = r.content, description = r.description, type = r.type, deleted_at = null,
            updated = greatest(clock_timestamp(), {AFTER_IT}), updated_by = %(user_id)s, revision = m.revision + 1,
            replaced_hash = null
        from owner, structured_memory_revisions r
        where {AT_PLACE} and m.name = %(name)s and m.deleted_at is not null
          and r.org_id = m.org_id and r.scope = m.scope and r.scope_id = m.scope_id and r.name = m.name
          and r.revision = m.revision - 1
        returning m.*
    ), told_of as (
        select c.*, c.content as kept_content, null::text as before_hash, c.content_hash as after_hash,
               'memory.restored' as kind, 'restored' as event, 'memory.restore' as action
        from changed c
    ), {TRAIL}
    select {RECORD} from changed m
    """
    for scope, owner in OWNERS.items()
}


def restore_memory(
    connection: psycopg.Connection, actor: Actor, envelope: Envelope, place: Place, name: str
) -> MemoryRecord:
    """Bring back the memory of a normalized name that was deleted last in a place, as it was, with its id.

    Raises:
        NotFound: none was deleted here, or the project, workstream or user of the scope is gone.
        Forbidden: the place is not written by them, or not any more.
        ReadOnlySession, ProjectArchived, MemoryDisabled: as the envelope says.
        AlreadyExists: there is one of this name.
    """
    names = names_of(actor, envelope, place, name)
    with connection.transaction(), access_kept(connection, actor, envelope, place):
        locked = connection.execute(LOCK[place.scope], names).fetchone()
        if locked == (False,):
            raise AlreadyExists(f"Memory '{name}' was not deleted.")
        row = None if locked is None else connection.execute(RESTORE[place.scope], names).fetchone()
        if row is None:
            raise _why_not_deleted(connection, place, names)
    return MemoryRecord(*row)


def _why_not_deleted(connection: psycopg.Connection, place: Place, names: Names) -> Problem:
    if problem := why_not_written(connection, place, names):
        return problem
    actual = present_revision(connection, names)
    if actual is not None and names.get("if_match") not in (None, actual):
        return stale(names, actual)
    return NotFound(f"Memory '{names['name']}' not found")
