"""Organizations: made by service tokens, run by owners and admins; and who one is (tenancy.md)."""

from pydantic import JsonValue

from tests.client import (
    Client,
    Json,
    a_member,
    a_name,
    a_person,
    a_project,
    a_token,
    an_organization,
    ok,
    problem,
    refused_fields,
)
from tests.stack import Stack, start_api

POLICIES: Json = {
    "required_approvals": 0,
    "allow_self_approval": True,
    "path_owners": [],
    "review_reminder_after": None,
    "review_expires_after": None,
    "global_write": "member",
}


def test_a_service_token_makes_an_organization_with_its_owner(api: Client) -> None:
    made = ok(api.post("/admin/organizations", {"name": "Acme", "owner": {"name": "Ann", "email": "a@acme.org"}}), 201)
    organization, owner, token = made["organization"], made["owner"], made["token"]
    assert isinstance(organization, dict)
    assert isinstance(owner, dict)
    assert isinstance(token, dict)
    assert organization == {"organization_id": organization["organization_id"], "name": "Acme"}
    assert (owner["name"], owner["email"], owner["role"]) == ("Ann", "a@acme.org", "owner")
    assert token["permissions"] == ["read", "write", "admin.memories"]
    assert str(token["secret"]).startswith("cnr_")
    assert set(token) == {"token_id", "secret", "permissions"}
    assert ok(api.with_token(str(token["secret"])).get("/me"))["organization"] == organization


def test_organizations_are_made_with_service_only(api: Client) -> None:
    organization = an_organization(api)
    body: dict[str, JsonValue] = {"name": "x", "owner": {"name": "y"}}
    refused = problem(organization.owner.post("/admin/organizations", body), 403, "forbidden")
    assert refused["permission"] == "service"


def test_organizations_may_share_a_name(api: Client) -> None:
    assert an_organization(api, "Twin").organization_id != an_organization(api, "Twin").organization_id


def test_an_organization_shows_its_policies_with_their_defaults(api: Client) -> None:
    organization = an_organization(api, "Acme")
    shown = ok(organization.owner.get("/admin/organization"))
    assert shown.items() >= POLICIES.items()
    assert (shown["organization_id"], shown["name"], shown["version"]) == (organization.organization_id, "Acme", 1)
    assert set(shown) == {*POLICIES, "organization_id", "name", "version", "created_at", "updated_at"}


def test_an_organization_is_renamed(api: Client) -> None:
    organization = an_organization(api)
    renamed = ok(organization.owner.patch("/admin/organization", {"name": " New "}, version=1))
    assert (renamed["name"], renamed["version"]) == ("New", 2)
    assert ok(organization.owner.get("/admin/organization")) == renamed
    stale = problem(
        organization.owner.patch("/admin/organization", {"name": "x"}, version=1), 412, "precondition_failed"
    )
    assert (stale["expected"], stale["actual"]) == (1, 2)


def test_owners_and_admins_decide_who_writes_global_memories(api: Client) -> None:
    owner = an_organization(api).owner
    changed = ok(owner.patch("/admin/organization", {"global_write": "admin"}, version=1))
    assert (changed["global_write"], changed["version"]) == ("admin", 2)
    assert ok(owner.get("/admin/organization")) == changed
    refused = owner.patch("/admin/organization", {"global_write": "owner"}, version=2)
    assert [field for field, _ in refused_fields(refused)] == ["global_write"]


def test_a_new_organization_begins_with_what_the_settings_say_of_global_memories(api: Client, stack: Stack) -> None:
    service = start_api(stack, CANONRY_MEMORY__GLOBAL_WRITE="admin")
    try:
        owner = an_organization(Client(service.url, api.token)).owner
        assert ok(owner.get("/admin/organization"))["global_write"] == "admin"
    finally:
        service.stop()


def test_members_do_not_run_the_organization(api: Client) -> None:
    organization = an_organization(api)
    member, admin = a_person(organization), a_person(organization, "admin")
    problem(member.client.get("/admin/organization"), 403, "forbidden")
    problem(member.client.patch("/admin/organization", {"name": "x"}, version=1), 403, "forbidden")
    ok(admin.client.patch("/admin/organization", {"name": "x"}, version=1))


def test_me_tells_who_one_is_and_what_the_token_permits(api: Client) -> None:
    organization = an_organization(api, "Acme")
    second, first = a_project(organization.owner, "Second"), a_project(organization.owner, "First")
    person = a_member(organization, second, "viewer")
    ok(organization.owner.post(f"/projects/{first}/members", {"user_id": person.user_id, "role": "admin"}), 201)
    me = ok(person.client.get("/me"))
    assert me == {
        "user": {"user_id": person.user_id, "name": me["user"]["name"], "email": None},  # type: ignore[call-overload,index]
        "organization": {"organization_id": organization.organization_id, "name": "Acme"},
        "role": "member",
        "projects": [
            {"project_id": first, "name": "First", "role": "admin"},
            {"project_id": second, "name": "Second", "role": "viewer"},
        ],
        "permissions": ["read", "write"],
    }


def test_me_leaves_deleted_projects_out_and_needs_no_permission_to_read(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner, a_name("Gone"))
    assert organization.owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    writer = api.with_token(a_token(organization.owner, None, "write"))
    me = ok(writer.get("/me"))
    assert (me["projects"], me["permissions"]) == ([], ["write"])
