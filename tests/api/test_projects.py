"""Projects: members see theirs, owners and admins all (tenancy.md)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.client import (
    Client,
    a_member,
    a_name,
    a_person,
    a_project,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import a_draft, a_review, creates, published, select


def test_any_member_makes_a_project_and_becomes_its_admin(api: Client) -> None:
    person = a_person(an_organization(api))
    made = person.client.post("/projects", {"name": " Atlas ", "description": "Maps"})
    project = ok(made, 201)
    assert (project["name"], project["slug"], project["description"]) == ("Atlas", "atlas", "Maps")
    assert (project["state"], project["version"], made.headers["etag"]) == ("active", 1, '"1"')
    members = items(person.client.get(f"/projects/{project['project_id']}/members"))
    assert [(member["user_id"], member["role"]) for member in members] == [(person.user_id, "admin")]
    assert ok(person.client.get(f"/projects/{project['project_id']}")) == project


def test_a_project_begins_with_a_ref_and_no_commit(api: Client, engine: Engine) -> None:
    project_id = a_project(an_organization(api).owner)
    with engine.connect() as connection:
        statement = text("select commit_id, version, selection_revision from project_refs where project_id = :id")
        assert connection.execute(statement, {"id": project_id}).all() == [(None, 0, 0)]


def test_members_see_theirs_and_owners_and_admins_all_newest_first(api: Client) -> None:
    organization = an_organization(api)
    first, second = a_project(organization.owner), a_project(organization.owner)
    member, admin = a_member(organization, first, "viewer"), a_person(organization, "admin")

    def seen(client: Client) -> list[object]:
        return [project["project_id"] for project in items(client.get("/projects"))]

    assert seen(organization.owner) == seen(admin.client) == [second, first]
    assert seen(member.client) == [first]
    assert seen(a_person(organization).client) == []
    ok(admin.client.get(f"/projects/{second}"))
    problem(member.client.get(f"/projects/{second}"), 404, "not_found")


def test_projects_are_listed_page_by_page(api: Client) -> None:
    owner = an_organization(api).owner
    made = [a_project(owner) for _ in range(5)]
    listed: list[object] = []
    page = ok(owner.get("/projects", limit=2))
    while True:
        listed += [item["project_id"] for item in page["items"]]  # type: ignore[index,union-attr,call-overload]
        if page["next_cursor"] is None:
            break
        page = ok(owner.get("/projects", limit=2, cursor=str(page["next_cursor"])))
    assert listed == made[::-1]


@pytest.mark.parametrize(("name", "other"), [("Atlas", "ATLAS"), ("Straße", "STRASSE"), ("é", "e\u0301")])
def test_a_name_is_one_project_s_whatever_its_case(api: Client, name: str, other: str) -> None:
    owner = an_organization(api).owner
    ok(owner.post("/projects", {"name": name}), 201)
    assert problem(owner.post("/projects", {"name": other}), 409, "already_exists")["field"] == "name"


def test_names_belong_to_their_organization(api: Client) -> None:
    for _ in range(2):
        ok(an_organization(api).owner.post("/projects", {"name": "Atlas", "slug": "atlas"}), 201)


def test_a_given_slug_is_kept_and_taken_once(api: Client) -> None:
    owner = an_organization(api).owner
    assert ok(owner.post("/projects", {"name": "a", "slug": "team-atlas"}), 201)["slug"] == "team-atlas"
    assert (
        problem(owner.post("/projects", {"name": "b", "slug": "team-atlas"}), 409, "already_exists")["field"] == "slug"
    )


def test_a_slug_is_made_from_the_name_and_numbered_when_taken(api: Client) -> None:
    owner = an_organization(api).owner
    names = ["Ünïcode & Co.", "unicode co", "日本", "中文", "x" * 200, "x" * 199 + "y"]
    slugs = [ok(owner.post("/projects", {"name": name}), 201)["slug"] for name in names]
    assert slugs == ["unicode-co", "unicode-co-2", "project", "project-2", "x" * 100, "x" * 98 + "-2"]


def test_projects_of_one_name_made_at_once_are_one(api: Client) -> None:
    owner = an_organization(api).owner
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: owner.post("/projects", {"name": "Atlas"}).status_code, range(8)))
    assert sorted(answers) == [201] + [409] * 7


def test_a_project_is_changed_by_its_admins_owners_and_admins(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    path = f"/projects/{project_id}"
    for role in ("member", "viewer"):
        outsider = a_member(organization, project_id, role).client
        problem(outsider.patch(path, {"name": "x"}, version=1), 403, "forbidden")
        problem(outsider.delete(path, version=1), 403, "forbidden")
    problem(a_person(organization).client.patch(path, {"name": "x"}, version=1), 404, "not_found")
    clients = [a_member(organization, project_id, "admin").client, a_person(organization, "admin").client]
    for version, client in enumerate([*clients, organization.owner], start=1):
        ok(client.patch(path, {"description": f"by {version}"}, version=version))


def test_all_fields_of_a_project_may_be_changed(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    change = {"name": "New", "slug": "new", "description": "", "state": "archived"}
    changed = ok(owner.patch(f"/projects/{project_id}", {**change}, version=1))
    assert changed.items() >= change.items()
    assert changed["version"] == 2


def test_a_project_may_change_the_case_of_its_name_but_not_take_another_s(api: Client) -> None:
    owner = an_organization(api).owner
    first, second = a_project(owner, "First"), a_project(owner, "Second")
    ok(owner.patch(f"/projects/{first}", {"name": "FIRST"}, version=1))
    problem(owner.patch(f"/projects/{second}", {"name": "first"}, version=1), 409, "already_exists")
    problem(owner.patch(f"/projects/{second}", {"slug": "first"}, version=1), 409, "already_exists")


def test_an_archived_project_takes_no_writes_until_it_is_active_again(api: Client) -> None:
    organization = an_organization(api)
    owner, project_id = organization.owner, a_project(organization.owner)
    person, path = a_member(organization, project_id), f"/projects/{project_id}"
    assert ok(owner.patch(path, {"state": "archived"}, version=1))["state"] == "archived"
    assert ok(owner.patch(path, {"state": "archived"}, version=2))["version"] == 2
    problem(owner.patch(path, {"name": "x"}, version=2), 409, "project_archived")
    problem(owner.patch(path, {"name": "x", "state": "archived"}, version=2), 409, "project_archived")
    other = a_person(organization).user_id
    problem(owner.post(f"{path}/members", {"user_id": other, "role": "viewer"}), 409, "project_archived")
    problem(owner.patch(f"{path}/members/{person.user_id}", {"role": "viewer"}), 409, "project_archived")
    problem(owner.delete(f"{path}/members/{person.user_id}"), 409, "project_archived")
    ok(person.client.get(path))
    assert ok(owner.patch(path, {"state": "active"}, version=2))["version"] == 3
    ok(owner.patch(path, {"name": "x"}, version=3))


@pytest.mark.parametrize("state", ["deleted", "open", ""])
def test_a_state_is_active_or_archived(api: Client, state: str) -> None:
    owner = an_organization(api).owner
    refused = owner.patch(f"/projects/{a_project(owner)}", {"state": state}, version=1)
    assert refused_fields(refused) == {("state", "not_allowed")}


@pytest.mark.parametrize("state", ["active", "archived"])
def test_a_deleted_project_is_unknown_to_everybody(api: Client, state: str) -> None:
    organization = an_organization(api)
    project_id, name = a_project(organization.owner), a_name("Deleted")
    member = a_member(organization, project_id)
    path = f"/projects/{project_id}"
    ok(organization.owner.patch(path, {"name": name, "state": state}, version=1))
    removed = organization.owner.delete(path, version=2)
    assert (removed.status_code, removed.content) == (204, b"")
    for client in (organization.owner, member.client):
        problem(client.get(path), 404, "not_found")
        assert items(client.get("/projects")) == []
    problem(organization.owner.patch(path, {"name": "x"}, version=3), 404, "not_found")
    problem(organization.owner.delete(path, version=3), 404, "not_found")
    problem(organization.owner.get(f"{path}/members"), 404, "not_found")
    ok(organization.owner.post("/projects", {"name": name}), 201)


def leftovers(engine: Engine, project_id: str) -> dict[str, int]:
    """The tables that still hold derived rows of the project."""
    owners = {
        "project_refs": "project_id",
        "project_members": "project_id",
        "org_selections": "project_id",
        "projection_versions": "project_id",
        "commits": "project_id",
        "tree_buckets": "owner_id",
    }
    with engine.connect() as connection:
        counts = {
            table: connection.execute(
                text(f"select count(*) from {table} where {column} = :id"),  # noqa: S608  (names from above)
                {"id": project_id},
            ).scalar_one()
            for table, column in owners.items()
        }
    return {table: number for table, number in counts.items() if number}


def waits_for_a_project(engine: Engine) -> bool:
    """Whether some statement waits for a project's lock."""
    with engine.connect() as connection:
        waiting = (
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%from projects%'"
        )
        return bool(connection.execute(text(waiting)).scalar_one())


