"""Org Selections: what a project uses, and its projection (publication.md §5)."""

import pytest

from tests.client import Client, a_member, a_project, items, ok, problem, refused_fields
from tests.proposals import (
    WAIT,
    a_draft,
    a_place,
    a_review,
    creates,
    deletes,
    inside,
    listed,
    published,
    renames,
    select,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_a_new_project_uses_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    selection = organization.owner.get(f"/projects/{project_id}/org-selections")
    assert ok(selection) == {"resource_ids": [], "memories": [], "revision": 0}
    assert selection.headers["etag"] == '"0"'


def test_a_selection_answers_its_memories_by_path(api: Client) -> None:
    organization, project_id = a_place(api)
    made = published(organization.owner, project_id, *(creates(f"{name}.md") for name in "cab"))
    other = a_project(organization.owner)
    changed = select(organization.owner, other, made)
    selection = ok(changed)
    assert changed.headers["etag"] == '"1"'
    assert selection["revision"] == 1
    assert selection["resource_ids"] == sorted(made)
    memories = listed(selection, "memories")
    assert [memory["path"] for memory in memories] == ["a.md", "b.md", "c.md"]
    assert memories[0] == inside(ok(organization.owner.get(f"/org/memories/{made[1]}")), "memory")
    assert ok(organization.owner.get(f"/projects/{other}/org-selections")) == selection


def test_a_change_of_the_selection_is_one_project_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    made = published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    other = a_project(organization.owner)
    ok(select(organization.owner, other, made))
    [commit] = items(organization.owner.get(f"/projects/{other}/commits"))
    org = inside(ok(organization.owner.get("/org/commit-state")), "ref")
    assert {name: commit[name] for name in ("scope", "version", "message", "review_id", "selection_revision")} == {
        "scope": "project",
        "version": 1,
        "message": "",
        "review_id": None,
        "selection_revision": 1,
    }
    assert (commit["org_commit_id"], commit["created_by"]) == (org["commit_id"], organization.owner_id)


def test_the_same_set_in_any_order_makes_no_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    made = published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    before = ok(organization.owner.get(f"/projects/{project_id}/org-selections"))
    assert ok(select(organization.owner, project_id, made[::-1])) == before
    assert len(items(organization.owner.get(f"/projects/{project_id}/commits"))) == 1


def test_what_a_review_creates_is_selected_for_its_project_and_for_no_other(api: Client) -> None:
    organization, project_id = a_place(api)
    other = a_project(organization.owner)
    made = published(organization.owner, project_id, creates("a.md"))
    assert ok(organization.owner.get(f"/projects/{project_id}/org-selections"))["resource_ids"] == made
    assert ok(organization.owner.get(f"/projects/{other}/org-selections"))["resource_ids"] == []
    assert items(organization.owner.get(f"/projects/{other}/commits")) == []


def test_a_change_moves_every_project_that_selects_it_once_and_no_other(api: Client) -> None:
    organization, project_id = a_place(api)
    shared, apart = published(organization.owner, project_id, creates("shared.md"), creates("apart.md"))
    sharing, avoiding = a_project(organization.owner), a_project(organization.owner)
    ok(select(organization.owner, sharing, [shared]))
    ok(select(organization.owner, avoiding, [apart]))
    published(organization.owner, project_id, updates(shared, "new\n"), title="News")
    newest = items(organization.owner.get(f"/projects/{sharing}/commits"))
    assert [(commit["version"], commit["message"]) for commit in newest] == [(2, "News"), (1, "")]
    assert len(items(organization.owner.get(f"/projects/{avoiding}/commits"))) == 1


def test_a_deleted_memory_leaves_every_selection(api: Client) -> None:
    organization, project_id = a_place(api)
    gone, kept = published(organization.owner, project_id, creates("gone.md"), creates("kept.md"))
    other = a_project(organization.owner)
    ok(select(organization.owner, other, [gone, kept]))
    published(organization.owner, project_id, deletes(gone))
    selection = ok(organization.owner.get(f"/projects/{other}/org-selections"))
    assert (selection["resource_ids"], selection["revision"]) == ([kept], 2)


def test_unknown_archived_and_foreign_ids_are_not_found_at_once(api: Client) -> None:
    organization, project_id = a_place(api)
    [gone] = published(organization.owner, project_id, creates("gone.md"))
    published(organization.owner, project_id, deletes(gone))
    elsewhere, its_project = a_place(api)
    [foreign] = published(elsewhere.owner, its_project, creates("a.md"))
    for memory_id in ("mem_unknown", gone, foreign):
        document = problem(select(organization.owner, project_id, [memory_id]), 404, "not_found")
        assert document["memory_id"] == memory_id


def test_an_id_stands_once(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    refused = select(organization.owner, project_id, [known, known])
    assert problem(refused, 422, "duplicate_id")["memory_id"] == known
    assert "location" in refused.headers


def test_a_selection_is_replaced_at_the_revision_that_was_read(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    path = f"/projects/{project_id}/org-selections"
    problem(organization.owner.put(path, {"resource_ids": []}, headers=WAIT), 428, "precondition_required")
    stale = organization.owner.put(path, {"resource_ids": []}, version=0, headers=WAIT)
    document = problem(stale, 412, "precondition_failed")
    assert (document["expected"], document["actual"]) == (0, 1)
    assert "location" not in stale.headers
    ok(organization.owner.put(path, {"resource_ids": []}, version=1, headers=WAIT))


def test_a_memory_that_a_draft_of_the_project_targets_stays_selected(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id, renames(known, "b.md"))
    document = problem(select(organization.owner, project_id, []), 409, "selection_in_use")
    assert {name: document[name] for name in ("memory_id", "draft_id", "author_id")} == {
        "memory_id": known,
        "draft_id": draft["draft_id"],
        "author_id": author.user_id,
    }
    assert "b.md" not in str(document)
    a_review(author.client, draft)
    problem(select(organization.owner, project_id, []), 409, "selection_in_use")
    ok(organization.owner.delete(f"/drafts/{draft['draft_id']}"))
    ok(select(organization.owner, project_id, []))


def test_the_open_drafts_of_an_author_who_left_hold_no_selection(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    author = a_member(organization, project_id)
    a_draft(author.client, project_id, deletes(known))
    assert organization.owner.delete(f"/projects/{project_id}/members/{author.user_id}").status_code == 204
    ok(select(organization.owner, project_id, []))


def test_an_archived_project_keeps_its_selection(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(select(organization.owner, project_id, []), 409, "project_archived")


def test_what_a_schema_can_tell_of_a_selection_is_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    path = f"/projects/{project_id}/org-selections"
    for body, error in (
        ({}, ("resource_ids", "missing")),
        ({"resource_ids": None}, ("resource_ids", "null")),
        ({"resource_ids": [1]}, ("resource_ids[0]", "type")),
        ({"resource_ids": [""]}, ("resource_ids[0]", "too_short")),
        ({"resource_ids": [], "revision": 0}, ("revision", "unknown")),
    ):
        assert refused_fields(organization.owner.put(path, body, version=0)) == {error}
