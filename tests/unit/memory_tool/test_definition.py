import json

import pytest

from activities.memory_tool.definition import definition
from models.errors import JsonObject
from models.rules.envelopes import SessionFacts
from tests.session_facts import a_session

SAVING = ["name", "content", "description", "type", "scope"]


def defined(facts: SessionFacts) -> JsonObject:
    return definition(facts, max_content=1_000)


def schema_of(facts: SessionFacts) -> JsonObject:
    schema = defined(facts)["inputSchema"]
    assert isinstance(schema, dict)
    return schema


def properties_of(facts: SessionFacts) -> dict[str, JsonObject]:
    properties = schema_of(facts)["properties"]
    assert isinstance(properties, dict)
    return {name: schema for name, schema in properties.items() if isinstance(schema, dict)}


@pytest.mark.parametrize(
    ("facts", "scopes"),
    [
        (a_session(), ["global", "workstream", "user"]),
        (a_session(attached=True), ["global", "workstream", "user", "project"]),
        (a_session(attached=True, role="viewer"), ["global", "workstream", "user", "project"]),
        (a_session(attached=True, role=None), ["global", "workstream", "user"]),
        (a_session(attached=True, state="archived"), ["global", "workstream", "user"]),
        (a_session("coordinator"), ["coordinator"]),
        (a_session("coordinator", attached=True), ["coordinator", "project"]),
    ],
)
def test_the_scopes_are_those_of_the_kind_and_the_project_while_it_can_be_read(
    facts: SessionFacts, scopes: list[str]
) -> None:
    assert properties_of(facts)["scope"]["enum"] == scopes


def test_no_other_arguments_are_taken_and_only_the_action_is_always_needed() -> None:
    schema = schema_of(a_session())
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["action"]
    assert sorted(properties_of(a_session())) == sorted(["action", *SAVING, "query", "limit", "cursor"])


def test_type_and_scope_have_no_default() -> None:
    properties = properties_of(a_session())
    assert "default" not in properties["type"]
    assert "default" not in properties["scope"]


def test_a_content_may_be_as_long_as_the_setting_says() -> None:
    assert properties_of(a_session())["content"]["maxLength"] == 1_000


def test_a_session_that_writes_has_all_actions_and_says_that_it_may_destroy() -> None:
    assert properties_of(a_session())["action"]["enum"] == ["save", "get", "search", "delete", "list"]
    assert defined(a_session())["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "openWorldHint": False,
    }


def test_a_read_only_session_has_what_reads_and_says_so() -> None:
    facts = a_session(read_only=True)
    assert properties_of(facts)["action"]["enum"] == ["get", "search", "list"]
    assert not {"content", "description"} & set(properties_of(facts))
    assert defined(facts)["annotations"] == {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}


@pytest.mark.parametrize(
    ("facts", "scope"),
    [
        (a_session(), "global"),
        (a_session("coordinator"), "coordinator"),
        (a_session(attached=True), "project"),
        (a_session(attached=True, role=None), "project"),
    ],
)
def test_the_description_says_which_scope_is_meant_without_one(facts: SessionFacts, scope: str) -> None:
    description = defined(facts)["description"]
    assert isinstance(description, str)
    assert f"save, get and delete mean '{scope}' alone" in description


def test_the_output_schema_is_of_an_object() -> None:
    output = defined(a_session())["outputSchema"]
    assert isinstance(output, dict)
    assert output["type"] == "object"


def test_a_definition_is_json() -> None:
    assert json.loads(json.dumps(defined(a_session()))) == defined(a_session())
