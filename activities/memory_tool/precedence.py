"""What goes before the rules of the arguments: session, role and target (publication.md §6, order of the codes)."""

from collections.abc import Mapping
from typing import cast

from activities.memory_tool.actions import Scene, target
from activities.memory_tool.rows import ROWS, SPANNING, Action
from models.errors import JsonValue, ProjectArchived, ReadOnlySession
from models.rules.structured_fields import broken_name_rule, normalize_name
from models.rules.targets import Verb, scopes_of
from models.rules.visibility import Scope


def require_target(scene: Scene, arguments: JsonValue | Mapping[str, JsonValue]) -> None:
    """Refuse what no other argument would mend, as far as action and scope can be told from a call as it came.

    Raises:
        NotFound, Forbidden, ReadOnlySession: the place is not read or written by the session.
    """
    if not isinstance(arguments, Mapping) or (action := _action(arguments)) is None:
        return
    row, sent = ROWS[action], arguments.get("scope")
    verb: Verb = "write" if row.writes else "read"
    scope: Scope | None
    if "scope" not in arguments:
        scope = None
    elif sent in scopes_of(scene.facts):
        scope = sent
    elif row.writes and scene.facts.read_only:
        raise ReadOnlySession("The session is read-only.")
    else:
        return
    if scope is None and action in SPANNING:
        return
    try:
        target(scene, scope, _name(arguments) if "name" in row.required else None, verb)
    except ProjectArchived:  # a state, which is told after the rules
        return


def _action(arguments: Mapping[str, JsonValue]) -> Action | None:
    sent = arguments.get("action")
    return cast("Action", sent) if isinstance(sent, str) and sent in ROWS else None


def _name(arguments: Mapping[str, JsonValue]) -> str | None:
    """The name, if it could be one."""
    sent = arguments.get("name")
    if not isinstance(sent, str):
        return None
    name = normalize_name(sent)
    return name if broken_name_rule(name) is None else None
