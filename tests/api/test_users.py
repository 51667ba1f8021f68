"""People of an organization (tenancy.md)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

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
from tests.proposals import a_draft, a_review, creates, merge


def test_a_user_is_added_shown_changed_and_removed(api: Client) -> None:
    owner = an_organization(api).owner
    added = owner.post("/admin/users", {"name": " Zoë ", "email": "zoe@example.org", "role": "member"})
    user = ok(added, 201)
    assert (user["name"], user["email"], user["role"], user["version"]) == ("Zoë", "zoe@example.org", "member", 1)
    path = f"/admin/users/{user['user_id']}"
    assert ok(owner.get(path)) == user
    changed = ok(owner.patch(path, {"name": "Zoe", "email": "z@example.org", "role": "admin"}))
    assert (changed["name"], changed["email"], changed["role"], changed["version"]) == (
        "Zoe",
        "z@example.org",
        "admin",
        2,
    )
    removed = owner.delete(path)
    assert (removed.status_code, removed.content) == (204, b"")
    problem(owner.get(path), 404, "not_found")
    problem(owner.delete(path), 404, "not_found")
    problem(owner.patch(path, {"name": "x"}), 404, "not_found")


def test_users_are_listed_newest_first_page_by_page(api: Client) -> None:
    organization = an_organization(api)
    people = [a_person(organization).user_id for _ in range(4)]
    everybody = [*reversed(people), organization.owner_id]
    assert [user["user_id"] for user in items(organization.owner.get("/admin/users"))] == everybody
    first = ok(organization.owner.get("/admin/users", limit=3))
    second = ok(organization.owner.get("/admin/users", limit=3, cursor=str(first["next_cursor"])))
    pages = [*first["items"], *second["items"]]  # type: ignore[misc]
    assert [user["user_id"] for user in pages] == everybody
    assert second["next_cursor"] is None


def test_a_full_last_page_has_no_next(api: Client) -> None:
    organization = an_organization(api)
    a_person(organization)
    assert ok(organization.owner.get("/admin/users", limit=2))["next_cursor"] is None


def test_a_cursor_of_another_list_or_organization_is_refused(api: Client) -> None:
    mine, theirs = an_organization(api), an_organization(api)
    a_person(mine)
    cursor = str(ok(mine.owner.get("/admin/users", limit=1))["next_cursor"])
    assert refused_fields(mine.owner.get("/projects", cursor=cursor)) == {("cursor", "foreign")}
    assert refused_fields(theirs.owner.get("/admin/users", cursor=cursor)) == {("cursor", "foreign")}


@pytest.mark.parametrize("role", ["owner", "admin"])
def test_owners_and_admins_manage_users(api: Client, role: str) -> None:
    organization = an_organization(api)
    client = a_person(organization, role).client
    user = ok(client.post("/admin/users", {"name": "x", "role": "member"}), 201)
    ok(client.patch(f"/admin/users/{user['user_id']}", {"role": "admin"}))
    assert client.delete(f"/admin/users/{user['user_id']}").status_code == 204


def test_members_do_not(api: Client) -> None:
    organization = an_organization(api)
    member = a_person(organization)
    path = f"/admin/users/{member.user_id}"
    problem(member.client.get("/admin/users"), 403, "forbidden")
    problem(member.client.get(path), 403, "forbidden")
    problem(member.client.post("/admin/users", {"name": "x", "role": "member"}), 403, "forbidden")
    problem(member.client.patch(path, {"role": "owner"}), 403, "forbidden")
    problem(member.client.delete(path), 403, "forbidden")
    problem(member.client.delete("/admin/users/usr_unknown"), 404, "not_found")


def test_an_email_is_one_user_s_whatever_its_case(api: Client) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/admin/users", {"name": "a", "email": "a@example.org", "role": "member"}), 201)
    taken: Json = {"name": "b", "email": "A@Example.org", "role": "member"}
    assert problem(owner.post("/admin/users", taken), 409, "already_exists")["field"] == "email"
    other = ok(owner.post("/admin/users", {"name": "b", "email": "b@example.org", "role": "member"}), 201)
    problem(owner.patch(f"/admin/users/{other['user_id']}", {"email": "A@EXAMPLE.ORG"}), 409, "already_exists")
    ok(owner.patch(f"/admin/users/{other['user_id']}", {"email": "B@example.org"}))


def test_an_email_may_be_used_in_every_organization(api: Client) -> None:
    for _ in range(2):
        ok(an_organization(api).owner.post("/admin/users", {"name": "a", "email": "a@b", "role": "member"}), 201)


@pytest.mark.parametrize("email", ["", "a", "a@", "@b", "a b@c", "a@b@c", "a@b..c", "a\n@b", "x" * 250 + "@b.org"])
def test_what_is_no_email_is_refused(api: Client, email: str) -> None:
    refused = api.post("/admin/users", {"name": "a", "email": email, "role": "member"})
    assert {field for field, _ in refused_fields(refused)} == {"email"}


def test_a_role_is_one_of_three(api: Client) -> None:
    assert refused_fields(api.post("/admin/users", {"name": "a", "role": "viewer"})) == {("role", "not_allowed")}
    assert refused_fields(api.post("/admin/users", {"name": "a"})) == {("role", "missing")}


def test_the_last_owner_stays(api: Client) -> None:
    organization = an_organization(api)
    path = f"/admin/users/{organization.owner_id}"
    problem(organization.owner.patch(path, {"role": "admin"}), 409, "last_owner")
    problem(organization.owner.delete(path), 409, "last_owner")
    assert ok(organization.owner.get(path))["role"] == "owner"
    second = a_person(organization, "owner")
    ok(organization.owner.patch(path, {"role": "member"}))
    problem(second.client.delete(f"/admin/users/{second.user_id}"), 409, "last_owner")


def test_two_owners_who_lower_each_other_leave_one(api: Client) -> None:
    organization = an_organization(api)
    second = a_person(organization, "owner")
    both = [(organization.owner, second.user_id), (second.client, organization.owner_id)]
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda pair: pair[0].patch(f"/admin/users/{pair[1]}", {"role": "member"}), both))
    assert sorted(answer.status_code for answer in answers) == [200, 403]


def test_a_removed_user_takes_tokens_and_memberships_along(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_member(organization, project_id)
    assert organization.owner.delete(f"/admin/users/{person.user_id}").status_code == 204
    problem(person.client.get("/me"), 401, "unauthenticated")
    members = [member["user_id"] for member in items(organization.owner.get(f"/projects/{project_id}/members"))]
    assert members == [organization.owner_id]


def test_a_removed_user_s_email_is_free_again(api: Client) -> None:
    owner = an_organization(api).owner
    body: Json = {"name": "a", "email": "a@b", "role": "member"}
    user = ok(owner.post("/admin/users", body), 201)
    assert owner.delete(f"/admin/users/{user['user_id']}").status_code == 204
    ok(owner.post("/admin/users", body), 201)


@pytest.mark.usefixtures("worker")
def test_a_removed_user_s_open_drafts_are_discarded_and_reviews_withdrawn(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    author, colleague = a_member(organization, project_id), a_member(organization, project_id)
    left_open = a_draft(author.client, project_id, creates("open.md"))
    submitted = a_draft(author.client, project_id, creates("submitted.md"))
    review = a_review(author.client, submitted)
    untouched = a_review(colleague.client, a_draft(colleague.client, project_id, creates("other.md")))
    assert organization.owner.delete(f"/admin/users/{author.user_id}").status_code == 204

    closed = ok(organization.owner.get(f"/reviews/{review['review_id']}"))
    assert (closed["status"], closed["closed_reason"]) == ("withdrawn", "user_deleted")
    assert ok(organization.owner.get(f"/reviews/{untouched['review_id']}"))["status"] == "open"
    statement = text("select status from drafts where draft_id = any(:ids)")
    with engine.connect() as connection:
        ids = [left_open["draft_id"], submitted["draft_id"]]
        assert connection.execute(statement, {"ids": ids}).scalars().all() == ["discarded", "discarded"]
    problem(merge(organization.owner, closed), 409, "review_closed")


@pytest.mark.usefixtures("worker")
def test_what_a_removed_user_published_stays(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    author = a_member(organization, project_id)
    review = a_review(author.client, a_draft(author.client, project_id, creates("a.md")))
    ok(merge(organization.owner, review))
    assert organization.owner.delete(f"/admin/users/{author.user_id}").status_code == 204
    kept = ok(organization.owner.get(f"/reviews/{review['review_id']}"))
    assert (kept["status"], kept["author_id"]) == ("merged", author.user_id)
    assert [memory["path"] for memory in items(organization.owner.get("/org/memories"))] == ["a.md"]
