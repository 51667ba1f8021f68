import pytest

from activities.memory_tool.arguments import Command, Delete, Get, List, Save, Search, read_arguments
from activities.memory_tool.rows import ROWS
from models.errors import InvalidRequest, JsonObject, JsonValue
from models.rules.structured_fields import MemoryInput
from models.rules.visibility import Scope

SCOPES: tuple[Scope, ...] = ("global", "workstream", "user")
SAVE: JsonObject = {"action": "save", "name": "n", "content": "c", "description": "d"}
GET: JsonObject = {"action": "get", "name": "n"}
SEARCH: JsonObject = {"action": "search", "query": "q"}
DELETE: JsonObject = {"action": "delete", "name": "n"}
LIST: JsonObject = {"action": "list"}
LEAST = [SAVE, GET, SEARCH, DELETE, LIST]
ROW_OF = list(zip(LEAST, [ROWS["save"], ROWS["get"], ROWS["search"], ROWS["delete"], ROWS["list"]], strict=True))
ARGUMENTS = ("name", "content", "description", "query", "type", "scope", "limit", "cursor")


def read(arguments: JsonObject, *, max_content: int = 100) -> Command:
    return read_arguments(arguments, scopes=SCOPES, max_content=max_content)


def refusal(arguments: JsonObject, *, max_content: int = 100) -> list[tuple[str, str]]:
    """The fields and rules that a call breaks."""
    with pytest.raises(InvalidRequest) as refused:
        read(arguments, max_content=max_content)
    errors = refused.value.context["errors"]
    assert isinstance(errors, list)
    return [(str(error["field"]), str(error["rule"])) for error in errors if isinstance(error, dict)]


def test_a_save_is_read_with_its_texts_normalized_and_its_content_as_it_is() -> None:
    arguments: JsonObject = {
        "action": "save",
        "name": " My-Key Name ",
        "content": "  two\r\nlines ",
        "description": " what\n it   says ",
        "type": "feedback",
        "scope": "user",
    }
    memory = MemoryInput("my_key_name", "what it says", "  two\r\nlines ", "feedback")
    assert read(arguments) == Save(memory, "user")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (SAVE, Save(MemoryInput("n", "d", "c", None), None)),
        (GET, Get("n", None)),
        ({**GET, "name": "A-B", "scope": "global"}, Get("a_b", "global")),
        (DELETE, Delete("n", None)),
        (SEARCH, Search("q", None, None, 20)),
        ({**SEARCH, "type": "user", "scope": "workstream", "limit": 3}, Search("q", "user", "workstream", 3)),
        (LIST, List(None, None, 20, None)),
        ({**LIST, "type": "", "scope": ""}, List(None, None, 20, None)),
        ({**SEARCH, "type": "", "scope": ""}, Search("q", None, None, 20)),
        ({**LIST, "cursor": "abc", "limit": 50}, List(None, None, 50, "abc")),
        ({**LIST, "limit": 51}, List(None, None, 50, None)),
        ({**SEARCH, "limit": 10**30}, Search("q", None, None, 50)),
    ],
)
def test_what_is_left_out_has_the_default_and_a_large_limit_is_lowered(arguments: JsonObject, command: Command) -> None:
    assert read(arguments) == command


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({}, "missing"),
        ({"action": None}, "null"),
        ({"action": 1}, "type"),
        ({"action": True}, "type"),
        ({"action": ["save"]}, "type"),
        ({"action": ""}, "not_allowed"),
        ({"action": "Save"}, "not_allowed"),
        ({"action": "save "}, "not_allowed"),
        ({"action": "update"}, "not_allowed"),
    ],
)
def test_the_action_is_one_exact_lower_case_text(arguments: JsonObject, rule: str) -> None:
    assert refusal(arguments) == [("action", rule)]


@pytest.mark.parametrize(
    ("least", "name"),
    [(least, name) for least, row in ROW_OF for name in ARGUMENTS if name not in row.required + row.optional],
)
def test_an_argument_that_is_not_in_the_actions_row_is_refused(least: JsonObject, name: str) -> None:
    value: JsonValue = 5 if name == "limit" else "user"
    assert refusal({**least, name: value}) == [(name, "unknown")]


@pytest.mark.parametrize("least", LEAST)
def test_an_argument_that_the_tool_does_not_have_is_refused_in_printable_letters(least: JsonObject) -> None:
    assert refusal({**least, "ty\u202epé": "x"}) == [("ty?p?", "unknown")]


@pytest.mark.parametrize(("least", "name"), [(least, name) for least, row in ROW_OF for name in row.required])
def test_what_an_action_requires_may_not_be_left_out(least: JsonObject, name: str) -> None:
    assert refusal({key: value for key, value in least.items() if key != name}) == [(name, "missing")]


