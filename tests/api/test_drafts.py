"""Drafts: opened, edited, read by their author alone, discarded (publication.md §2, §6)."""

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_project,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    a_draft,
    a_place,
    all_items,
    append,
    creates,
    inside,
    published,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_draft_opens_at_version_one_with_everything_the_contract_names(api: Client) -> None:
    organization, project_id = a_place(api)
    made = organization.owner.post("/drafts", {"project_id": project_id})
    draft = ok(made, 201)
    assert made.headers["etag"] == '"1"'
    assert draft == {
        "draft_id": draft["draft_id"],
        "project_id": project_id,
        "author_id": organization.owner_id,
        "title": "",
        "status": "open",
        "version": 1,
        "base_commit_id": None,
        "operations": [],
        "coordination": {
            "freshness": "current",
            "reconciliation": "clean",
            "current_commit_id": None,
            "candidate_id": None,
            "has_upstream_changes": False,
        },
        "review_id": None,
        "created_at": draft["created_at"],
        "updated_at": draft["created_at"],
    }


def test_the_base_is_the_current_ref_unless_one_is_named(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    first = inside(ok(organization.owner.get("/org/commit-state")), "ref")
    published(organization.owner, project_id, creates("b.md"))
    second = inside(ok(organization.owner.get("/org/commit-state")), "ref")
    assert a_draft(organization.owner, project_id)["base_commit_id"] == second["commit_id"]
    body: Json = {"project_id": project_id, "base_commit_id": first["commit_id"]}
    assert ok(organization.owner.post("/drafts", body), 201)["base_commit_id"] == first["commit_id"]


def test_a_project_commit_as_base_stands_for_its_organization_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    latest = inside(ok(organization.owner.get(f"/projects/{project_id}/commit-state")), "latest")
    body: Json = {"project_id": project_id, "base_commit_id": latest["commit_id"]}
    assert ok(organization.owner.post("/drafts", body), 201)["base_commit_id"] == latest["org_commit_id"]


def test_an_unknown_or_foreign_base_is_not_found(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    other_project = a_project(organization.owner)
    elsewhere, its_project = a_place(api)
    published(elsewhere.owner, its_project, creates("a.md"))
    of_project = inside(ok(organization.owner.get(f"/projects/{project_id}/commit-state")), "ref")
    of_another_organization = inside(ok(elsewhere.owner.get("/org/commit-state")), "ref")
    for base in ("0" * 64, of_project["commit_id"], of_another_organization["commit_id"]):
        body: Json = {"project_id": other_project, "base_commit_id": base}
        problem(organization.owner.post("/drafts", body), 404, "not_found")


def test_titles_are_bounded_and_may_be_empty(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id, "title": "t" * 201}
    assert refused_fields(organization.owner.post("/drafts", body)) == {("title", "too_long")}
    draft = a_draft(organization.owner, project_id, title="")
    assert draft["title"] == ""


def test_a_title_is_changed_at_the_version_that_was_read(api: Client) -> None:
    organization, project_id = a_place(api)
    path = f"/drafts/{a_draft(organization.owner, project_id)['draft_id']}"
    changed = organization.owner.patch(path, {"title": "Another"}, version=1)
    assert (ok(changed)["title"], changed.headers["etag"]) == ("Another", '"2"')
    document = problem(organization.owner.patch(path, {"title": "Late"}, version=1), 412, "precondition_failed")
    assert (document["expected"], document["actual"]) == (1, 2)
    problem(organization.owner.patch(path, {"title": "Blind"}), 428, "precondition_required")
    assert refused_fields(organization.owner.patch(path, {}, version=2)) == {("title", "missing")}


def test_a_draft_behind_current_says_so_and_whether_its_memories_changed(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    touching = a_draft(organization.owner, project_id, updates(known, "mine\n"))
    apart = a_draft(organization.owner, project_id, creates("b.md"))
    published(organization.owner, project_id, updates(known, "theirs\n"))
    for draft, changed in ((touching, True), (apart, False)):
        coordination = inside(ok(organization.owner.get(f"/drafts/{draft['draft_id']}")), "coordination")
        assert (coordination["freshness"], coordination["reconciliation"]) == ("behind", "unknown")
        assert coordination["has_upstream_changes"] is changed


def test_lists_show_the_callers_own_newest_first_without_operations(api: Client) -> None:
    organization, project_id = a_place(api)
    other_project = a_project(organization.owner)
    author = a_member(organization, project_id).client
    mine = [str(a_draft(author, project_id, creates("a.md"))["draft_id"]) for _ in range(3)]
    a_draft(organization.owner, other_project)
    shown = items(author.get("/drafts"))
    assert [draft["draft_id"] for draft in shown] == mine[::-1]
    assert "operations" not in shown[0]
    ok(author.delete(f"/drafts/{mine[0]}", version=1))
    assert [draft["draft_id"] for draft in items(author.get("/drafts", status="discarded"))] == [mine[0]]
    assert items(author.get("/drafts", project_id=other_project)) == []
    assert len(items(organization.owner.get("/drafts", project_id=other_project))) == 1
    assert refused_fields(author.get("/drafts", status="closed")) == {("status", "not_allowed")}


def test_pages_of_drafts_continue_where_they_stopped(api: Client) -> None:
    organization, project_id = a_place(api)
    made = [a_draft(organization.owner, project_id)["draft_id"] for _ in range(5)]
    assert [draft["draft_id"] for draft in all_items(organization.owner, "/drafts", limit=2)] == made[::-1]


def test_a_cursor_belongs_to_its_list(api: Client) -> None:
    organization, project_id = a_place(api)
    for _ in range(2):
        a_draft(organization.owner, project_id)
    cursor = str(ok(organization.owner.get("/drafts", limit=1))["next_cursor"])
    refused = organization.owner.get("/drafts", cursor=cursor, status="open")
    assert refused_fields(refused) == {("cursor", "foreign")}
    assert refused_fields(organization.owner.get("/drafts", cursor="?")) == {("cursor", "malformed")}


def test_nobody_else_reads_or_edits_an_open_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(a_member(organization, project_id).client, project_id, creates("a.md"))
    path = f"/drafts/{draft['draft_id']}"
    for other in (organization.owner, a_member(organization, project_id, "admin").client):
        problem(other.get(path), 404, "not_found")
        problem(other.get(f"{path}/result"), 404, "not_found")
        problem(other.patch(path, {"title": "Mine"}, version=1), 404, "not_found")
        problem(append(other, draft, creates("b.md")), 404, "not_found")


def test_leaving_a_project_hides_the_open_drafts_there_until_return(api: Client) -> None:
    organization, project_id = a_place(api)
    person = a_member(organization, project_id)
    path = f"/drafts/{a_draft(person.client, project_id)['draft_id']}"
    membership = f"/projects/{project_id}/members/{person.user_id}"
    assert organization.owner.delete(membership).status_code == 204
    problem(person.client.get(path), 404, "not_found")
    problem(person.client.delete(path, version=1), 404, "not_found")
    assert items(person.client.get("/drafts")) == []
    ok(organization.owner.post(f"/projects/{project_id}/members", {"user_id": person.user_id, "role": "viewer"}), 201)
    assert ok(person.client.get(path))["status"] == "open"
    problem(person.client.patch(path, {"title": "x"}, version=1), 403, "forbidden")


def test_the_same_key_opens_one_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id, "operations": [creates("a.md")]}
    first = organization.owner.post("/drafts", body, key="one")
    second = organization.owner.post("/drafts", body, key="one")
    assert ok(first, 201) == ok(second, 201)
    assert (second.headers["etag"], second.headers["idempotency-replayed"]) == ('"1"', "true")
    assert len(items(organization.owner.get("/drafts"))) == 1
