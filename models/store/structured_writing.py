"""What saving, deleting and restoring structured memories have in common: who may, who is told, what stays behind.

Who may write is asked again while it writes. In a project, the lock on its access is shared first and access read after
it (`models.store.locks`); in any other scope the statement holds the row of the scope's owner, whose deletion clears
the scope. Nothing calls NOTIFY, whose lock would have saves commit one after the other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

from models.errors import Forbidden, NotFound, PreconditionFailed, Problem
from models.identifiers import ProjectId, new_audit_event_id
from models.rules.envelopes import why_project_is_not_read, why_project_is_not_written
from models.rules.visibility import Envelope, Place, Scope
from models.store.events import NOBODY
from models.store.locks import keep_access
from models.store.structured import Actor
from models.store.structured_visibility import AT_PLACE, writable_names

Names = Mapping[str, object]

USER = "from users u where u.org_id = %(org_id)s and u.user_id = %(scope_id)s for key share"
OWNERS: Mapping[Scope, str] = {
    "global": """
        select null::text as owner_id from users u join organizations o on o.org_id = u.org_id
        where u.org_id = %(org_id)s and u.user_id = %(user_id)s
          and (%(whole)s or o.global_write = 'member' or u.role in ('owner', 'admin'))
        for key share of u
    """,
    "workstream": """
        select w.owner_id from workstreams w where w.org_id = %(org_id)s and w.workstream_id = %(scope_id)s
        for key share
    """,
    "user": f"select u.user_id as owner_id {USER}",
    "coordinator": f"select '{NOBODY}'::text as owner_id {USER}",
    "project": "select null::text as owner_id",
}
"""Who a scope belongs to, held until COMMIT, and who alone is told of what happens in it; no row where nobody may."""

AFTER_IT = "m.updated + interval '1 microsecond'"
"""The earliest time of the next version of a row `m`, so that no two have one, whatever the clock says."""

TRAIL = """
    history as (
        insert into structured_memory_revisions (org_id, scope, scope_id, name, revision, event, memory_id, type,
                                                 description, content, user_id, session_id, at)
        select c.org_id, c.scope, c.scope_id, c.name, c.revision, c.event, c.memory_id, c.type, c.description,
               c.kept_content, %(user_id)s, %(session_id)s, c.updated
        from told_of c
    ), audited as (
        insert into audit_events (org_id, event_id, at, actor, action, resource_type, resource_id, session_id,
                                  request_id, before_hash, after_hash, detail)
        select c.org_id, %(event_id)s, c.updated, %(user_id)s, c.action, 'structured_memory', c.memory_id,
               %(session_id)s, %(request_id)s, c.before_hash, c.after_hash,
               jsonb_build_object('name', c.name, 'scope', c.scope, 'scope_id', c.scope_id, 'type', c.type,
                                  'surface', %(surface)s::text)
        from told_of c
    ), told as (
        insert into events (org_id, kind, resource_type, resource_id, project_id, user_id, version, at)
        select c.org_id, c.kind, 'structured_memory', c.memory_id, case c.scope when 'project' then c.scope_id end,
               o.owner_id, c.revision, c.updated
        from told_of c, owner o
    )
"""
"""What every change leaves behind, of the one row that it `told_of`."""


ACCESS = """
    select p.state, m.role from projects p
    left join project_members m on m.org_id = p.org_id and m.project_id = p.project_id and m.user_id = %(user_id)s
    where p.org_id = %(org_id)s and p.project_id = %(scope_id)s
"""


@contextmanager
def access_kept(connection: psycopg.Connection, actor: Actor, envelope: Envelope, place: Place) -> Iterator[None]:
    """Around a write: in a project, access as it stays until COMMIT; elsewhere the statement itself sees to it."""
    if place.scope != "project":
        yield
        return
    with connection.transaction():
        project_id = ProjectId(place.scope_id)
        keep_access(connection, actor.org_id, project_id)
        if not envelope.whole:
            names = {"org_id": actor.org_id, "user_id": actor.user_id, "scope_id": project_id}
            state, role = connection.execute(ACCESS, names).fetchone() or (None, None)
            if problem := why_project_is_not_read(project_id, state, role) or why_project_is_not_written(role):
                raise problem
        yield


def names_of(actor: Actor, envelope: Envelope, place: Place, name: str) -> dict[str, object]:
    """The parameters that every write has.

    Raises:
        Problem: the envelope does not let the place be written.
    """
    return {
        **writable_names(envelope, place),
        "whole": envelope.whole,
        "name": name,
        "user_id": actor.user_id,
        "session_id": actor.session_id,
        "request_id": actor.request_id,
        "surface": actor.surface,
        "event_id": new_audit_event_id(),
    }


REVISION = f"""
    select m.revision from structured_memories m where {AT_PLACE} and m.name = %(name)s and m.deleted_at is null
"""


def present_revision(connection: psycopg.Connection, names: Names) -> int | None:
    """The revision of what stands at a name now; None where nothing does."""
    row = connection.execute(REVISION, names).fetchone()
    return None if row is None else int(row[0])


def stale(names: Names, actual: int | None) -> Problem:
    """The refusal of a write whose `if_match` is not the revision."""
    expected = names["if_match"]
    assert isinstance(expected, int)  # noqa: S101  (only a named revision can be stale)
    detail = "The memory has changed since you read it." if actual else f"Memory '{names['name']}' not found"
    return PreconditionFailed(detail, expected=expected, actual=actual)


def why_not_written(connection: psycopg.Connection, place: Place, names: Names) -> Problem | None:
    """Why the statement found no owner to write for; None if there is one."""
    return without_owner(place) if connection.execute(OWNERS[place.scope], names).fetchone() is None else None


def without_owner(place: Place) -> Problem:
    """The refusal of a write that found no owner of its scope."""
    if place.scope == "global":
        return Forbidden("Only owners and admins write global memories here.")
    return NotFound(f"There is no such {'workstream' if place.scope == 'workstream' else 'user'}.")
