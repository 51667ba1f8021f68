"""Imports that are opened, staged and started by several at once."""

from functools import partial

import httpx
import pytest

from tests.client import Client, Json, items, ok, problem
from tests.imports_over_http import a_file, an_import, path_of, staged_files
from tests.proposals import a_place, inside, outcome
from tests.racing import together

pytestmark = pytest.mark.usefixtures("worker")

AT_ONCE = 8


def test_a_source_that_is_opened_many_times_at_once_is_one_import(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id, "source": "laptop"}
    answers = together(*[partial(organization.owner.post, "/imports", body) for _ in range(AT_ONCE)])
    assert len({ok(answer, 201)["import_id"] for answer in answers}) == 1
    assert len(items(organization.owner.get("/imports"))) == 1


def test_a_source_that_is_opened_at_once_in_two_ways_is_one_import(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id, "source": "laptop"}
    answers = together(
        *[
            partial(organization.owner.post, "/imports", {**body, "mirror": number % 2 == 0})
            for number in range(AT_ONCE)
        ]
    )
    (made,) = items(organization.owner.get("/imports"))
    for answer in answers:
        if answer.status_code == 201:
            assert ok(answer, 201)["import_id"] == made["import_id"]
        else:
            assert problem(answer, 409, "already_exists")["import_id"] == made["import_id"]


def test_the_same_files_staged_at_once_are_once(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id)
    files = [a_file(f"{number}.md") for number in range(50)]
    path = f"{path_of(made)}/files"
    orders = [files, files[::-1]] * (AT_ONCE // 2)
    answers = together(*[partial(organization.owner.post, path, {"files": order}) for order in orders])
    assert {ok(answer)["staged"] for answer in answers} == {50}


def test_what_is_staged_beside_a_start_is_in_it_or_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    made = an_import(owner, project_id, a_file("first.md"))

    def stages(number: int) -> httpx.Response:
        return owner.post(f"{path_of(made)}/files", {"files": [a_file(f"{number}.md")]})

    def starts() -> httpx.Response:
        return owner.post(f"{path_of(made)}/start", {})

    answers = together(*[partial(stages, number) for number in range(AT_ONCE)], starts, starts)
    *staging, one, other = answers
    operation = ok(one, 202)
    assert ok(other, 202)["operation_id"] == operation["operation_id"]
    accepted = {f"{number}.md" for number, answer in enumerate(staging) if answer.status_code == 200}
    for answer in staging:
        if answer.status_code != 200:
            problem(answer, 409, "operation_in_progress")
    assert {file["path"] for file in staged_files(owner, made)} == {"first.md", *accepted}
    counts = inside(inside(outcome(owner, operation), "result"), "counts")
    assert counts["created"] == 1 + len(accepted)
