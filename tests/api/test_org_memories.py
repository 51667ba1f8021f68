"""Published Memory as every member reads it (publication.md §5)."""

import hashlib

import pytest

from tests.client import Client, a_person, an_organization, items, ok, problem, refused_fields
from tests.proposals import a_place, all_items, creates, deletes, inside, listed, published, renames, updates

pytestmark = pytest.mark.usefixtures("worker")


def test_a_memory_is_read_with_its_text_and_entity_tag(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("docs/a.md", "caf\u00e9\r\n", "About"))
    answer = organization.owner.get(f"/org/memories/{known}")
    memory = inside(ok(answer), "memory")
    assert ok(answer) == {
        "memory": {
            "memory_id": known,
            "path": "docs/a.md",
            "name": "a.md",
            "description": "About",
            "content_hash": "sha256:" + hashlib.sha256("caf\u00e9\n".encode()).hexdigest(),
            "revision": 1,
            "status": "active",
            "created_at": memory["created_at"],
            "updated_at": memory["created_at"],
        },
        "content": "caf\u00e9\n",
        "etag": '"1"',
    }
    assert answer.headers["etag"] == '"1"'


def test_every_change_is_a_revision_of_the_same_id(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    published(organization.owner, project_id, updates(known, "two\n", "About"), renames(known, "b.md"))
    after = ok(organization.owner.get(f"/org/memories/{known}"))
    memory = inside(after, "memory")
    assert (memory["revision"], memory["path"], memory["description"]) == (2, "b.md", "About")
    assert (after["content"], after["etag"]) == ("two\n", '"2"')
    assert memory["created_at"] != memory["updated_at"]


def test_a_deleted_memory_is_archived_and_still_read_by_id(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    published(organization.owner, project_id, deletes(known))
    assert items(organization.owner.get("/org/memories")) == []
    after = ok(organization.owner.get(f"/org/memories/{known}"))
    memory = inside(after, "memory")
    assert (memory["status"], memory["path"], after["content"]) == ("archived", "a.md", "one\n")
    assert items(organization.owner.get("/org/memories", status="archived")) == [memory]


def test_lists_are_by_path_and_hold_no_texts(api: Client) -> None:
    organization, project_id = a_place(api)
    paths = ["b.md", "a/c.md", "a/b/d.md", "a-b.md", "ü.md"]
    published(organization.owner, project_id, *(creates(path) for path in paths))
    shown = all_items(organization.owner, "/org/memories", limit=2)
    assert [memory["path"] for memory in shown] == sorted(paths)
    assert "content" not in shown[0]
    assert items(organization.owner.get("/org/memories", status="deprecated")) == []


def test_archived_memories_that_shared_a_path_are_all_listed(api: Client) -> None:
    organization, project_id = a_place(api)
    gone = []
    for _ in range(3):
        [known] = published(organization.owner, project_id, creates("a.md"))
        published(organization.owner, project_id, deletes(known))
        gone.append(known)
    first = ok(organization.owner.get("/org/memories", status="archived", limit=2))
    cursor = str(first["next_cursor"])
    rest = items(organization.owner.get("/org/memories", status="archived", limit=2, cursor=cursor))
    shown = [*items(organization.owner.get("/org/memories", status="archived", limit=2)), *rest]
    assert [memory["memory_id"] for memory in shown] == gone
    assert refused_fields(organization.owner.get("/org/memories", cursor=cursor)) == {("cursor", "foreign")}


def test_a_memory_is_found_by_its_path_among_many_whatever_form_it_is_written_in(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    paths = ["a.md", *(f"b/{number}.md" for number in range(60)), "b/ü.md"]
    ids = dict(zip(paths, published(owner, project_id, *(creates(path) for path in paths)), strict=True))

    for path in ("b/7.md", "b/\u00fc.md", "b/u\u0308.md"):
        page = ok(owner.get("/org/memories", path=path, limit=1))
        [found] = listed(page, "items")
        assert (found["memory_id"], page["next_cursor"]) == (ids[path.replace("u\u0308", "\u00fc")], None)
    for other in ("b", "B/7.md", "b/7", "/b/7.md", "b/%.md"):
        assert items(owner.get("/org/memories", path=other)) == []


def test_what_was_deleted_is_found_at_the_path_that_it_had_last(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    moved, gone = published(owner, project_id, creates("a.md"), creates("b.md"))
    published(owner, project_id, renames(moved, "c.md"), deletes(gone))
    [again] = published(owner, project_id, creates("b.md"))
    published(owner, project_id, deletes(again), deletes(moved))

    assert items(owner.get("/org/memories", path="b.md")) == []
    archived = {
        path: items(owner.get("/org/memories", path=path, status="archived")) for path in ("a.md", "b.md", "c.md")
    }
    shown = {path: [memory["memory_id"] for memory in memories] for path, memories in archived.items()}
    assert shown == {"a.md": [], "b.md": sorted([gone, again]), "c.md": [moved]}
    cursor = str(ok(owner.get("/org/memories", path="b.md", status="archived", limit=1))["next_cursor"])
    [second] = items(owner.get("/org/memories", path="b.md", status="archived", cursor=cursor))
    assert second == archived["b.md"][1]
    elsewhere = owner.get("/org/memories", path="c.md", status="archived", cursor=cursor)
    assert refused_fields(elsewhere) == {("cursor", "foreign")}


def test_every_member_reads_what_is_published_and_nobody_of_another_organization(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    member = a_person(organization).client
    ok(member.get(f"/org/memories/{known}"))
    assert [memory["memory_id"] for memory in items(member.get("/org/memories"))] == [known]
    stranger = an_organization(api).owner
    problem(stranger.get(f"/org/memories/{known}"), 404, "not_found")
    assert items(stranger.get("/org/memories")) == []


def test_what_is_not_published_yet_is_not_found(api: Client) -> None:
    organization, _ = a_place(api)
    problem(organization.owner.get("/org/memories/mem_unknown"), 404, "not_found")


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"status": "open"}, ("status", "not_allowed")),
        ({"limit": 0}, ("limit", "too_small")),
        ({"limit": 201}, ("limit", "too_large")),
        ({"path": ""}, ("path", "empty")),
        ({"path": "a" * 513}, ("path", "too_long")),
        ({"path": "a\0.md"}, ("path", "nul")),
    ],
)
def test_what_a_schema_can_tell_of_a_query_is_refused(
    api: Client, query: dict[str, str | int], error: tuple[str, str]
) -> None:
    owner = an_organization(api).owner
    assert refused_fields(owner.request("GET", "/org/memories", query=query)) == {error}
