"""Workstreams: their owner's, and service tokens' (tenancy.md)."""

import pytest

from tests.client import Client, Json, a_member, a_person, a_project, a_token, an_organization, items, ok, problem
from tests.client import refused_fields as refused
from tests.sessions import a_session, a_workstream, an_organization_with_service


def test_a_workstream_is_made_shown_changed_and_removed(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    made = organization.owner.post("/workstreams", {"title": "Release", "project_id": project_id})
    workstream = ok(made, 201)
    assert made.headers["ETag"] == '"1"'
    assert (
        workstream.items()
        >= {
            "owner_id": organization.owner_id,
            "title": "Release",
            "project_id": project_id,
            "memory_enabled": True,
            "version": 1,
        }.items()
    )
    assert set(workstream) == {
        *("workstream_id", "owner_id", "title", "project_id", "memory_enabled", "version", "created_at", "updated_at")
    }
    path = f"/workstreams/{workstream['workstream_id']}"
    assert ok(organization.owner.get(path)) == workstream
    changed = ok(organization.owner.patch(path, {"memory_enabled": False, "title": "", "project_id": None}))
    assert (changed["title"], changed["project_id"], changed["memory_enabled"], changed["version"]) == (
        "",
        None,
        False,
        2,
    )
    removed = organization.owner.delete(path)
    assert (removed.status_code, removed.content) == (204, b"")
    for again in (organization.owner.get(path), organization.owner.patch(path, {}), organization.owner.delete(path)):
        problem(again, 404, "not_found")


def test_what_is_left_out_has_a_default_or_stays(api: Client) -> None:
    owner = an_organization(api).owner
    workstream = ok(owner.post("/workstreams", {}), 201)
    assert (workstream["title"], workstream["project_id"], workstream["memory_enabled"]) == ("", None, True)
    path = f"/workstreams/{workstream['workstream_id']}"
    assert ok(owner.patch(path, {})) == workstream
    assert ok(owner.patch(path, {"title": ""})) == workstream
    named = ok(owner.patch(path, {"title": "x"}))
    assert named == {**workstream, "title": "x", "version": 2, "updated_at": named["updated_at"]}


def test_a_version_that_is_named_has_to_be_the_present_one(api: Client) -> None:
    owner = an_organization(api).owner
    path = f"/workstreams/{a_workstream(owner)}"
    ok(owner.patch(path, {"title": "x"}, version=1))
    stale = problem(owner.patch(path, {"title": "y"}, version=1), 412, "precondition_failed")
    assert (stale["expected"], stale["actual"]) == (1, 2)
    problem(owner.delete(path, version=1), 412, "precondition_failed")
    problem(owner.delete(path, headers={"If-Match": "2"}), 400, "invalid_request")
    assert owner.delete(path, version=2).status_code == 204


def test_a_workstream_is_its_owners_alone(api: Client) -> None:
    organization = an_organization(api)
    person, other = a_person(organization), a_person(organization, "admin")
    path = f"/workstreams/{a_workstream(person.client)}"
    for client in (organization.owner, other.client, an_organization(api).owner):
        problem(client.get(path), 404, "not_found")
        problem(client.patch(path, {"title": 1}), 404, "not_found")
        problem(client.delete(path), 404, "not_found")
        assert items(client.get("/workstreams")) == []
    assert len(items(person.client.get("/workstreams"))) == 1


def test_service_tokens_run_the_workstreams_of_their_organization(api: Client) -> None:
    person = a_person(an_organization_with_service(api))
    workstream_id = a_workstream(person.client)
    assert items(api.get("/workstreams", limit=1))[0]["workstream_id"] == workstream_id
    changed = ok(api.patch(f"/workstreams/{workstream_id}", {"memory_enabled": False}))
    assert (changed["owner_id"], changed["memory_enabled"]) == (person.user_id, False)
    assert api.delete(f"/workstreams/{workstream_id}").status_code == 204


def test_a_service_token_is_none_of_another_organization(api: Client) -> None:
    workstream_id = a_workstream(an_organization(api).owner)
    problem(api.get(f"/workstreams/{workstream_id}"), 404, "not_found")


def test_workstreams_are_listed_newest_first_page_by_page(api: Client) -> None:
    owner = an_organization(api).owner
    made = [a_workstream(owner) for _ in range(3)]
    first = ok(owner.get("/workstreams", limit=2))
    second = ok(owner.get("/workstreams", limit=2, cursor=str(first["next_cursor"])))
    pages = [*first["items"], *second["items"]]  # type: ignore[misc]
    assert [workstream["workstream_id"] for workstream in pages] == [*reversed(made)]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("role", ["viewer", "member"])
def test_members_attach_a_project_and_nobody_else_does(api: Client, role: str) -> None:
    organization = an_organization(api)
    member = a_member(organization, project_id := a_project(a_person(organization, "admin").client), role)
    path = f"/workstreams/{a_workstream(member.client)}"
    assert ok(member.client.patch(path, {"project_id": project_id}))["project_id"] == project_id
    problem(organization.owner.post("/workstreams", {"project_id": project_id, "x": 1}), 404, "not_found")
    problem(a_person(organization).client.post("/workstreams", {"project_id": project_id}), 404, "not_found")
    problem(member.client.patch(path, {"project_id": "prj_unknown"}), 404, "not_found")


def test_a_deleted_project_is_not_attached(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    assert owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    problem(owner.post("/workstreams", {"project_id": project_id}), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"title": None}, {("title", "null")}),
        ({"title": "x" * 201}, {("title", "too_long")}),
        ({"title": "\0"}, {("title", "nul")}),
        ({"memory_enabled": "false"}, {("memory_enabled", "type")}),
        ({"memory_enabled": None}, {("memory_enabled", "null")}),
        ({"project_id": 1}, {("project_id", "type")}),
        ({"owner_id": "usr_1"}, {("owner_id", "unknown")}),
    ],
)
def test_what_breaks_a_rule_is_refused(api: Client, body: Json, fields: set[tuple[str, str]]) -> None:
    owner = an_organization(api).owner
    assert refused(owner.post("/workstreams", body)) == fields
    assert refused(owner.patch(f"/workstreams/{a_workstream(owner)}", body)) == fields


