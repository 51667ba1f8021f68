"""Tools over HTTP: their definitions, a call, and what it came to (memory.md §3)."""

from typing import Literal

from pydantic import ConfigDict, Field

from models.errors import JsonObject
from models.schemas.common import Input, Output


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


class MemoryToolCall(Input):
    """The arguments of a call, which the tool itself judges: which ones it takes depends on `action`."""

    model_config = ConfigDict(
        strict=True,
        extra="allow",
        frozen=True,
        json_schema_extra={
            "properties": {
                "action": {"type": "string", "enum": ["save", "get", "search", "delete", "list"]},
                "name": {"type": "string"},
                "content": {"type": "string"},
                "description": {"type": "string"},
                "query": {"type": "string"},
                "type": {"type": "string", "enum": ["user", "general", "feedback", "reference", ""]},
                "scope": {
                    "type": "string",
                    "enum": ["global", "workstream", "user", "coordinator", "project", ""],
                },
                "limit": {"type": "integer", "minimum": 1},
                "cursor": {"type": "string"},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
    )


class MemoryToolAnswer(Output):
    """What a call came to. A refusal is a problem document with `is_error: true` and, in `text`, its `detail`."""

    is_error: Literal[False] = False
    result: JsonObject = Field(description="as the tool's `outputSchema` says")
    text: str = Field(description="the same, for a model")
