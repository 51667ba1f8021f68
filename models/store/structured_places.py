"""Which places of a scope hold memories, for those who see every one (memory.md §2)."""

import psycopg

from models.rules.visibility import Envelope, Place, Scope
from models.store.structured_visibility import WHOLE, visible_names

# From one id to the next by the key's index: an organization has many memories in few places.
OF_SCOPE = f"""
    with recursive held(scope_id) as (
        select min(m.scope_id) from structured_memories m where {WHOLE} and m.scope = %(scope)s
        union all
        select (select min(m.scope_id) from structured_memories m
                where {WHOLE} and m.scope = %(scope)s and m.scope_id > h.scope_id)
        from held h where h.scope_id is not null
    )
    select h.scope_id from held h where h.scope_id is not null
"""


def places_of_scope(connection: psycopg.Connection, envelope: Envelope, scope: Scope) -> list[Place]:
    """The places of a scope that hold memories, by id; the envelope has to be `whole`."""
    assert envelope.whole  # noqa: S101  (any other names its places itself)
    rows = connection.execute(OF_SCOPE, {**visible_names(envelope), "scope": scope})
    return [Place(scope, row[0]) for row in rows]
