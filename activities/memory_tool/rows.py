"""The actions of the tool, and which arguments each one takes (memory.md §3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Action = Literal["save", "get", "search", "delete", "list"]

MAX_LIMIT = 50
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class ActionRow:
    """What an action requires, what it may have besides, and whether it writes."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    writes: bool = False


ROWS: Mapping[Action, ActionRow] = {
    "save": ActionRow(("name", "content", "description"), ("type", "scope"), writes=True),
    "get": ActionRow(("name",), ("scope",)),
    "search": ActionRow(("query",), ("type", "scope", "limit")),
    "delete": ActionRow(("name",), ("scope",), writes=True),
    "list": ActionRow((), ("type", "scope", "limit", "cursor")),
}

SPANNING = ("search", "list")
"""The actions that span every visible scope when none is given, for which `""` is none."""


def actions_of(*, read_only: bool) -> tuple[Action, ...]:
    """The actions that a session has."""
    return tuple(action for action, row in ROWS.items() if not (read_only and row.writes))
