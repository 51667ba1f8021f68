"""Who did what: for owners and admins, ids and never contents (tenancy.md)."""

from collections.abc import Mapping

import httpx
import pytest

from tests.client import (
    Client,
    Json,
    Organization,
    a_person,
    a_project,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)


def trail(organization: Organization, query: Mapping[str, str]) -> httpx.Response:
    return organization.owner.request("GET", "/admin/audit-events", query=query)


def actions(organization: Organization, **query: str) -> list[object]:
    return [event["action"] for event in items(trail(organization, query))]


def test_every_change_leaves_its_trace(api: Client) -> None:
    organization = an_organization(api)
    owner = organization.owner
    user_id = str(ok(owner.post("/admin/users", {"name": "x", "role": "member"}), 201)["user_id"])
    ok(owner.patch(f"/admin/users/{user_id}", {"role": "admin"}))
    token = ok(owner.post("/admin/tokens", {"name": "t", "permissions": ["read"]}), 201)
    owner.delete(f"/admin/tokens/{token['token_id']}")
    project_id = a_project(owner)
    path = f"/projects/{project_id}"
    ok(owner.post(f"{path}/members", {"user_id": user_id, "role": "member"}), 201)
    ok(owner.patch(f"{path}/members/{user_id}", {"role": "viewer"}))
    owner.delete(f"{path}/members/{user_id}")
    ok(owner.patch(path, {"description": "d"}, version=1))
    owner.delete(path, version=2)
    owner.delete(f"/admin/users/{user_id}")
    ok(owner.patch("/admin/organization", {"name": "new"}, version=1))
    assert actions(organization)[::-1] == [
        "organization.create",
        "user.create",
        "token.create",
        "user.create",
        "user.update",
        "token.create",
        "token.revoke",
        "project.create",
        "member.add",
        "member.add",
        "member.update",
        "member.remove",
        "project.update",
        "project.delete",
        "user.delete",
        "organization.update",
    ]


def test_an_event_names_actor_resource_and_request(api: Client) -> None:
    organization = an_organization(api)
    made = organization.owner.post("/projects", {"name": "Secret plans"}, headers={"X-Request-ID": "traced"})
    project_id = str(ok(made, 201)["project_id"])
    events = items(organization.owner.get("/admin/audit-events", action="project.create"))
    assert events == [
        {
            "event_id": events[0]["event_id"],
            "at": made.json()["created_at"],
            "actor": organization.owner_id,
            "action": "project.create",
            "resource_type": "project",
            "resource_id": project_id,
            "session_id": None,
            "request_id": "traced",
            "before_hash": None,
            "after_hash": None,
            "detail": {},
        }
    ]


def test_the_trail_holds_no_contents_and_no_secrets(api: Client) -> None:
    organization = an_organization(api)
    secret = a_token(organization.owner)
    ok(organization.owner.post("/projects", {"name": "Marker-A", "description": "Marker-B"}), 201)
    trail = organization.owner.get("/admin/audit-events").text
    assert not [word for word in (secret, "Marker-A", "Marker-B") if word in trail]


def test_the_trail_is_filtered(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization, "admin")
    project_id = a_project(person.client)
    assert set(actions(organization, actor=person.user_id)) == {"project.create", "member.add"}
    assert set(actions(organization, resource_id=project_id)) == {"project.create", "member.add"}
    assert actions(organization, action="project.create") == ["project.create"]
    assert actions(organization, action="nothing") == []
    at = str(items(organization.owner.get("/admin/audit-events", action="project.create"))[0]["at"])
    assert actions(organization, since=at, action="project.create") == ["project.create"]
    assert actions(organization, until=at, action="project.create") == []
    assert refused_fields(organization.owner.get("/admin/audit-events", since="yesterday")) == {("since", "rfc_3339")}


def test_the_trail_is_read_newest_first_page_by_page(api: Client) -> None:
    organization = an_organization(api)
    for _ in range(3):
        a_project(organization.owner)
    everything = items(organization.owner.get("/admin/audit-events"))
    paged: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        page = trail(organization, {"limit": "2", **cursor})
        paged += items(page)
        if page.json()["next_cursor"] is None:
            break
        cursor = {"cursor": page.json()["next_cursor"]}
    assert paged == everything
    assert [event["at"] for event in everything] == sorted((str(event["at"]) for event in everything), reverse=True)


def test_a_cursor_fits_its_filter_only(api: Client) -> None:
    owner = an_organization(api).owner
    cursor = str(ok(owner.get("/admin/audit-events", limit=1))["next_cursor"])
    assert refused_fields(owner.get("/admin/audit-events", actor="x", cursor=cursor)) == {("cursor", "foreign")}


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_read_the_trail(api: Client, role: str) -> None:
    ok(a_person(an_organization(api), role).client.get("/admin/audit-events"))


def test_members_do_not_read_the_trail(api: Client) -> None:
    problem(a_person(an_organization(api)).client.get("/admin/audit-events"), 403, "forbidden")


def test_each_organization_has_its_own_trail(api: Client) -> None:
    first, second = an_organization(api), an_organization(api)
    a_project(first.owner)
    assert "project.create" not in actions(second)
