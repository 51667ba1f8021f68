"""No route gives an answer that its documentation does not have, whatever it is asked (tenancy.md, OpenAPI)."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.client import Client, a_person, a_project, a_token, an_organization, items, ok
from tests.imports_over_http import an_import
from tests.proposals import a_draft, creates
from tests.sessions import a_session, a_workstream

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
Case = schemathesis.Case[Any]
ENDLESS = "/v1/api/events/stream"
NO_HTTP = b"Invalid HTTP request received."
"""What the server answers by itself to headers that are none, or a line that has no end."""
LAST = ("DELETE",)


@dataclass(frozen=True)
class Target:
    """Where to ask, as whom, and what there is, by the names that paths have for it."""

    base_url: str
    token: str
    ids: dict[str, str]


@pytest.fixture
def target(api: Client) -> Target:
    organization = an_organization(api)
    owner, project_id = organization.owner, a_project(organization.owner)
    memory = ok(owner.post("/memories", {"name": "known", "description": "A note.", "content": "text"}), 201)
    draft = a_draft(owner, project_id, creates("a.md"))
    references = [{"draft_id": draft["draft_id"], "expected_draft_version": draft["version"]}]
    submitted = ok(owner.post("/reviews", {"project_id": project_id, "title": "a", "drafts": references}), 202)
    ids = {
        "project_id": project_id,
        "user_id": a_person(organization).user_id,
        "token_id": str(items(owner.get("/admin/tokens"))[-1]["token_id"]),
        "draft_id": str(draft["draft_id"]),
        "import_id": str(an_import(owner, project_id)["import_id"]),
        "operation_id": str(submitted["operation_id"]),
        "workstream_id": a_workstream(owner),
        "session_id": str(a_session(owner)["session_id"]),
        "memory_id": str(memory["memory_id"]),
        "name": "known",
        "number": "1",
    }
    return Target(api.base_url, a_token(owner, organization.owner_id, "read", "write", "admin.memories"), ids)


def name_what_there_is(case: Case, target: Target) -> None:
    """Have a request name what there is, where it names anything, and the first version of it."""
    for part in (case.path_parameters, case.query, case.body):
        if isinstance(part, dict):
            part.update({name: known for name, known in target.ids.items() if name in part})
    if "If-Match" in case.headers:
        case.headers["If-Match"] = '"1"'


def ask_every_route(target: Target, *, times: int, mode: GenerationMode = GenerationMode.POSITIVE) -> None:
    """Ask each route so often what its schema permits, or what breaks it."""
    schema = schemathesis.openapi.from_url(f"{target.base_url}/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    for operation in sorted(operations, key=lambda each: each.method.upper() in LAST):
        if operation.path == ENDLESS:
            continue

        @settings(
            max_examples=times,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=[*HealthCheck],
        )
        @given(case=operation.as_strategy(generation_mode=mode), knows=st.sampled_from([True, True, True, False]))
        def ask(case: Case, knows: bool) -> None:  # noqa: FBT001  (drawn)
            if knows:
                name_what_there_is(case, target)
            if "wait" in case.query:
                case.query["wait"] = "0"
            response = case.call(headers={"Authorization": f"Bearer {target.token}"})
            if response.content != NO_HTTP:
                case.validate_response(response, checks=CHECKS)

        with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
            ask()


def test_no_route_answers_what_is_not_documented(target: Target) -> None:
    ask_every_route(target, times=2)


@pytest.mark.long
def test_no_route_answers_what_is_not_documented_however_often_it_is_asked(target: Target) -> None:
    ask_every_route(target, times=40)


@pytest.mark.long
def test_no_route_refuses_by_what_is_not_documented(target: Target) -> None:
    ask_every_route(target, times=20, mode=GenerationMode.NEGATIVE)
