"""The tools of a session over HTTP: an adapter, which only finds the session and tells outcomes (memory.md §3)."""

from collections.abc import Mapping

from activities.memory_tool.actions import Scene
from activities.memory_tool.definition import definition
from activities.memory_tool.rows import ROWS
from activities.memory_tool.tool import ToolResult, carry_out, require_call
from api.answers import Answer, document_answer, told_to_model
from api.calls import Hot
from api.lookups import find_session
from api.routing import Routes
from models.errors import (
    IndexNotReady,
    JsonValue,
    MemoryDisabled,
    NotFound,
    Problem,
    ProjectArchived,
    ReadOnlySession,
)
from models.rules.envelopes import SessionFacts, session_envelope
from models.rules.roles import Permission
from models.schemas.common import NoParameters
from models.schemas.tools import MemoryToolAnswer, MemoryToolCall, ToolList

routes = Routes("sessions")

WRITING = tuple(action for action, row in ROWS.items() if row.writes)


def _only_reads(call: Hot) -> bool:
    return _permission(call) == "read"


@routes.hot("GET", "/sessions/{session_id}/tools", answers=ToolList)
def list_tools(call: Hot, session_id: str) -> Answer:
    """The tools that the session has now; a project counts only while it can be read."""
    facts = find_session(call, session_id)
    call.query(NoParameters)
    max_content = call.incoming.services.settings.memory.max_content
    return document_answer({"tools": [definition(facts, max_content=max_content)]})


@routes.hot(
    "POST",
    "/sessions/{session_id}/tools/memory",
    accepts=MemoryToolCall,
    answers=MemoryToolAnswer,
    problems=(NotFound, MemoryDisabled, ReadOnlySession, ProjectArchived, IndexNotReady),
    is_tool=True,
    only_reads=_only_reads,
)
def call_memory_tool(call: Hot, session_id: str) -> Answer:
    """Call the `memory` tool: `save` and `delete` need `write`, the other actions `read`."""
    try:
        result = _result(call, find_session(call, session_id))
    except Problem as problem:
        raise told_to_model(problem) from problem
    return document_answer({"is_error": False, "result": result.structured, "text": result.text})


def _result(call: Hot, facts: SessionFacts) -> ToolResult:
    call.require_permission(_permission(call))
    services = call.incoming.services
    actor = call.acting("tool", facts.session_id, facts.user_id)
    scene = Scene(call.connection, services.index, facts, session_envelope(facts), actor, call.tell_index)
    require_call(scene, call.json().value)
    arguments = call.body(MemoryToolCall, permission=None).model_dump(exclude_unset=True)
    return carry_out(scene, arguments, services.settings.memory)


def _permission(call: Hot) -> Permission:
    """What the token has to permit for the action; one that cannot be told would only read."""
    sent = call.json().value
    arguments: Mapping[str, JsonValue] = sent if isinstance(sent, dict) else {}
    return "write" if arguments.get("action") in WRITING else "read"