def test_a_token_that_only_reads_changes_nothing(api: Client) -> None:
    owner = an_organization(api).owner
    reader = api.with_token(a_token(owner, None, "read"))
    path = f"/workstreams/{a_workstream(owner)}"
    ok(reader.get(path))
    problem(reader.post("/workstreams", {}), 403, "forbidden")
    problem(reader.patch(path, {}), 403, "forbidden")
    problem(reader.delete(path), 403, "forbidden")


def test_the_sessions_of_a_workstream_go_with_it(api: Client) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    session = a_session(owner, workstream_id=workstream_id)
    other = a_session(owner)
    assert owner.delete(f"/workstreams/{workstream_id}").status_code == 204
    problem(owner.get(f"/sessions/{session['session_id']}"), 404, "not_found")
    ok(owner.get(f"/sessions/{other['session_id']}"))


def test_no_key_answers_with_the_memories_of_a_workstream_that_has_gone(api: Client) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    memory = {"name": "n", "description": "d", "content": "c", "scope": "workstream", "scope_id": workstream_id}
    ok(owner.post("/memories", memory, key="one"), 201)
    elsewhere = ok(owner.post("/memories", {"name": "n", "description": "d", "content": "c"}, key="other"), 201)
    owner.delete(f"/workstreams/{workstream_id}")
    problem(owner.post("/memories", memory, key="one"), 404, "not_found")
    again = owner.post("/memories", {"name": "n", "description": "d", "content": "c"}, key="other")
    assert ok(again, 201) == elsewhere


def test_changes_of_a_workstream_are_audited(api: Client) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    ok(owner.patch(f"/workstreams/{workstream_id}", {"memory_enabled": False}))
    owner.delete(f"/workstreams/{workstream_id}")
    events = items(owner.get("/admin/audit-events", resource_id=workstream_id))
    assert [event["action"] for event in events] == ["workstream.delete", "workstream.update", "workstream.create"]
