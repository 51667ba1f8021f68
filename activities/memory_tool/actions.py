"""What each action does, within what the session sees now, and what it answers (memory.md §2, §3)."""

from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from activities.memory_tool.arguments import Command, Delete, Get, List, Save, Search
from activities.memory_tool.texts import (
    deleted_text,
    found_row,
    miss,
    record_text,
    refusal_text,
    row_line,
    rows_text,
    saved_text,
    with_other_places,
)
from models.errors import Forbidden, JsonObject, JsonValue, NotFound, Problem, ReadOnlySession
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.snippets import snippet
from models.rules.targets import Verb, inherited_scope, target_of
from models.rules.visibility import Envelope, Place, Scope
from models.store.sessions import read_session_facts
from models.store.structured import Actor, MemoryRecord, instant_of, read_memory, scopes_holding
from models.store.structured_pages import read_page
from models.store.structured_removals import delete_memory
from models.store.structured_saves import save_memory
from search.analysis import query_terms
from search.documents import Gone, Indexed, indexed
from search.memory_index import MemoryIndex
from search.relevance import find


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a call happens; `tell` has the index told of a change, once that is committed."""

    connection: psycopg.Connection
    index: MemoryIndex
    facts: SessionFacts
    envelope: Envelope
    actor: Actor
    tell: Callable[[Indexed | Gone], None]


@dataclass(frozen=True, slots=True)
class Said:
    """What a call came to: structured, and the same as text for the model."""

    structured: JsonObject
    text: str


def perform(scene: Scene, command: Command) -> Said:
    """Carry a call out.

    Raises:
        Problem: it is refused, or finds nothing; the detail says where else the name exists.
    """
    match command:
        case Save():
            return _save(scene, command)
        case Get():
            return _get(scene, command)
        case Delete():
            return _delete(scene, command)
        case Search():
            return _search(scene, command)
        case List():
            return _list(scene, command)


def _save(scene: Scene, command: Save) -> Said:
    name = command.input.name
    place = target(scene, command.scope, name, "write")
    try:
        saved = save_memory(scene.connection, scene.actor, scene.envelope, place, command.input)
    except Problem as problem:
        raise _pointing(scene, problem, name, place) from problem
    scene.tell(indexed(scene.envelope.org_id, saved.record))
    return Said(
        {"status": "created" if saved.created else "updated", "memory": saved.record.document(with_content=False)},
        saved_text(saved.record, created=saved.created),
    )


def _get(scene: Scene, command: Get) -> Said:
    place = target(scene, command.scope, command.name, "read")
    record = read_memory(scene.connection, scene.envelope, place, command.name)
    if record is None:
        raise _missing(scene, command.name, place)
    return Said({"memory": record.document()}, record_text(record))


def _delete(scene: Scene, command: Delete) -> Said:
    place = target(scene, command.scope, command.name, "write")
    try:
        record = delete_memory(scene.connection, scene.actor, scene.envelope, place, command.name)
    except NotFound as missing:
        raise _why_missing(scene, command, place) from missing
    except Problem as problem:
        raise _pointing(scene, problem, command.name, place) from problem
    scene.tell(Gone(scene.envelope.org_id, record.memory_id, record.revision))
    return Said({"status": "deleted", "name": record.name, "scope": record.scope}, deleted_text(record))


def _search(scene: Scene, command: Search) -> Said:
    places = _places(scene, command.scope)
    found = find(
        scene.connection,
        scene.index,
        scene.envelope,
        command.query,
        k=command.limit,
        type=command.type,
        places=places,
        count=True,
    )
    terms = query_terms(command.query)
    snippets = [snippet(hit.record.content, terms) for hit in found.memories]
    memories: list[JsonValue] = [
        {**_row(hit.record), "score": hit.score, "snippet": shown, "source": "structured"}
        for hit, shown in zip(found.memories, snippets, strict=True)
    ]
    rows = [found_row(hit.record, shown) for hit, shown in zip(found.memories, snippets, strict=True)]
    return _spanning({"memories": memories, "total": found.total}, rows, _unavailable(scene, command.scope))


def _list(scene: Scene, command: List) -> Said:
    places = _places(scene, command.scope)
    page = read_page(
        scene.connection,
        scene.envelope,
        places=places,
        asked=["session", scene.facts.session_id, command.scope],
        type=command.type,
        limit=command.limit,
        cursor=command.cursor,
    )
    memories: list[JsonValue] = [{**_row(record), "updated": instant_of(record.updated)} for record in page.memories]
    answered: JsonObject = {"memories": memories, "total": page.total, "next_cursor": page.next_cursor}
    return _spanning(answered, [row_line(record) for record in page.memories], _unavailable(scene, command.scope))


def target(scene: Scene, scope: Scope | None, name: str | None, verb: Verb) -> Place:
    """The one place that is meant.

    Raises:
        Problem: it cannot be read or written; the detail says where else the name exists, where there is one.
    """
    try:
        return target_of(scene.facts, scene.envelope, scope, verb)
    except Problem as problem:
        if name is None:
            raise
        meant = scene.envelope.place_of(scope or inherited_scope(scene.facts))
        raise _pointing(scene, problem, name, meant) from problem


def _places(scene: Scene, scope: Scope | None) -> tuple[Place, ...] | None:
    """The one place that a scope means; None for all that is visible."""
    return None if scope is None else (target_of(scene.facts, scene.envelope, scope, "read"),)


def _pointing(scene: Scene, problem: Problem, name: str, place: Place | None) -> Problem:
    """The problem, its detail saying where else the name exists; not where no other scope would help."""
    if isinstance(problem, ReadOnlySession):
        return problem
    told = refusal_text(name, problem.detail, _others(scene, name, place), forbids=isinstance(problem, Forbidden))
    return type(problem)(told, **problem.context)


def _missing(scene: Scene, name: str, place: Place) -> NotFound:
    return NotFound(with_other_places(miss(name, place.scope), _others(scene, name, place)))


def _others(scene: Scene, name: str, place: Place | None) -> list[Place]:
    return [other for other in scopes_holding(scene.connection, scene.envelope, name) if other != place]


def _why_missing(scene: Scene, command: Delete, place: Place) -> Problem:
    """Why the store found nothing to delete: access that ended meanwhile, or else that there is none."""
    facts = read_session_facts(scene.connection, scene.facts.org_id, scene.facts.session_id)
    if facts is not None:
        try:
            place = target_of(facts, session_envelope(facts), command.scope, "write")
        except Problem as problem:
            return _pointing(scene, problem, command.name, place)
    return _missing(scene, command.name, place)


def _unavailable(scene: Scene, scope: Scope | None) -> list[tuple[Scope, str]]:
    """The scopes that a call without one had to leave out, each with the problem's code."""
    return [] if scope else [(refused, problem.code) for refused, problem in scene.envelope.refused.items()]


def _spanning(structured: JsonObject, rows: list[str], unavailable: list[tuple[Scope, str]]) -> Said:
    left_out: list[JsonValue] = [{"scope": scope, "code": code} for scope, code in unavailable]
    return Said({**structured, "unavailable": left_out}, rows_text(rows, unavailable))


def _row(record: MemoryRecord) -> JsonObject:
    return {
        "type": record.type,
        "scope": record.scope,
        "name": record.name,
        "description": record.description,
    }
