"""Sessions: opened by the acting user, or for somebody by a service token (tenancy.md)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    a_project,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.sessions import a_session, a_workstream, an_organization_with_service


def test_an_interactive_session_is_opened_shown_and_ended(api: Client) -> None:
    organization = an_organization(api)
    workstream_id = a_workstream(organization.owner)
    session = a_session(organization.owner, workstream_id=workstream_id)
    assert session == {
        "session_id": session["session_id"],
        "kind": "interactive",
        "user_id": organization.owner_id,
        "opened_by": organization.owner_id,
        "workstream_id": workstream_id,
        "project_id": None,
        "read_only": False,
        "created_at": session["created_at"],
    }
    path = f"/sessions/{session['session_id']}"
    assert ok(organization.owner.get(path)) == session
    ended = organization.owner.delete(path)
    assert (ended.status_code, ended.content) == (204, b"")
    problem(organization.owner.get(path), 404, "not_found")
    problem(organization.owner.delete(path), 404, "not_found")


def test_a_workstream_is_made_for_an_interactive_session_that_names_none(api: Client) -> None:
    organization = an_organization(api)
    session = a_session(organization.owner)
    workstream = ok(organization.owner.get(f"/workstreams/{session['workstream_id']}"))
    assert (workstream["owner_id"], workstream["title"]) == (organization.owner_id, "")
    assert (workstream["project_id"], workstream["memory_enabled"], workstream["version"]) == (None, True, 1)


def test_a_coordinator_session_needs_no_workstream_and_may_have_one(api: Client) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    assert a_session(owner, kind="coordinator")["workstream_id"] is None
    assert a_session(owner, kind="coordinator", workstream_id=workstream_id)["workstream_id"] == workstream_id
    assert len(items(owner.get("/workstreams"))) == 1


def test_the_project_is_the_requests_else_the_workstreams(api: Client) -> None:
    owner = an_organization(api).owner
    usual, other = a_project(owner), a_project(owner)
    workstream_id = a_workstream(owner, project_id=usual)
    assert a_session(owner, workstream_id=workstream_id)["project_id"] == usual
    assert a_session(owner, workstream_id=workstream_id, project_id=other)["project_id"] == other
    assert a_session(owner, workstream_id=workstream_id, project_id=None)["project_id"] is None


def test_the_project_of_a_session_is_fixed_when_it_is_made(api: Client) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner, project_id=(project_id := a_project(owner)))
    session = a_session(owner, workstream_id=workstream_id)
    ok(owner.patch(f"/workstreams/{workstream_id}", {"project_id": None}))
    assert ok(owner.get(f"/sessions/{session['session_id']}"))["project_id"] == project_id


@pytest.mark.parametrize("kind", ["interactive", "coordinator"])
def test_a_project_that_the_acting_user_does_not_read_in_a_session_is_unknown(api: Client, kind: str) -> None:
    organization = an_organization(api)
    member = a_member(organization, project_id := a_project(a_person(organization).client), "viewer")
    assert a_session(member.client, kind=kind, project_id=project_id)["project_id"] == project_id
    for client in (organization.owner, a_person(organization).client):
        problem(client.post("/sessions", {"kind": kind, "project_id": project_id}), 404, "not_found")
    problem(member.client.post("/sessions", {"kind": kind, "project_id": "prj_unknown"}), 404, "not_found")


def test_the_workstreams_project_is_unknown_to_who_has_left_it(api: Client) -> None:
    organization = an_organization(api)
    member = a_member(organization, project_id := a_project(organization.owner))
    workstream_id = a_workstream(member.client, project_id=project_id)
    assert organization.owner.delete(f"/projects/{project_id}/members/{member.user_id}").status_code == 204
    body: Json = {"kind": "interactive", "workstream_id": workstream_id}
    problem(member.client.post("/sessions", body), 404, "not_found")
    assert a_session(member.client, workstream_id=workstream_id, project_id=None)["project_id"] is None


def test_an_archived_project_may_be_attached_for_when_it_is_back(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    ok(owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    assert a_session(owner, project_id=project_id)["project_id"] == project_id


def test_anothers_workstream_is_unknown_without_service(api: Client) -> None:
    organization = an_organization(api)
    workstream_id = a_workstream(a_person(organization).client)
    for client in (organization.owner, a_person(organization).client, an_organization(api).owner):
        body: Json = {"kind": "interactive", "workstream_id": workstream_id, "read_only": 1}
        problem(client.post("/sessions", body), 404, "not_found")


def test_acting_for_a_user_needs_service(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    for acting in (person.user_id, organization.owner_id):
        body: Json = {"kind": "interactive", "acting_user_id": acting}
        refused = problem(organization.owner.post("/sessions", body), 403, "forbidden")
        assert refused["permission"] == "service"
    body = {"kind": "interactive", "acting_user_id": "usr_unknown"}
    problem(organization.owner.post("/sessions", body), 404, "not_found")


def test_a_service_token_opens_a_session_for_its_acting_user_which_both_use(api: Client) -> None:
    organization = an_organization_with_service(api)
    person, other = a_person(organization), a_person(organization, "admin")
    workstream_id = a_workstream(person.client)
    session = a_session(api, acting_user_id=person.user_id, workstream_id=workstream_id)
    assert (session["user_id"], session["opened_by"]) == (person.user_id, organization.owner_id)
    path = f"/sessions/{session['session_id']}"
    assert ok(person.client.get(path)) == ok(api.get(path)) == session
    problem(other.client.get(path), 404, "not_found")
    problem(other.client.delete(path), 404, "not_found")
    assert api.delete(path).status_code == 204


def test_the_workstream_that_is_made_belongs_to_the_acting_user(api: Client) -> None:
    person = a_person(an_organization_with_service(api))
    session = a_session(api, acting_user_id=person.user_id)
    assert ok(person.client.get(f"/workstreams/{session['workstream_id']}"))["owner_id"] == person.user_id


def test_a_guest_acts_in_anothers_workstream(api: Client) -> None:
    organization = an_organization_with_service(api)
    owner, guest = a_person(organization), a_person(organization)
    workstream_id = a_workstream(owner.client)
    session = a_session(api, acting_user_id=guest.user_id, workstream_id=workstream_id)
    assert (session["user_id"], session["workstream_id"]) == (guest.user_id, workstream_id)
    assert a_session(api, workstream_id=workstream_id)["user_id"] == organization.owner_id
    problem(owner.client.get(f"/sessions/{session['session_id']}"), 404, "not_found")


def test_the_acting_user_is_of_the_organization_and_a_member_of_the_project(api: Client) -> None:
    organization = an_organization_with_service(api)
    person, stranger = a_person(organization), an_organization(api)
    project_id = a_project(api)
    body: Json = {"kind": "interactive", "acting_user_id": stranger.owner_id}
    problem(api.post("/sessions", body), 404, "not_found")
    body = {"kind": "interactive", "acting_user_id": person.user_id, "project_id": project_id}
    problem(api.post("/sessions", body), 404, "not_found")


def test_opening_and_ending_sessions_is_audited_with_their_id(api: Client) -> None:
    organization = an_organization_with_service(api)
    person = a_person(organization)
    session = a_session(api, acting_user_id=person.user_id, read_only=True)
    person.client.delete(f"/sessions/{session['session_id']}")
    ended, opened = items(api.get("/admin/audit-events", resource_id=str(session["session_id"])))
    assert (opened["action"], opened["actor"]) == ("session.create", organization.owner_id)
    assert (ended["action"], ended["actor"]) == ("session.delete", person.user_id)
    assert opened["session_id"] == ended["session_id"] == session["session_id"]
    assert opened["detail"] == {
        "kind": "interactive",
        "user_id": person.user_id,
        "workstream_id": session["workstream_id"],
        "project_id": None,
        "read_only": True,
    }


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {("kind", "missing")}),
        ({"kind": "other"}, {("kind", "not_allowed")}),
        ({"kind": "interactive", "workstream_id": None}, {("workstream_id", "null")}),
        ({"kind": "interactive", "acting_user_id": None}, {("acting_user_id", "null")}),
        ({"kind": "interactive", "read_only": "yes"}, {("read_only", "type")}),
        ({"kind": "interactive", "workstream_id": ""}, {("workstream_id", "too_short")}),
        ({"kind": "interactive", "project_id": ""}, {("project_id", "too_short")}),
        ({"kind": "interactive", "user_id": "usr_1"}, {("user_id", "unknown")}),
    ],
)
def test_what_breaks_a_rule_is_refused_and_leaves_nothing(
    api: Client, body: Json, fields: set[tuple[str, str]]
) -> None:
    owner = an_organization(api).owner
    assert refused_fields(owner.post("/sessions", body)) == fields
    assert items(owner.get("/workstreams")) == []


def test_a_token_that_only_reads_opens_sessions_and_ends_none(api: Client) -> None:
    owner = an_organization(api).owner
    reader, writer = (api.with_token(a_token(owner, None, permission)) for permission in ("read", "write"))
    path = f"/sessions/{a_session(reader)['session_id']}"
    ok(reader.get(path))
    problem(reader.delete(path), 403, "forbidden")
    problem(writer.get(path), 403, "forbidden")
    problem(writer.post("/sessions", {"kind": "interactive"}), 403, "forbidden")


def test_a_session_resumes_where_its_workstream_had_one_before_even_if_that_has_ended(
    api: Client, engine: Engine
) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    first = a_session(owner, workstream_id=workstream_id)
    owner.delete(f"/sessions/{first['session_id']}")
    second, alone = a_session(owner, workstream_id=workstream_id), a_session(owner)
    third = a_session(owner, workstream_id=alone["workstream_id"])
    assert [resumes(engine, session) for session in (second, alone, third)] == [True, False, True]


def test_of_sessions_opened_at_once_on_a_workstream_one_is_the_first(api: Client, engine: Engine) -> None:
    owner = an_organization(api).owner
    workstream_id = a_workstream(owner)
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: a_session(owner, workstream_id=workstream_id), range(4)))
    assert sorted(resumes(engine, session) for session in opened) == [False, True, True, True]


def resumes(engine: Engine, session: Json) -> bool:
    with engine.connect() as connection:
        names = {"session_id": session["session_id"]}
        return bool(
            connection.execute(text("select resumes from sessions where session_id = :session_id"), names).scalar()
        )


def test_a_session_is_opened_once_by_an_idempotency_key(api: Client) -> None:
    owner = an_organization(api).owner
    body: Json = {"kind": "interactive"}
    first, again = (ok(owner.post("/sessions", body, key="k"), 201) for _ in range(2))
    assert first == again
    assert len(items(owner.get("/workstreams"))) == 1
