"""What became of one Memory, publication by publication (publication.md §5)."""

import pytest

from tests.client import Client, Json, a_member, a_person, an_organization, items, ok, problem
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    all_items,
    creates,
    deletes,
    inside,
    merge,
    published,
    renames,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def changes(client: Client, memory_id: str) -> list[tuple[object, object]]:
    return [(each["version"], each["change"]) for each in items(client.get(f"/org/memories/{memory_id}/history"))]


def test_each_change_names_its_publication_its_author_and_where_the_memory_stood(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id, creates("a.md", "one\n"))
    review = a_review(author.client, draft)
    ok(merge(organization.owner, review))
    [memory] = items(organization.owner.get("/org/memories"))
    [commit] = items(organization.owner.get("/org/commits"))
    assert items(author.client.get(f"/org/memories/{memory['memory_id']}/history")) == [
        {
            "version": 1,
            "commit_id": commit["commit_id"],
            "created_at": commit["created_at"],
            "author_id": author.user_id,
            "review_id": review["review_id"],
            "change": ["created"],
            "path": "a.md",
            "content_hash": memory["content_hash"],
        }
    ]


def test_a_history_tells_what_changed_newest_first_and_leaves_out_what_did_not_touch_it(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n", "About"))
    published(owner, project_id, updates(known, "two\n"))
    published(owner, project_id, creates("other.md"))
    published(owner, project_id, updates(known, description="Other"))
    published(owner, project_id, renames(known, "b.md"))
    published(owner, project_id, updates(known, "three\n", ""), renames(known, "c.md"))
    published(owner, project_id, deletes(known))
    assert changes(owner, known) == [
        (7, ["deleted"]),
        (6, ["body", "description", "path"]),
        (5, ["path"]),
        (4, ["description"]),
        (2, ["body"]),
        (1, ["created"]),
    ]
    shown = items(owner.get(f"/org/memories/{known}/history"))
    assert [each["path"] for each in shown] == ["c.md", "c.md", "b.md", "a.md", "a.md", "a.md"]
    assert shown[0]["content_hash"] == shown[1]["content_hash"] != shown[2]["content_hash"]


def test_what_comes_back_is_told_with_what_is_other_than_it_was(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n", "About"))
    published(owner, project_id, deletes(known))
    published(owner, project_id, {"action": "restore", "memory_id": known})
    published(owner, project_id, deletes(known))
    back: Json = {"action": "restore", "memory_id": known, "path": "b.md", "content": {"description": "Other"}}
    published(owner, project_id, back)
    assert changes(owner, known) == [
        (5, ["restored", "description", "path"]),
        (4, ["deleted"]),
        (3, ["restored"]),
        (2, ["deleted"]),
        (1, ["created"]),
    ]
    statuses = [inside(ok(owner.get(f"/org/memories/{known}", at=f"v{v}")), "memory")["status"] for v in range(1, 6)]
    assert statuses == ["active", "archived", "active", "archived", "active"]
    assert items(owner.get("/org/memories", at="v4", status="archived"))[0]["path"] == "a.md"


def test_a_history_pages_completely_while_it_goes_on(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "0\n"))
    for number in range(1, 5):
        published(owner, project_id, updates(known, f"{number}\n"))
    first = ok(owner.get(f"/org/memories/{known}/history", limit=2))
    published(owner, project_id, updates(known, "again\n"))
    rest = ok(owner.get(f"/org/memories/{known}/history", limit=50, cursor=str(first["next_cursor"])))
    assert [each["version"] for each in [*_items(first), *_items(rest)]] == [5, 4, 3, 2, 1]
    assert [each["version"] for each in all_items(owner, f"/org/memories/{known}/history", limit=3)] == [
        6,
        5,
        4,
        3,
        2,
        1,
    ]


def _items(page: Json) -> list[Json]:
    found = page["items"]
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def test_a_history_is_every_members_and_nobody_elses(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    assert changes(a_person(organization).client, known) == [(1, ["created"])]
    problem(an_organization(api).owner.get(f"/org/memories/{known}/history"), 404, "not_found")
    problem(organization.owner.get("/org/memories/mem_unknown/history"), 404, "not_found")


def test_the_past_that_is_read_agrees_with_the_history(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n"))
    published(owner, project_id, updates(known, "two\n"))
    published(owner, project_id, renames(known, "b.md"))
    for change in items(owner.get(f"/org/memories/{known}/history")):
        memory = inside(ok(owner.get(f"/org/memories/{known}", at=f"v{change['version']}")), "memory")
        assert (memory["path"], memory["content_hash"]) == (change["path"], change["content_hash"])
        assert (memory["revision"], memory["updated_at"]) == (change["version"], change["created_at"])
