"""The tool as every way in calls it; it knows nothing of HTTP (memory.md §3).

A process has one, with its connections and its index. `call` and `definition` find the session themselves; a way in
that has found it already uses `answer_call`, or its two steps where it judges the arguments in between.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import psycopg

from activities.memory_tool.actions import Said, Scene, perform
from activities.memory_tool.arguments import Command, Delete, Save, read_arguments
from activities.memory_tool.definition import definition
from activities.memory_tool.precedence import require_target
from activities.memory_tool.storage import stored
from models.connections import Connections
from models.errors import InvalidRequest, JsonObject, JsonValue, MemoryDisabled, Problem
from models.identifiers import OrganizationId, SessionId
from models.memory_settings import MemorySettings
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.targets import scopes_of
from models.store.sessions import no_session, read_session_facts
from models.store.structured import Actor, Surface
from search.documents import Gone, Indexed
from search.memory_index import MemoryIndex

Arguments = JsonValue | Mapping[str, JsonValue]
"""What a model gave for arguments, which need not be any."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionCall:
    """Which session calls, by which request of its caller (for audit and logs)."""

    org_id: OrganizationId
    session_id: SessionId
    request_id: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to: `structured`, or the problem; and in either case the text for the model."""

    text: str
    structured: JsonObject | None = None
    problem: Problem | None = None


class MemoryTool:
    """The `memory` tool of one process.

    Args:
        connections: the process's.
        index: the process's.
        settings: of memory.
    """

    def __init__(self, connections: Connections, index: MemoryIndex, settings: MemorySettings) -> None:
        self._connections = connections
        self._index = index
        self._settings = settings

    def definition(self, session: SessionCall) -> JsonObject:
        """How the tool describes itself to the session now.

        Raises:
            NotFound: there is no such session.
            Unavailable, InternalError: the database does not answer, or refuses.
        """
        return self._within(session, lambda _, facts: definition(facts, max_content=self._settings.max_content))

    def call(self, session: SessionCall, arguments: Arguments, surface: Surface) -> ToolResult:
        """Call the tool; a refusal, a miss and a storage failure are results.

        Args:
            session: who calls; whether the caller may use it is not asked here.
            arguments: as the model gave them; what is no object is refused as anything else that breaks a rule.
            surface: the way in, for the audit.
        """

        def answered(connection: psycopg.Connection, facts: SessionFacts) -> ToolResult:
            actor = Actor(facts.org_id, facts.user_id, session.request_id, surface, facts.session_id)
            scene = Scene(connection, self._index, facts, session_envelope(facts), actor, self._tell)
            return answer_call(scene, arguments, self._settings)

        try:
            return self._within(session, answered)
        except Problem as problem:
            return refused(problem)

    def _within(self, session: SessionCall, work: Callable[[psycopg.Connection, SessionFacts], T]) -> T:
        """Do something for the session as it is now, on a connection that is there."""
        find = partial(_facts, session)
        return stored(lambda: self._connections.serve(find, work), request_id=session.request_id)

    def _tell(self, change: Indexed | Gone) -> None:
        self._index.apply([change])


def answer_call(scene: Scene, arguments: Arguments, settings: MemorySettings) -> ToolResult:
    """Answer a call of a session that was found; with the lever off nothing is read.

    Raises:
        psycopg.Error: the database does not answer, or refuses.
    """
    try:
        require_call(scene, arguments)
        return carry_out(scene, arguments, settings)
    except Problem as problem:
        return refused(problem)


def require_call(scene: Scene, arguments: Arguments) -> None:
    """Refuse what goes before the rules of the arguments.

    Raises:
        MemoryDisabled: the persona memory lever is off.
        NotFound, Forbidden, ReadOnlySession: the place is not read or written by the session.
    """
    require_memory(scene.facts)
    require_target(scene, arguments)


def carry_out(scene: Scene, arguments: Arguments, settings: MemorySettings) -> ToolResult:
    """The result of a call that `require_call` lets pass.

    Raises:
        Problem: it is refused, or misses.
        psycopg.Error: the database does not answer, or refuses.
    """
    said = _performed(scene, _command(scene.facts, arguments, settings))
    return ToolResult(said.text, structured=said.structured)


def require_memory(facts: SessionFacts) -> None:
    """Raise MemoryDisabled where the persona memory lever is off."""
    if not facts.memory_enabled:
        raise MemoryDisabled("Memory is off for this workstream.")


def refused(problem: Problem) -> ToolResult:
    """The result of a call that a problem ended; the text is its detail."""
    return ToolResult(problem.detail, problem=problem)


def _performed(scene: Scene, command: Command) -> Said:
    """What the call comes to; what a project's memories gave is told only if they may still be read after that.

    A write asks again in its own transaction.
    """
    said = perform(scene, command)
    if isinstance(command, Save | Delete) or scene.facts.project_id is None:
        return said
    facts = read_session_facts(scene.connection, scene.facts.org_id, scene.facts.session_id)
    if facts == scene.facts:
        return said
    if facts is None:
        raise no_session()
    require_memory(facts)
    return _performed(replace(scene, facts=facts, envelope=session_envelope(facts)), command)


def _command(facts: SessionFacts, arguments: Arguments, settings: MemorySettings) -> Command:
    if not isinstance(arguments, Mapping):
        raise InvalidRequest.of("body", "null" if arguments is None else "type")
    return read_arguments(arguments, scopes=scopes_of(facts), max_content=settings.max_content)


def _facts(session: SessionCall, connection: psycopg.Connection) -> SessionFacts:
    facts = read_session_facts(connection, session.org_id, session.session_id)
    if facts is None:
        raise no_session()
    return facts
