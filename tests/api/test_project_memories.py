"""Project-scoped resources of an older system: read only, and never the current view (publication.md §5)."""

import pytest
from sqlalchemy import Engine, text

from tests.client import Client, Json, a_person, items, ok, problem
from tests.migrated import migrated
from tests.proposals import a_place, all_items, creates, published

pytestmark = pytest.mark.usefixtures("worker")

MIGRATED = ("ctx_1", "mem_4", "rul_2", "wfl_3")


def test_nothing_is_there_unless_it_was_migrated_whatever_the_project_reads(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    assert items(organization.owner.get(f"/projects/{project_id}/memories")) == []
    problem(organization.owner.get(f"/projects/{project_id}/memories/{known}"), 404, "not_found")


def test_migrated_rows_are_listed_by_id_and_read_with_their_texts(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    migrated(engine, organization, project_id, *MIGRATED)
    path = f"/projects/{project_id}/memories"
    shown = all_items(organization.owner, path, limit=3)
    assert [each["memory_id"] for each in shown] == list(MIGRATED)
    assert shown[0] == {
        "memory_id": "ctx_1",
        "path": "docs/ctx_1.md",
        "name": "ctx_1.md",
        "description": "About",
        "content_hash": "sha256:0",
        "created_at": "2024-01-01T00:00:00.000000Z",
        "updated_at": "2024-01-01T00:00:00.000000Z",
    }
    assert ok(organization.owner.get(f"{path}/wfl_3")) == {**shown[3], "content": "text\n"}
    assert items(organization.owner.get(f"/projects/{project_id}/effective-memories")) == []


def test_they_are_seen_by_who_sees_the_project_and_go_with_it(api: Client, engine: Engine) -> None:
    organization, project_id = a_place(api)
    migrated(engine, organization, project_id, *MIGRATED)
    path = f"/projects/{project_id}/memories"
    problem(a_person(organization).client.get(path), 404, "not_found")
    problem(a_person(organization).client.get(f"{path}/ctx_1"), 404, "not_found")
    project = organization.owner.get(f"/projects/{project_id}")
    deleted = organization.owner.delete(f"/projects/{project_id}", headers={"If-Match": project.headers["etag"]})
    assert deleted.status_code == 204
    with engine.connect() as connection:
        left = text("select count(*) from project_memories where org_id = :o")
        assert connection.execute(left, {"o": organization.organization_id}).scalar_one() == 0


def test_they_are_documented_as_deprecated_and_can_only_be_read(api: Client) -> None:
    paths = ok(api.get("/openapi.json"))["paths"]
    assert isinstance(paths, dict)
    for path in ("/v1/api/projects/{project_id}/memories", "/v1/api/projects/{project_id}/memories/{memory_id}"):
        operations = paths[path]
        assert isinstance(operations, dict)
        [(verb, operation)] = operations.items()
        assert isinstance(operation, dict)
        assert (verb, operation["deprecated"]) == ("get", True)
    deprecated: list[Json] = [
        operation
        for operations in paths.values()
        if isinstance(operations, dict)
        for operation in operations.values()
        if isinstance(operation, dict) and operation.get("deprecated")
    ]
    assert len(deprecated) == 2
