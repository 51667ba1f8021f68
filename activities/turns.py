"""A turn of an agent: the memories that matter to it, and perhaps a nudge, recorded together (memory.md §4, §5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from models.errors import JsonObject
from models.identifiers import new_injection_id
from models.memory_settings import MemorySettings
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.nudges import NUDGES, NudgeKind, Turn, TurnEvent, due_nudges
from models.rules.query_text import query_text
from models.store.injections import Given, NewInjection, Recorded, charge_nudge, record_injection
from models.store.locks import keep_access
from models.store.sessions import no_session, read_session_facts
from search.injection import Injected, inject
from search.memory_index import MemoryIndex
from search.relevance import ScoredMemory

DISABLED: JsonObject = {
    "block": "",
    "injection_id": None,
    "memories": [],
    "unavailable": [],
    "in_scope": 0,
    "enabled": False,
    "nudge": None,
    "index_revision": None,
    "project_commit_id": None,
}
"""The answer while the persona memory lever is off: nothing is read for it, and nothing recorded."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the agent tells of its turn: the texts of the user's messages so far, and how many memories it wants."""

    texts: Sequence[str]
    events: Sequence[TurnEvent] = ()
    k: int | None = None
    turn_id: str | None = None


def take_turn(
    connection: psycopg.Connection, index: MemoryIndex, session: SessionFacts, asked: Asked, settings: MemorySettings
) -> JsonObject:
    """What the turn is given, as the contract's answer; from the beginning where access was lost meanwhile.

    Args:
        connection: any connection; what is recorded commits at the end, or with the transaction that is open.
        index: of this process.
        session: what holds of it now.
        asked: by the agent.
        settings: how memories are injected.

    Raises:
        NotFound: the session was ended meanwhile.
        IndexNotReady: the index is being rebuilt, and the session sees too much to do without it.
    """
    if not session.memory_enabled:
        return DISABLED
    k = asked.k or settings.relevance_k
    envelope = session_envelope(session)
    injected = inject(connection, index, envelope, query_text(asked.texts), k=k, settings=settings)
    with connection.transaction():
        present = _still(connection, session, injected)
        if present == session:
            injection = _injection_of(session, injected, k=k, turn_id=asked.turn_id)
            recorded = _record(connection, session, injection, injected)
            turn = Turn(asked.texts, asked.events, injected.in_scope, session.read_only, recorded.resumes)
            nudge = _nudge(connection, session, turn, settings)
            return _document(injection, injected, recorded, nudge)
    return take_turn(connection, index, present, asked, settings)


def _still(connection: psycopg.Connection, session: SessionFacts, injected: Injected) -> SessionFacts:
    """What holds of the session now, where project memory is given away: until COMMIT nobody takes its access."""
    if session.project_id is None or all(memory.record.scope != "project" for memory in injected.memories):
        return session
    keep_access(connection, session.org_id, session.project_id)
    present = read_session_facts(connection, session.org_id, session.session_id)
    if present is None:
        raise no_session()
    return present


def _injection_of(session: SessionFacts, injected: Injected, *, k: int, turn_id: str | None) -> NewInjection:
    given = [
        Given(memory.record.memory_id, memory.record.revision, memory.score, "structured")
        for memory in injected.memories
    ]
    return NewInjection(
        new_injection_id(), session.session_id, turn_id, k, injected.in_scope, injected.index_revision, given
    )


def _record(
    connection: psycopg.Connection, session: SessionFacts, injection: NewInjection, injected: Injected
) -> Recorded:
    """Note the injection; the Ref of a project that cannot be read is not told."""
    is_lost = any(scope == "project" for scope, _ in injected.unavailable)
    project_id = None if is_lost else session.project_id
    return record_injection(connection, session.org_id, injection, project_id=project_id)


def _nudge(
    connection: psycopg.Connection, session: SessionFacts, turn: Turn, settings: MemorySettings
) -> NudgeKind | None:
    due = due_nudges(turn) if settings.nudges else []
    cooldown_s = settings.nudge_cooldown
    return charge_nudge(connection, session.org_id, session.session_id, due, cooldown_s=cooldown_s)


def _document(injection: NewInjection, injected: Injected, recorded: Recorded, nudge: NudgeKind | None) -> JsonObject:
    return {
        "block": injected.block,
        "injection_id": injection.injection_id,
        "memories": [_memory(memory) for memory in injected.memories],
        "unavailable": [{"scope": scope, "code": code} for scope, code in injected.unavailable],
        "in_scope": injected.in_scope,
        "enabled": True,
        "nudge": None if nudge is None else {"kind": nudge, "text": NUDGES[nudge]},
        "index_revision": injected.index_revision,
        "project_commit_id": recorded.project_commit_id,
    }


def _memory(memory: ScoredMemory) -> JsonObject:
    record = memory.record
    return {
        "memory_id": record.memory_id,
        "name": record.name,
        "scope": record.scope,
        "scope_id": record.scope_id,
        "type": record.type,
        "description": record.description,
        "content": record.content,
        "score": memory.score,
        "source": "structured",
        "revision": record.revision,
    }
