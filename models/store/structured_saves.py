"""Saving a structured memory: one statement with its history, audit and event (memory.md §1).

A deleted identity keeps its row, without its texts, so that concurrent saves of one name always meet at one row and its
revision goes on. A save has created exactly when the row has the id that it proposed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from models.errors import PreconditionFailed, Problem
from models.identifiers import new_structured_memory_id
from models.rules.structured_fields import MemoryInput
from models.rules.visibility import Envelope, Place, Scope
from models.store.structured import Actor, MemoryRecord
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
    without_owner,
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save made of its identity: the record now, and whether it was created."""

    record: MemoryRecord
    created: bool


def _hash(type_: str, description: str = "%(description)s", content: str = "%(content)s") -> str:
    """`models.rules.structured_fields.record_hash` of a type that only the row knows."""
    text = f"concat_ws(chr(10), {type_}, %(name)s::text, {description}::text, {content}::text)"
    return f"'sha256:' || encode(sha256(convert_to({text}, 'UTF8')), 'hex')"


NEW_TYPE = "coalesce(%(type)s::text, 'general')"
KEPT_TYPE = "coalesce(%(type)s::text, case when m.deleted_at is null then m.type else 'general' end)"

SAVE: Mapping[Scope, str] = {
    scope: f"""
    with owner as materialized ({owner}), changed as (
        insert into structured_memories as m (org_id, scope, scope_id, name, memory_id, type, description, content,
                                              created, updated, revision, created_by, updated_by, content_hash)
        select %(org_id)s, %(scope)s, %(scope_id)s, %(name)s, %(memory_id)s, {NEW_TYPE}, %(description)s, %(content)s,
               o.now, o.now, 1, %(user_id)s, %(user_id)s, {_hash(NEW_TYPE)}
        from (select clock_timestamp() as now from owner) o
        where %(if_match)s::bigint is null or exists (
            select from structured_memories m where {AT_PLACE} and m.name = %(name)s and m.deleted_at is null
        )
        on conflict (org_id, scope, scope_id, name) do update
        set memory_id = case when m.deleted_at is null then m.memory_id else excluded.memory_id end,
            type = {KEPT_TYPE},
            description = excluded.description,
            content = excluded.content,
            created = case when m.deleted_at is null then m.created else greatest(excluded.updated, {AFTER_IT}) end,
            updated = case when m.deleted_at is null then greatest(clock_timestamp(), {AFTER_IT})
                           else greatest(excluded.updated, {AFTER_IT}) end,
            revision = m.revision + 1,
            created_by = case when m.deleted_at is null then m.created_by else excluded.created_by end,
            updated_by = excluded.updated_by,
            published_memory_id = case when m.deleted_at is null then m.published_memory_id end,
            content_hash = {_hash(KEPT_TYPE)},
            replaced_hash = case when m.deleted_at is null then m.content_hash end,
            deleted_at = null
        where (%(if_match)s::bigint is null or m.deleted_at is null and m.revision = %(if_match)s)
          and (not %(must_be_new)s or m.deleted_at is not null)
        returning m.*
    ), told_of as (
        select c.*, c.content as kept_content, c.replaced_hash as before_hash, c.content_hash as after_hash,
               'memory.saved' as kind, case c.memory_id when %(memory_id)s then 'created' else 'updated' end as event,
               case c.memory_id when %(memory_id)s then 'memory.save' else 'memory.update' end as action
        from changed c
    ), {TRAIL}
    select memory_id, type, created, updated, revision, created_by, published_memory_id from changed
    """
    for scope, owner in OWNERS.items()
}


def save_memory(
    connection: psycopg.Connection,
    actor: Actor,
    envelope: Envelope,
    place: Place,
    proposed: MemoryInput,
    *,
    if_match: int | None = None,
    must_be_new: bool = False,
) -> Saved:
    """Create a memory of this name in a place, or update the one that is there.

    Args:
        connection: in an open transaction, or one that commits each statement.
        actor: who saves.
        envelope: what they see and may write.
        place: where.
        proposed: what; its fields keep the rules of `models.rules.structured_fields`.
        if_match: the revision that is to be replaced.
        must_be_new: whether a memory of this name may not be there yet.

    Raises:
        NotFound: the project, workstream or user of the scope is gone.
        Forbidden: the place is not written by them, or not any more.
        ReadOnlySession, ProjectArchived, MemoryDisabled: as the envelope says.
        PreconditionFailed: `if_match` is not the revision, or there is none; or one is there that must be new.
    """
    memory_id = new_structured_memory_id()
    names = {
        **names_of(actor, envelope, place, proposed.name),
        "memory_id": memory_id,
        "type": proposed.type,
        "description": proposed.description,
        "content": proposed.content,
        "if_match": if_match,
        "must_be_new": must_be_new,
    }
    with access_kept(connection, actor, envelope, place):
        row = connection.execute(SAVE[place.scope], names).fetchone()
        if row is None:
            raise _why_not_saved(connection, place, names)
    saved_id, type_, created, updated, revision, created_by, published = row
    record = MemoryRecord(
        memory_id=saved_id,
        name=proposed.name,
        description=proposed.description,
        content=proposed.content,
        type=type_,
        scope=place.scope,
        scope_id=place.scope_id,
        created=created,
        updated=updated,
        revision=revision,
        created_by=created_by,
        updated_by=actor.user_id,
        published_memory_id=published,
    )
    return Saved(record, created=saved_id == memory_id)


def _why_not_saved(connection: psycopg.Connection, place: Place, names: Names) -> Problem:
    """What kept the statement from writing; what is there now may be another state already."""
    if problem := why_not_written(connection, place, names):
        return problem
    actual = present_revision(connection, names)
    if names["must_be_new"]:
        return PreconditionFailed(f"Memory '{names['name']}' exists.", expected=None, actual=actual)
    return without_owner(place) if names["if_match"] is None else stale(names, actual)
