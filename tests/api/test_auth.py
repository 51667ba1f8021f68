"""Who asks is answered before anything else."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text

from tests.client import Client, a_person, a_project, a_token, an_organization, ok, problem

EVERY_KIND_OF_ROUTE = [
    ("GET", "/me"),
    ("GET", "/projects"),
    ("POST", "/projects"),
    ("GET", "/projects/prj_unknown"),
    ("PATCH", "/projects/prj_unknown"),
    ("DELETE", "/admin/users/usr_unknown"),
    ("GET", "/operations/opn_unknown"),
    ("GET", "/no/such/route"),
    ("PUT", "/me"),
]


@pytest.mark.parametrize(("method", "path"), EVERY_KIND_OF_ROUTE)
def test_without_a_token_every_route_answers_unauthenticated(api: Client, method: str, path: str) -> None:
    refused = api.with_token(None).request(method, path, content=b"not json")
    problem(refused, 401, "unauthenticated")
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer cnr_unknown", "Bearer a b", "Bearer ü", "cnr_unknown"],
)
def test_a_credential_that_is_none_is_refused(api: Client, authorization: str) -> None:
    refused = api.with_token(None).request("GET", "/me", headers=[(b"Authorization", authorization.encode())])
    problem(refused, 401, "unauthenticated")


def test_the_scheme_is_read_without_regard_to_case(api: Client) -> None:
    organization = an_organization(api)
    ok(api.with_token(None).get("/me", headers={"Authorization": f"bearer {organization.owner.token}"}))


def test_a_secret_with_another_ending_is_refused(api: Client) -> None:
    secret = an_organization(api).owner.token or ""
    forged = secret[:-1] + ("0" if secret[-1] != "0" else "1")
    problem(api.with_token(forged).get("/me"), 401, "unauthenticated")


def test_a_token_ends_when_it_expires(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    secret = a_token(organization.owner)
    client = api.with_token(secret)
    token_id = "tok_" + secret.removeprefix("cnr_")[:32]
    ok(client.get("/me"))
    with engine.begin() as connection:
        expired = {"at": datetime.now(UTC) - timedelta(seconds=1), "token_id": token_id}
        connection.execute(text("update tokens set expires_at = :at where token_id = :token_id"), expired)
    problem(client.get("/me"), 401, "unauthenticated")


def test_a_revoked_token_is_refused_at_once(api: Client) -> None:
    organization = an_organization(api)
    client = api.with_token(a_token(organization.owner))
    token_id = "tok_" + (client.token or "").removeprefix("cnr_")[:32]
    assert organization.owner.delete(f"/admin/tokens/{token_id}").status_code == 204
    problem(client.get("/me"), 401, "unauthenticated")


def test_the_secret_is_nowhere_in_the_database(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    secret = a_token(organization.owner)
    with engine.connect() as connection:
        rows = connection.execute(
            text("""
                select t::text from tokens t where org_id = :org_id
                union all select a::text from audit_events a where org_id = :org_id
                union all select k::text from idempotency_keys k where org_id = :org_id
            """),
            {"org_id": organization.organization_id},
        ).scalars()
        assert not [row for row in rows if secret[-64:] in row]


def test_reading_needs_read(api: Client) -> None:
    organization = an_organization(api)
    blind = api.with_token(a_token(organization.owner, None, "write"))
    assert problem(blind.get("/projects"), 403, "forbidden")["permission"] == "read"
    ok(blind.post("/projects", {"name": "Blind"}), 201)


def test_writing_needs_write_and_never_read_alone(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    reader = api.with_token(a_token(organization.owner, None, "read"))
    ok(reader.get(f"/projects/{project_id}"))
    assert problem(reader.post("/projects", {"name": "No"}), 403, "forbidden")["permission"] == "write"
    problem(reader.patch(f"/projects/{project_id}", {"name": "No"}, version=1), 403, "forbidden")
    problem(reader.delete(f"/projects/{project_id}", version=1), 403, "forbidden")


def test_a_token_acts_with_the_role_its_user_has_now(api: Client) -> None:
    organization = an_organization(api)
    person = a_person(organization)
    problem(person.client.get("/admin/users"), 403, "forbidden")
    ok(organization.owner.patch(f"/admin/users/{person.user_id}", {"role": "admin"}))
    ok(person.client.get("/admin/users"))


def test_another_organization_s_things_are_unknown(api: Client) -> None:
    mine, theirs = an_organization(api), an_organization(api)
    project_id = a_project(theirs.owner)
    person = a_person(theirs)
    problem(mine.owner.get(f"/projects/{project_id}"), 404, "not_found")
    problem(mine.owner.patch(f"/projects/{project_id}", {"name": "Mine"}, version=1), 404, "not_found")
    problem(mine.owner.get(f"/projects/{project_id}/members"), 404, "not_found")
    problem(mine.owner.get(f"/admin/users/{person.user_id}"), 404, "not_found")
    problem(mine.owner.get("/admin/tokens", user_id=person.user_id), 404, "not_found")
    problem(
        mine.owner.post(f"/projects/{a_project(mine.owner)}/members", {"user_id": person.user_id, "role": "viewer"}),
        404,
        "not_found",
    )