def test_a_change_that_meets_a_deadlock_is_made_all_the_same(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    names = {"org_id": organization.organization_id, "project_id": project_id}
    with engine.begin() as other, ThreadPoolExecutor(1) as threads:
        # Against the written order; the API's connection waits first, so it is the one that PostgreSQL ends.
        other.execute(text("select 1 from projects where project_id = :project_id for no key update"), names)
        changing = threads.submit(organization.owner.patch, f"/projects/{project_id}", {"description": "d"}, version=1)
        while not waits_for_a_project(engine):
            assert not changing.done()
        other.execute(text("select 1 from organization_refs where org_id = :org_id for no key update"), names)
        other.rollback()
        assert ok(changing.result())["description"] == "d"


@pytest.mark.usefixtures("worker")
def test_a_deleted_project_s_work_is_closed_and_what_it_published_stays(api: Client, engine: Engine) -> None:
    organization = an_organization(api)
    owner, project_id = organization.owner, a_project(organization.owner)
    author = a_member(organization, project_id)
    (memory_id,) = published(owner, project_id, creates("kept.md"))
    left_open = a_draft(author.client, project_id, creates("open.md"))
    review = a_review(author.client, a_draft(author.client, project_id, creates("submitted.md")))
    assert owner.delete(f"/projects/{project_id}", version=1).status_code == 204

    closed = ok(owner.get(f"/reviews/{review['review_id']}"))
    assert (closed["status"], closed["closed_reason"]) == ("withdrawn", "project_deleted")
    problem(author.client.get(f"/reviews/{review['review_id']}"), 404, "not_found")
    problem(author.client.get(f"/drafts/{left_open['draft_id']}"), 404, "not_found")
    assert [memory["memory_id"] for memory in items(owner.get("/org/memories"))] == [memory_id]
    assert len(items(owner.get("/org/commits"))) == 1
    problem(owner.get(f"/projects/{project_id}/commit-state"), 404, "not_found")
    assert leftovers(engine, project_id) == {}


@pytest.mark.usefixtures("worker")
def test_a_project_s_deletion_leaves_other_projects_alone(api: Client, engine: Engine) -> None:
    owner = an_organization(api).owner
    first, second = a_project(owner), a_project(owner)
    memory_ids = published(owner, first, creates("a.md"))
    ok(select(owner, second, memory_ids))
    before = ok(owner.get(f"/projects/{second}/commit-state"))
    assert owner.delete(f"/projects/{first}", version=1).status_code == 204
    assert ok(owner.get(f"/projects/{second}/commit-state")) == before
    assert leftovers(engine, first) == {}
