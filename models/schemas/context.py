"""Turns: what an agent tells of its conversation, and what it is given (memory.md §4, §5, §7)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from models.rules.nudges import NudgeKind, TurnEvent
from models.rules.structured_fields import MemoryType
from models.rules.visibility import Scope
from models.schemas.common import Input, Instant, Optional, Output, Text

MAX_MESSAGES = 1_000
MAX_EVENTS = 1_000
MAX_K = 50
MAX_TURN_ID_CHARACTERS = 128

Source = Literal["structured"]


class Message(Input):
    """A message of the conversation, as model APIs have them: whatever else it carries is let be."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: Annotated[
        object, Field(description="a text, or parts of which those of type `text` or `input_text` count; else nothing")
    ] = None


class ContextRequest(Input):
    """The conversation so far, oldest message first."""

    messages: Annotated[list[Message], Field(max_length=MAX_MESSAGES)]
    k: Annotated[Optional[int], Field(ge=1, le=MAX_K, description="memories at most; else the setting")] = None
    events: list[TurnEvent] = Field(
        default_factory=list, max_length=MAX_EVENTS, description="what happened since the last turn"
    )
    turn_id: Annotated[
        Optional[Text], Field(max_length=MAX_TURN_ID_CHARACTERS, description="the client's own, for its records")
    ] = None


class UnavailableScope(Output):
    """A scope of the session that cannot be read now, and why."""

    scope: Scope
    code: str


class ContextMemory(Output):
    """A memory of the block, whole."""

    memory_id: str
    name: str
    scope: Scope
    scope_id: str
    type: MemoryType
    description: str
    content: str
    score: float
    source: Source
    revision: int


class NudgeBody(Output):
    """A sentence for the agent."""

    kind: NudgeKind
    text: str


class ContextBody(Output):
    """What the turn is given. `block` is ready to append to a system message; nothing but it has to be shown."""

    block: str
    injection_id: str | None
    memories: list[ContextMemory]
    unavailable: list[UnavailableScope]
    in_scope: int
    enabled: bool
    nudge: NudgeBody | None
    index_revision: int | None
    project_commit_id: str | None


class InjectedMemoryBody(Output):
    """A memory that a turn was given, and the version that it was."""

    memory_id: str
    revision: int
    score: float
    source: Source


class InjectionBody(Output):
    """What a turn was given, in the order of the block; never contents or queries."""

    injection_id: str
    turn_id: str | None
    at: Instant
    k: int
    in_scope: int
    index_revision: int
    memories: list[InjectedMemoryBody]
