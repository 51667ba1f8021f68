"""That turns were given memories, and when which nudge was: ids and numbers, never contents or queries (memory.md §4).

Recording is a part of each turn, so it speaks psycopg itself, as `models.store.structured` does.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import psycopg
from sqlalchemy import Connection, text

from models.identifiers import CommitId, InjectionId, OrganizationId, ProjectId, SessionId
from models.rules.nudges import NudgeKind
from models.store.sessions import no_session


@dataclass(frozen=True, slots=True)
class Given:
    """A memory that a turn was given, as the version that it was."""

    memory_id: str
    revision: int
    score: float
    source: str


@dataclass(frozen=True, slots=True)
class NewInjection:
    """A turn's injection, its memories in the order of the block."""

    injection_id: InjectionId
    session_id: SessionId
    turn_id: str | None
    k: int
    in_scope: int
    index_revision: int
    memories: Sequence[Given]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What else the turn's transaction found: whether it resumes earlier work, and where its project stands."""

    resumes: bool
    project_commit_id: CommitId | None


@dataclass(frozen=True, slots=True)
class StoredInjection:
    """An injection as it was recorded."""

    injection_id: InjectionId
    turn_id: str | None
    at: datetime
    k: int
    in_scope: int
    index_revision: int
    memories: list[Given]


# The session is held, so that its deletion waits and takes this injection along.
RECORD = """
    with session as (
        select s.context_at is null as is_first from sessions s
        where s.org_id = %(org_id)s and s.session_id = %(session_id)s for key share
    ), injection as (
        insert into injections (org_id, injection_id, session_id, turn_id, at, k, in_scope, index_revision)
        select %(org_id)s, %(injection_id)s, %(session_id)s, %(turn_id)s, statement_timestamp(), %(k)s, %(in_scope)s,
               %(index_revision)s
        from session
        returning injection_id
    ), given as (
        insert into injected_memories (org_id, injection_id, position, memory_id, revision, score, source)
        select %(org_id)s, i.injection_id, g.position, g.memory_id, g.revision, g.score, g.source
        from injection i, unnest(%(memory_ids)s::text[], %(revisions)s::integer[], %(scores)s::float8[],
                                 %(sources)s::text[])
            with ordinality as g(memory_id, revision, score, source, position)
    )
    select is_first, (
        select r.commit_id from project_refs r where r.org_id = %(org_id)s and r.project_id = %(project_id)s
    )
    from session
"""
BEGIN = """
    update sessions set context_at = statement_timestamp()
    where org_id = %(org_id)s and session_id = %(session_id)s and context_at is null returning resumes
"""
CHARGE = """
    insert into nudges as n (org_id, session_id, kind, at)
    values (%(org_id)s, %(session_id)s, %(kind)s, statement_timestamp())
    on conflict (org_id, session_id, kind) do update set at = excluded.at
    where n.at <= excluded.at - make_interval(secs => %(cooldown_s)s)
    returning kind
"""
LIST = text("""
    select injection_id, turn_id, at, k, in_scope, index_revision from injections
    where org_id = :org_id and session_id = :session_id
      and (cast(:after as text) is null or injection_id < :after)
    order by injection_id desc limit :limit
""")
GIVEN = text("""
    select injection_id, memory_id, revision, score, source from injected_memories
    where org_id = :org_id and injection_id = any(:injection_ids) order by injection_id, position
""")


def record_injection(
    connection: psycopg.Connection, org_id: OrganizationId, injection: NewInjection, *, project_id: ProjectId | None
) -> Recorded:
    """Note what a turn was given, within a transaction.

    Args:
        connection: in a transaction.
        org_id: the organization.
        injection: what the turn was given.
        project_id: the attached project, where its Ref is to be told.

    Raises:
        NotFound: the session was ended meanwhile.
    """
    names = {
        "org_id": org_id,
        "session_id": injection.session_id,
        "injection_id": injection.injection_id,
        "turn_id": injection.turn_id,
        "k": injection.k,
        "in_scope": injection.in_scope,
        "index_revision": injection.index_revision,
        "memory_ids": [given.memory_id for given in injection.memories],
        "revisions": [given.revision for given in injection.memories],
        "scores": [given.score for given in injection.memories],
        "sources": [given.source for given in injection.memories],
        "project_id": project_id,
    }
    row = connection.execute(RECORD, names).fetchone()
    if row is None:
        raise no_session()
    is_first, commit_id = row
    return Recorded(is_first and _begins_resumed(connection, org_id, injection.session_id), commit_id)


def _begins_resumed(connection: psycopg.Connection, org_id: OrganizationId, session_id: SessionId) -> bool:
    """Whether this is the first turn of a session that resumes work: of two first turns at once, one is."""
    row = connection.execute(BEGIN, {"org_id": org_id, "session_id": session_id}).fetchone()
    return row is not None and bool(row[0])


def charge_nudge(
    connection: psycopg.Connection,
    org_id: OrganizationId,
    session_id: SessionId,
    kinds: Sequence[NudgeKind],
    *,
    cooldown_s: float,
) -> NudgeKind | None:
    """The first of the kinds that is not in cooldown, which it is from now on; within the answer's transaction.

    Each attempt holds the kind's row until COMMIT, so of two at once one gets it. All ask in the order of priority, so
    none waits for another in a circle.
    """
    for kind in kinds:
        names = {"org_id": org_id, "session_id": session_id, "kind": kind, "cooldown_s": cooldown_s}
        if connection.execute(CHARGE, names).fetchone() is not None:
            return kind
    return None


def list_injections(
    connection: Connection, org_id: OrganizationId, session_id: SessionId, *, after: str | None, limit: int
) -> list[StoredInjection]:
    """A session's injections, newest first, those behind an id."""
    names = {"org_id": org_id, "session_id": session_id, "after": after, "limit": limit}
    rows = list(connection.execute(LIST, names))
    given = defaultdict[str, list[Given]](list)
    for row in connection.execute(GIVEN, {"org_id": org_id, "injection_ids": [row.injection_id for row in rows]}):
        given[row.injection_id].append(Given(row.memory_id, row.revision, row.score, row.source))
    return [
        StoredInjection(
            row.injection_id, row.turn_id, row.at, row.k, row.in_scope, row.index_revision, given[row.injection_id]
        )
        for row in rows
    ]