@pytest.mark.parametrize(
    ("least", "name"), [(least, name) for least, row in ROW_OF for name in row.required + row.optional]
)
def test_a_null_is_refused_everywhere(least: JsonObject, name: str) -> None:
    assert refusal({**least, name: None}) == [(name, "null")]


@pytest.mark.parametrize("value", [1, 1.5, True, ["n"], {"n": 1}])
@pytest.mark.parametrize(
    ("least", "name"),
    [
        *((SAVE, name) for name in ("name", "content", "description", "type", "scope")),
        *((GET, name) for name in ("name", "scope")),
        *((SEARCH, name) for name in ("query", "type", "scope")),
        (LIST, "cursor"),
    ],
)
def test_what_is_no_text_is_refused_for_one(least: JsonObject, name: str, value: JsonValue) -> None:
    assert refusal({**least, name: value}) == [(name, "type")]


@pytest.mark.parametrize(
    ("limit", "rule"),
    [(0, "too_small"), (-1, "too_small"), (1.5, "type"), (20.0, "type"), ("20", "type"), (True, "type"), ([], "type")],
)
@pytest.mark.parametrize("least", [SEARCH, LIST])
def test_a_limit_below_one_or_that_is_no_whole_number_is_refused(
    least: JsonObject, limit: JsonValue, rule: str
) -> None:
    assert refusal({**least, "limit": limit}) == [("limit", rule)]


@pytest.mark.parametrize("name", ["type", "scope"])
@pytest.mark.parametrize("value", ["", "General", "everything", "coordinator", "project"])
def test_a_type_or_a_scope_that_the_session_does_not_have_is_refused(name: str, value: str) -> None:
    assert refusal({**SAVE, name: value}) == [(name, "not_allowed")]
    if value:
        assert refusal({**SEARCH, name: value}) == [(name, "not_allowed")]


@pytest.mark.parametrize("least", [GET, DELETE])
def test_an_empty_scope_of_a_single_memory_is_refused(least: JsonObject) -> None:
    assert refusal({**least, "scope": ""}) == [("scope", "not_allowed")]


@pytest.mark.parametrize(
    ("least", "name", "value", "rule"),
    [
        (SAVE, "name", "", "blank"),
        (SAVE, "name", "  ", "blank"),
        (GET, "name", "a/b", "reserved_character"),
        (DELETE, "name", "..", "dots"),
        (SAVE, "name", "x" * 257, "too_long"),
        (SAVE, "name", "a\nb", "control_character"),
        (GET, "name", "a\u202eb", "bidirectional_control"),
        (SAVE, "description", " \n ", "blank"),
        (SAVE, "description", "x" * 513, "too_long"),
        (SAVE, "content", " \n ", "blank"),
        (SAVE, "content", "x" * 101, "too_long"),
        (SAVE, "content", "a\0b", "nul"),
        (SAVE, "content", "a\ud800b", "lone_surrogate"),
        (SEARCH, "query", "", "blank"),
        (SEARCH, "query", " \u3000\n", "blank"),
        (SEARCH, "query", "x" * 100_001, "too_long"),
        (SEARCH, "query", "a\udc00", "lone_surrogate"),
        (LIST, "cursor", "x" * 2_001, "too_long"),
    ],
)
def test_a_text_that_breaks_a_rule_is_refused_by_field_and_rule(
    least: JsonObject, name: str, value: str, rule: str
) -> None:
    assert refusal({**least, name: value}) == [(name, rule)]


def test_a_content_of_exactly_the_limit_is_read() -> None:
    assert isinstance(read({**SAVE, "content": "x" * 100}), Save)


def test_every_broken_rule_is_told_at_once_and_the_choices_are_named() -> None:
    broken: JsonObject = {"action": "save", "name": 1, "type": "x", "scope": "coordinator", "limit": 5}
    assert refusal(broken) == [
        ("limit", "unknown"),
        ("name", "type"),
        ("content", "missing"),
        ("description", "missing"),
        ("type", "not_allowed"),
        ("scope", "not_allowed"),
    ]
    with pytest.raises(InvalidRequest) as refused:
        read(broken)
    assert "scope: not_allowed (one of 'global', 'workstream', 'user')" in refused.value.detail


def test_what_is_too_long_is_told_with_how_long_it_may_be() -> None:
    with pytest.raises(InvalidRequest, match=r"content: too_long \(at most 100 characters\)"):
        read({**SAVE, "content": "x" * 101})


def test_a_long_list_of_broken_rules_is_cut() -> None:
    assert len(refusal({**LIST, **{f"x{number}": 1 for number in range(300)}})) == 100
