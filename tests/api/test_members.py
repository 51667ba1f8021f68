"""Members of a project: its admins, owners and admins manage them (tenancy.md)."""

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_person,
    a_project,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)


def test_a_member_is_added_changed_and_removed(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_person(organization, name="Mia")
    path = f"/projects/{project_id}/members"
    added = ok(organization.owner.post(path, {"user_id": person.user_id, "role": "viewer"}), 201)
    assert (added["project_id"], added["user_id"], added["name"], added["role"]) == (
        project_id,
        person.user_id,
        "Mia",
        "viewer",
    )
    ok(person.client.get(f"/projects/{project_id}"))
    changed = ok(organization.owner.patch(f"{path}/{person.user_id}", {"role": "admin"}))
    assert (changed["role"], changed["created_at"]) == ("admin", added["created_at"])
    removed = organization.owner.delete(f"{path}/{person.user_id}")
    assert (removed.status_code, removed.content) == (204, b"")
    problem(person.client.get(f"/projects/{project_id}"), 404, "not_found")
    problem(organization.owner.delete(f"{path}/{person.user_id}"), 404, "not_found")


def test_members_are_listed_by_name_page_by_page(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    path = f"/projects/{project_id}/members"
    people = [a_person(organization, name=name) for name in ("Cleo", "Ada", "Bo", "Ada", "ada")]
    for person in people:
        ok(organization.owner.post(path, {"user_id": person.user_id, "role": "member"}), 201)
    names = ["Ada", "Ada", "Bo", "Cleo", "Olga Owner", "ada"]
    assert [member["name"] for member in items(organization.owner.get(path))] == names
    first = ok(organization.owner.get(path, limit=1))
    second = ok(organization.owner.get(path, limit=1, cursor=str(first["next_cursor"])))
    rest = items(organization.owner.get(path, cursor=str(second["next_cursor"])))
    assert [member["name"] for member in rest] == names[2:]
    assert first["items"] != second["items"]


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_only_managers_have_to_do_with_members(api: Client, role: str) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person, path = a_member(organization, project_id, role), f"/projects/{project_id}/members"
    body: Json = {"user_id": a_person(organization).user_id, "role": "viewer"}
    problem(person.client.get(path), 403, "forbidden")
    problem(person.client.post(path, body), 403, "forbidden")
    problem(person.client.patch(f"{path}/{person.user_id}", {"role": "admin"}), 403, "forbidden")
    problem(person.client.delete(f"{path}/{person.user_id}"), 403, "forbidden")
    problem(a_person(organization).client.get(path), 404, "not_found")


def test_project_admins_owners_and_admins_do(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    path = f"/projects/{project_id}/members"
    managers = [a_member(organization, project_id, "admin"), a_person(organization, "admin")]
    for client in [*(manager.client for manager in managers), organization.owner]:
        person = a_person(organization)
        ok(client.post(path, {"user_id": person.user_id, "role": "member"}), 201)
        ok(client.patch(f"{path}/{person.user_id}", {"role": "viewer"}))
        assert client.delete(f"{path}/{person.user_id}").status_code == 204


def test_a_user_is_a_member_once(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_member(organization, project_id)
    again: Json = {"user_id": person.user_id, "role": "admin"}
    problem(organization.owner.post(f"/projects/{project_id}/members", again), 409, "already_exists")


def test_who_is_no_user_becomes_no_member(api: Client) -> None:
    owner = an_organization(api).owner
    path = f"/projects/{a_project(owner)}/members"
    problem(owner.post(path, {"user_id": "usr_unknown", "role": "viewer"}), 404, "not_found")
    problem(owner.post(path, {"user_id": "usr_unknown", "role": "nonsense"}), 404, "not_found")
    problem(owner.patch(f"{path}/usr_unknown", {"role": "viewer"}), 404, "not_found")


def test_a_project_role_is_one_of_three(api: Client) -> None:
    owner = an_organization(api).owner
    path = f"/projects/{a_project(owner)}/members"
    assert refused_fields(owner.post(path, {"user_id": "", "role": "owner"})) == {
        ("user_id", "too_short"),
        ("role", "not_allowed"),
    }
