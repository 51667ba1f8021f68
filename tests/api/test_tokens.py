"""Tokens: made for oneself or, by owners and admins, for others; shown once, revoked at once (tenancy.md)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.client import Client, Json, a_person, a_token, an_organization, items, ok, problem, refused_fields


def test_a_token_is_made_shown_once_and_listed_without_its_secret(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    made = ok(person.client.post("/admin/tokens", {"name": "laptop", "permissions": ["write", "read"]}), 201)
    assert set(made) == {"token_id", "user_id", "name", "permissions", "expires_at", "created_at", "secret"}
    assert (made["user_id"], made["name"], made["permissions"], made["expires_at"]) == (
        person.user_id,
        "laptop",
        ["read", "write"],
        None,
    )
    newest = items(person.client.get("/admin/tokens"))[0]
    assert newest == {name: value for name, value in made.items() if name != "secret"}
    ok(api.with_token(str(made["secret"])).get("/me"))


def test_a_token_expires_when_it_says(api: Client) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    body: Json = {"name": "t", "permissions": ["read"], "expires_at": later}
    made = ok(an_organization(api).owner.post("/admin/tokens", body), 201)
    assert str(made["expires_at"]) == later.replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("expires_at", "rule"),
    [
        ("2020-01-01T00:00:00Z", "past"),
        ("2099-01-01", "rfc_3339"),
        ("2099-01-01T00:00:00", "rfc_3339"),
        ("2099-02-30T00:00:00Z", "rfc_3339"),
        ("tomorrow", "rfc_3339"),
        (4102444800, "type"),
        (None, "null"),
    ],
)
def test_an_expiry_is_a_future_time_with_its_offset(api: Client, expires_at: str | int | None, rule: str) -> None:
    refused = api.post("/admin/tokens", {"name": "t", "permissions": ["read"], "expires_at": expires_at})
    assert refused_fields(refused) == {("expires_at", rule)}


@pytest.mark.parametrize(
    ("permissions", "error"),
    [
        ([], ("permissions", "too_short")),
        (["read", "read"], ("permissions", "repeated")),
        (["root"], ("permissions[0]", "not_allowed")),
        ("read", ("permissions", "type")),
    ],
)
def test_permissions_are_a_set_of_the_four(api: Client, permissions: list[str] | str, error: tuple[str, str]) -> None:
    body: Json = {"name": "t", "permissions": permissions if isinstance(permissions, str) else [*permissions]}
    assert refused_fields(api.post("/admin/tokens", body)) == {error}


def test_a_token_grants_no_more_than_its_creator_s(api: Client) -> None:
    organization = an_organization(api)
    wider: Json = {"name": "t", "permissions": ["read", "service"]}
    assert problem(organization.owner.post("/admin/tokens", wider), 403, "forbidden")["permissions"] == ["service"]
    writer = api.with_token(a_token(organization.owner, None, "write"))
    problem(writer.post("/admin/tokens", {"name": "t", "permissions": ["read"]}), 403, "forbidden")
    problem(writer.post("/admin/tokens", {"name": "", "permissions": ["read"]}), 403, "forbidden")


def test_only_owners_and_admins_grant_the_reserved_permissions(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    everything = api.with_token(a_token(organization.owner, person.user_id, "read", "write", "admin.memories"))
    body: Json = {"name": "t", "permissions": ["admin.memories"]}
    problem(everything.post("/admin/tokens", body), 403, "forbidden")
    ok(organization.owner.patch(f"/admin/users/{person.user_id}", {"role": "admin"}))
    ok(everything.post("/admin/tokens", body), 201)


def test_service_is_granted_by_those_who_have_it(api: Client) -> None:
    secret = a_token(api, None, "service")
    client = api.with_token(secret)
    ok(client.post("/admin/organizations", {"name": "x", "owner": {"name": "y"}}), 201)
    problem(client.get("/projects"), 403, "forbidden")


def test_others_tokens_are_for_owners_and_admins(api: Client) -> None:
    organization = an_organization(api)
    person, other, admin = a_person(organization), a_person(organization), a_person(organization, "admin")
    body: Json = {"name": "t", "permissions": ["read"], "user_id": other.user_id}
    problem(person.client.post("/admin/tokens", body), 403, "forbidden")
    problem(person.client.get("/admin/tokens", user_id=other.user_id), 403, "forbidden")
    made = ok(admin.client.post("/admin/tokens", body), 201)
    assert made["user_id"] == other.user_id
    problem(person.client.delete(f"/admin/tokens/{made['token_id']}"), 404, "not_found")
    listed = items(admin.client.get("/admin/tokens", user_id=other.user_id))
    assert listed[0]["token_id"] == made["token_id"]
    assert admin.client.delete(f"/admin/tokens/{made['token_id']}").status_code == 204
    problem(admin.client.delete(f"/admin/tokens/{made['token_id']}"), 404, "not_found")


def test_one_s_own_token_is_revoked_by_oneself(api: Client) -> None:
    person = a_person(an_organization(api))
    made = ok(person.client.post("/admin/tokens", {"name": "t", "permissions": ["read"]}), 201)
    assert person.client.delete(f"/admin/tokens/{made['token_id']}").status_code == 204


def test_a_token_for_an_unknown_user_is_not_found(api: Client) -> None:
    owner = an_organization(api).owner
    body: Json = {"name": "t", "permissions": ["read"], "user_id": "usr_unknown"}
    problem(owner.post("/admin/tokens", body), 404, "not_found")
    problem(owner.post("/admin/tokens", {**body, "name": ""}), 404, "not_found")
    problem(owner.get("/admin/tokens", user_id="usr_unknown"), 404, "not_found")


def test_tokens_are_listed_newest_first_page_by_page(api: Client) -> None:
    person = a_person(an_organization(api))
    for _ in range(4):
        a_token(person.client)
    everything = [token["token_id"] for token in items(person.client.get("/admin/tokens"))]
    first = ok(person.client.get("/admin/tokens", limit=3))
    rest = items(person.client.get("/admin/tokens", limit=3, cursor=str(first["next_cursor"])))
    assert everything == sorted((str(token) for token in everything), reverse=True)
    assert [token["token_id"] for token in rest] == everything[3:]
