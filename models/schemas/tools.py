"""Tools over HTTP: their definitions, a call, and what it came to (memory.md §3)."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, WithJsonSchema

from models.errors import JsonObject
from models.rules.structured_fields import MEMORY_TYPES
from models.rules.visibility import SCOPES
from models.schemas.common import Input, Output

EMPTY = "empty where it is left out, in `search` and `list`"


class ToolAnnotations(Output):
    """What a client may expect of a tool, in the words of MCP."""

    readOnlyHint: bool = Field(description="it only reads")  # noqa: N815  (MCP's spelling)
    destructiveHint: bool = Field(description="it may replace or delete")  # noqa: N815
    openWorldHint: bool = Field(description="it reaches what is outside of this service")  # noqa: N815


class ToolDefinition(Output):
    """A tool as the session has it now, in the shape of MCP's `tools/list`."""

    name: str
    title: str
    description: str
    inputSchema: JsonObject = Field(description="JSON Schema of the arguments")  # noqa: N815
    outputSchema: JsonObject = Field(description="JSON Schema of `result`")  # noqa: N815
    annotations: ToolAnnotations


class ToolList(Output):
    """The tools of a session."""

    tools: list[ToolDefinition]


Argument = Annotated[JsonValue, WithJsonSchema({"type": "string"})]
"""Whatever came for an argument that is a text: the tool itself judges it."""


class MemoryToolCall(Input):
    """The arguments of a call; which ones it takes depends on `action`. The tool itself judges what they are."""

    action: Annotated[
        JsonValue, WithJsonSchema({"type": "string", "enum": ["save", "get", "search", "delete", "list"]})
    ]
    name: Argument = None
    content: Argument = None
    description: Argument = None
    query: Argument = None
    type: Annotated[
        JsonValue, WithJsonSchema({"type": "string", "enum": [*MEMORY_TYPES, ""]}), Field(description=EMPTY)
    ] = None
    scope: Annotated[JsonValue, WithJsonSchema({"type": "string", "enum": [*SCOPES, ""]}), Field(description=EMPTY)] = (
        None
    )
    limit: Annotated[JsonValue, WithJsonSchema({"type": "integer", "minimum": 1})] = None
    cursor: Argument = None


class MemoryToolAnswer(Output):
    """What a call came to. A refusal is a problem document with `is_error: true` and, in `text`, its `detail`."""

    is_error: Literal[False] = False
    result: JsonObject = Field(description="as the tool's `outputSchema` says")
    text: str = Field(description="the same, for a model")
