"""A deleted Memory comes back under its id, the whole way (publication.md §2)."""

import pytest

from tests.client import Client, Json, a_member, a_project, items, ok, problem
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    deletes,
    inside,
    listed,
    merge,
    operations_of,
    published,
    references,
    renames,
    restores,
    submit,
    texts,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def refs(owner: Client, *scopes: str) -> list[str]:
    """Where chains stand, by the routes of their commit states."""
    return [str(inside(ok(owner.get(f"{scope}/commit-state")), "ref")["commit_id"]) for scope in scopes]


def test_a_deleted_memory_is_restored_the_whole_way(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    restoring = a_project(owner)
    author = a_member(organization, restoring).client
    (memory_id,) = published(owner, project_id, creates("a.md", "one\n", "First"))
    published(owner, project_id, updates(memory_id, "two\n"))
    published(owner, project_id, deletes(memory_id))
    scopes = ("/org", f"/projects/{restoring}")
    before = refs(owner, *scopes)

    draft = a_draft(author, restoring, restores(memory_id))
    (operation,) = operations_of(draft)
    shown = {name: value for name, value in operation.items() if name != "operation_id"}
    content: Json = {"content": "two\n", "description": "First"}
    assert shown == {"index": 0, "action": "restore", "memory_id": memory_id, "path": "a.md", "content": content}

    review = a_review(author, draft)
    named: Json = {"memory_id": memory_id, "path": "a.md"}
    assert inside(review, "mergeability")["creates"] == [named]
    result = ok(merge(owner, review))
    assert (result["created"], result["applied_operation_count"]) == ([], 1)

    detail = ok(owner.get(f"/org/memories/{memory_id}"))
    assert (detail["content"], detail["etag"]) == ("two\n", '"4"')
    assert (inside(detail, "memory")["status"], inside(detail, "memory")["path"]) == ("active", "a.md")
    assert [entry["change"] for entry in items(owner.get(f"/org/memories/{memory_id}/history"))] == [
        ["restored"],
        ["deleted"],
        ["body"],
        ["created"],
    ]
    assert texts(ok(owner.get(f"/projects/{restoring}/org-selections")), "resource_ids") == [memory_id]
    assert texts(ok(owner.get(f"/projects/{project_id}/org-selections")), "resource_ids") == []
    after = refs(owner, *scopes)
    snapshot = ok(owner.get(f"/commits/{after[1]}"))
    entries = listed(inside(snapshot, "tree"), "entries")
    assert [entry["path"] for entry in entries if entry["type"] == "memory"] == ["a.md"]
    delta = ok(owner.get(f"/commits/{after[0]}/delta", base=before[0]))
    assert [(entry["id"], entry["path"]) for entry in listed(delta, "upserted")] == [(memory_id, "a.md")]
    assert [
        inside(ok(owner.get(f"/org/memories/{memory_id}", at=at)), "memory")["status"] for at in (before[0], after[0])
    ] == [
        "archived",
        "active",
    ]


def test_a_restore_of_an_active_memory_and_of_none_are_refused_by_their_index(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    (memory_id,) = published(owner, project_id, creates("a.md"))
    for operation, code in ((restores(memory_id), "operation_invalid"), (restores("mem_none"), "target_missing")):
        body: Json = {"project_id": project_id, "operations": [creates("b.md"), operation]}
        document = problem(owner.post("/drafts", body), 422, code)
        assert (document["index"], document.get("rule")) == (1, "active" if code == "operation_invalid" else None)


def test_a_restore_whose_path_was_taken_meanwhile_comes_with_a_way_out(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    (memory_id,) = published(owner, project_id, creates("a.md", "old\n"))
    published(owner, project_id, deletes(memory_id))
    draft = a_draft(owner, project_id, restores(memory_id))
    published(owner, project_id, creates("a.md", "new\n"))
    (candidate,) = listed(problem(submit(owner, draft), 409, "reconciliation_required"), "candidates")
    (conflict,) = listed(candidate, "conflicts")
    assert conflict["code"] == "path.occupied"
    move = next(each for each in listed(conflict, "resolutions") if each["name"] == "move")
    confirmed: Json = {
        **references([draft])[0],  # type: ignore[dict-item]
        "candidate_id": candidate["candidate_id"],
        "resolved_state": move["resolved_state"],
    }
    body: Json = {"project_id": project_id, "title": "Back", "drafts": [confirmed]}
    review = ok(owner.post("/reviews", body, headers={"Prefer": "wait=25"}), 201)
    ok(merge(owner, review))
    assert {(memory["path"], memory["memory_id"]) for memory in items(owner.get("/org/memories"))} >= {
        ("a-2.md", memory_id)
    }


def test_a_memory_moves_by_a_deletion_and_a_restore_in_one_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    (memory_id,) = published(owner, project_id, creates("a.md", "text\n", "About"))
    published(owner, project_id, deletes(memory_id), restores(memory_id, "b.md"), renames(memory_id, "c.md"))
    memory = inside(ok(owner.get(f"/org/memories/{memory_id}")), "memory")
    assert (memory["path"], memory["description"], memory["status"]) == ("c.md", "About", "active")
