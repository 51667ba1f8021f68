"""What a call asks for, judged strictly: every broken rule at once, each told by field and rule (memory.md §3)."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import cast

from activities.memory_tool.rows import DEFAULT_LIMIT, MAX_LIMIT, ROWS, SPANNING, Action
from models.errors import InvalidRequest, JsonValue
from models.rules.cursors import MAX_CURSOR_CHARACTERS
from models.rules.query_text import MAX_QUERY_CHARACTERS, broken_query_rule
from models.rules.structured_fields import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MEMORY_TYPES,
    MemoryInput,
    MemoryType,
    broken_content_rule,
    broken_description_rule,
    broken_name_rule,
    normalize_description,
    normalize_name,
)
from models.rules.visibility import Scope

MAX_ERRORS = 100
SHOWN_OF_A_FIELD = 100


@dataclass(frozen=True, slots=True)
class Save:
    """`save`."""

    input: MemoryInput
    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Get:
    """`get`."""

    name: str
    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Delete:
    """`delete`."""

    name: str
    scope: Scope | None


@dataclass(frozen=True, slots=True)
class Search:
    """`search`; without a scope in all that is visible."""

    query: str
    type: MemoryType | None
    scope: Scope | None
    limit: int


@dataclass(frozen=True, slots=True)
class List:
    """`list`; without a scope of all that is visible."""

    type: MemoryType | None
    scope: Scope | None
    limit: int
    cursor: str | None


Command = Save | Get | Search | Delete | List


def read_arguments(arguments: Mapping[str, JsonValue], *, scopes: Collection[Scope], max_content: int) -> Command:
    """The call, its texts normalized.

    Args:
        arguments: as they came, `action` among them.
        scopes: those the session has.
        max_content: the most characters of a content.

    Raises:
        InvalidRequest: an argument is missing, none of the action's row, or breaks a rule.
    """
    action = _action(arguments)
    reading = _Reading(arguments, spans=action in SPANNING)
    row = ROWS[action]
    reading.refuse_others({"action", *row.required, *row.optional})
    command = _READERS[action](reading, tuple(scopes), max_content)
    reading.refuse()
    return command


@dataclass(slots=True)
class _Reading:
    """The arguments of one call, and what was found wrong with them: field, rule, and a hint for a model."""

    arguments: Mapping[str, JsonValue]
    spans: bool = False
    broken: list[tuple[str, str, str]] = field(default_factory=list)

    def refuse_others(self, known: Collection[str]) -> None:
        for name in self.arguments:
            if name not in known:
                self._break(_printable(name), "unknown", f"allowed are {', '.join(sorted(known))}")

    def text(
        self,
        name: str,
        rule_of: Callable[[str], str | None],
        *,
        normalize: Callable[[str], str] = str,
        required: bool = True,
        most: int,
    ) -> str | None:
        """A text, normalized, whose rules allow at most so many characters; None where it is left out or is none."""
        raw = self._text(name, required=required)
        if raw is None:
            return None
        value = normalize(raw)
        rule = rule_of(value)
        if rule is not None:
            self._break(name, rule, f"at most {most} characters" if rule == "too_long" else "")
        return value

    def one_of(self, name: str, choices: Collection[str], *, required: bool = False) -> str | None:
        """One exact text of some."""
        value = self._text(name, required=required)
        if value is None or (value == "" and self.spans):
            return None
        if value not in choices:
            listed = ", ".join(f"'{choice}'" for choice in choices)
            self._break(name, "not_allowed", f"one of {listed}")
        return value

    def limit(self) -> int:
        """A whole number from 1; a large one is lowered."""
        raw = self.arguments.get("limit", DEFAULT_LIMIT)
        if raw is None:
            self._break("limit", "null")
        elif not isinstance(raw, int) or isinstance(raw, bool):
            self._break("limit", "type", "a whole number")
        elif raw < 1:
            self._break("limit", "too_small", "at least 1")
        else:
            return min(raw, MAX_LIMIT)
        return DEFAULT_LIMIT

    def refuse(self) -> None:
        """Raise InvalidRequest if anything was found wrong."""
        if not self.broken:
            return
        told = self.broken[:MAX_ERRORS]
        errors: list[JsonValue] = [{"field": name, "rule": rule} for name, rule, _ in told]
        detail = "; ".join(f"{name}: {rule}{f' ({hint})' if hint else ''}" for name, rule, hint in told)
        raise InvalidRequest(detail, errors=errors)

    def _text(self, name: str, *, required: bool) -> str | None:
        if name not in self.arguments:
            if required:
                self._break(name, "missing")
            return None
        raw = self.arguments[name]
        if isinstance(raw, str):
            return raw
        self._break(name, "null" if raw is None else "type", "a text")
        return None

    def _break(self, name: str, rule: str, hint: str = "") -> None:
        self.broken.append((name, rule, hint))


def _action(arguments: Mapping[str, JsonValue]) -> Action:
    """One exact lower-case text; what else there is can be judged only by it."""
    reading = _Reading(arguments)
    action = reading.one_of("action", tuple(ROWS), required=True)
    reading.refuse()
    return cast("Action", action)


def _save(reading: _Reading, scopes: tuple[Scope, ...], max_content: int) -> Save:
    name = _name(reading)
    content = reading.text("content", lambda text: broken_content_rule(text, limit=max_content), most=max_content)
    description = reading.text(
        "description", broken_description_rule, normalize=normalize_description, most=MAX_DESCRIPTION_CHARACTERS
    )
    memory = MemoryInput(name, description or "", content or "", _type(reading))
    return Save(memory, _scope(reading, scopes))


def _get(reading: _Reading, scopes: tuple[Scope, ...], _: int) -> Get:
    return Get(_name(reading), _scope(reading, scopes))


def _delete(reading: _Reading, scopes: tuple[Scope, ...], _: int) -> Delete:
    return Delete(_name(reading), _scope(reading, scopes))


def _search(reading: _Reading, scopes: tuple[Scope, ...], _: int) -> Search:
    query = reading.text("query", broken_query_rule, most=MAX_QUERY_CHARACTERS)
    return Search(query or "", _type(reading), _scope(reading, scopes), reading.limit())


def _list(reading: _Reading, scopes: tuple[Scope, ...], _: int) -> List:
    found = _type(reading), _scope(reading, scopes), reading.limit()
    return List(*found, reading.text("cursor", _broken_cursor_rule, required=False, most=MAX_CURSOR_CHARACTERS))


_READERS: Mapping[Action, Callable[[_Reading, tuple[Scope, ...], int], Command]] = {
    "save": _save,
    "get": _get,
    "search": _search,
    "delete": _delete,
    "list": _list,
}


def _name(reading: _Reading) -> str:
    return reading.text("name", broken_name_rule, normalize=normalize_name, most=MAX_NAME_CHARACTERS) or ""


def _type(reading: _Reading) -> MemoryType | None:
    return cast("MemoryType | None", reading.one_of("type", MEMORY_TYPES))


def _scope(reading: _Reading, scopes: tuple[Scope, ...]) -> Scope | None:
    return cast("Scope | None", reading.one_of("scope", scopes))


def _broken_cursor_rule(cursor: str) -> str | None:
    return "too_long" if len(cursor) > MAX_CURSOR_CHARACTERS else None


def _printable(name: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", name)[:SHOWN_OF_A_FIELD]
