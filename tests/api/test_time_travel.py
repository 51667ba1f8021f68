"""Published Memory as of a commit, a version or a time (publication.md §5)."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.client import Client, Json, a_project, an_organization, items, ok, problem, refused_fields
from tests.proposals import (
    a_place,
    all_items,
    creates,
    deletes,
    inside,
    listed,
    published,
    renames,
    restores,
    select,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def commits_of(owner: Client, path: str = "/org/commits") -> dict[int, Json]:
    """A chain's commits by version."""
    return {int(str(commit["version"])): commit for commit in items(owner.get(path))}


def test_a_memory_is_answered_as_it_was_with_the_commit_of_then(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n", "First"))
    before = ok(organization.owner.get(f"/org/memories/{known}"))
    published(organization.owner, project_id, creates("other.md"))
    published(organization.owner, project_id, updates(known, "two\n", "Second"), renames(known, "b.md"))
    commits = commits_of(organization.owner)
    for version in (1, 2):
        commit_id = commits[version]["commit_id"]
        for at in (f"v{version}", str(commit_id), str(commits[version]["created_at"])):
            answer = organization.owner.get(f"/org/memories/{known}", at=at)
            assert ok(answer) == {**before, "commit_id": commit_id}
            assert answer.headers["etag"] == '"1"'
    now = ok(organization.owner.get(f"/org/memories/{known}", at="v3"))
    assert now == {**ok(organization.owner.get(f"/org/memories/{known}")), "commit_id": commits[3]["commit_id"]}


def test_what_is_not_asked_for_as_of_a_moment_names_no_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    assert set(ok(organization.owner.get(f"/org/memories/{known}"))) == {"memory", "content", "etag"}
    assert set(ok(organization.owner.get("/org/memories"))) == {"items", "next_cursor"}


def test_a_memory_that_was_archived_then_is_answered_as_archived_and_one_not_yet_created_is_not_found(
    api: Client,
) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("first.md"))
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    published(organization.owner, project_id, deletes(known))
    published(organization.owner, project_id, creates("a.md", "other\n"))
    problem(organization.owner.get(f"/org/memories/{known}", at="v1"), 404, "not_found")
    statuses = []
    for version in (2, 3, 4):
        then = ok(organization.owner.get(f"/org/memories/{known}", at=f"v{version}"))
        memory = inside(then, "memory")
        assert (memory["path"], then["content"]) == ("a.md", "one\n")
        statuses.append((memory["status"], memory["revision"]))
    assert statuses == [("active", 1), ("archived", 2), ("archived", 2)]


def test_lists_hold_what_was_active_or_archived_then_by_path(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    a, b, c, d = published(owner, project_id, *(creates(f"{name}.md") for name in "abcd"))
    first = all_items(owner, "/org/memories", limit=50)
    published(owner, project_id, renames(b, "z.md"), deletes(c))
    published(owner, project_id, creates("c.md"), renames(a, "y.md"))
    commits = commits_of(owner)

    then = ok(owner.get("/org/memories", at="v1"))
    assert then == {"items": first, "next_cursor": None, "commit_id": commits[1]["commit_id"]}
    second = items(owner.get("/org/memories", at="v2"))
    assert [(each["memory_id"], each["path"]) for each in second] == [(a, "a.md"), (d, "d.md"), (b, "z.md")]
    assert items(owner.get("/org/memories", at="v1", status="archived")) == []
    assert [each["memory_id"] for each in items(owner.get("/org/memories", at="v2", status="archived"))] == [c]
    assert items(owner.get("/org/memories", at="v2", status="deprecated")) == []
    for status in ("active", "archived"):
        now = items(owner.get("/org/memories", status=status))
        assert items(owner.get("/org/memories", at="v3", status=status)) == now


def test_a_path_names_what_stood_there_then(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    a, b = published(owner, project_id, creates("a.md"), creates("b.md"))
    published(owner, project_id, renames(a, "b.md"), renames(b, "a.md"))
    published(owner, project_id, deletes(b))

    def at_path(path: str, at: str, status: str = "active") -> list[object]:
        return [memory["memory_id"] for memory in items(owner.get("/org/memories", path=path, at=at, status=status))]

    assert [at_path("a.md", at=f"v{version}") for version in (1, 2, 3)] == [[a], [b], []]
    assert [at_path("b.md", at=f"v{version}") for version in (1, 2, 3)] == [[b], [a], [a]]
    assert [at_path(path, at="v3", status="archived") for path in ("a.md", "b.md")] == [[b], []]
    assert at_path("a.md", at="v2", status="archived") == []


@pytest.mark.parametrize("as_of", ["now", "later"])
def test_pages_are_of_the_version_of_the_first_whatever_is_published_meanwhile(api: Client, as_of: str) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    ids = published(owner, project_id, *(creates(f"{number}.md") for number in range(5)))
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    at = {"at": later} if as_of == "later" else {}
    before = items(owner.get("/org/memories"))
    page = ok(owner.request("GET", "/org/memories", query={"limit": 2, **at}))
    shown = listed(page, "items")
    published(owner, project_id, renames(ids[4], "!.md"), deletes(ids[3]), creates("3a.md"), updates(ids[2], "new\n"))
    while page["next_cursor"] is not None:
        query: dict[str, str | int] = {"limit": 2, "cursor": str(page["next_cursor"]), **at}
        page = ok(owner.request("GET", "/org/memories", query=query))
        shown += listed(page, "items")
        assert page.get("commit_id") == (commits_of(owner)[1]["commit_id"] if at else None)
    assert shown == before


def test_archived_memories_are_paged_as_of_the_first_page_too(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    ids = published(owner, project_id, *(creates(f"{number}.md") for number in range(4)))
    published(owner, project_id, *(deletes(memory_id) for memory_id in ids[:3]))
    before = items(owner.get("/org/memories", status="archived"))
    page = ok(owner.get("/org/memories", status="archived", limit=1))
    shown = listed(page, "items")
    published(owner, project_id, restores(ids[2]), deletes(ids[3]))
    while page["next_cursor"] is not None:
        page = ok(owner.get("/org/memories", status="archived", limit=1, cursor=str(page["next_cursor"])))
        shown += listed(page, "items")
    assert shown == before


def test_before_the_first_publication_there_is_nothing_of_no_commit(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    before = ok(organization.owner.get("/org/memories", at="2020-01-01T00:00:00Z"))
    assert before == {"items": [], "next_cursor": None, "commit_id": None}
    problem(organization.owner.get(f"/org/memories/{known}", at="2020-01-01T00:00:00+02:00"), 404, "not_found")


def test_each_time_between_two_publications_is_of_the_earlier_one(api: Client) -> None:
    organization, project_id = a_place(api)
    for number in range(6):
        published(organization.owner, project_id, creates(f"{number}.md"))
    for version, commit in commits_of(organization.owner).items():
        at = datetime.fromisoformat(str(commit["created_at"]))
        for moment, expected in ((at, version), (at - timedelta(microseconds=1), version - 1)):
            shown = items(organization.owner.get("/org/memories", at=moment.isoformat()))
            assert len(shown) == expected


def test_a_project_commit_stands_for_the_organization_commit_it_is_made_of(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n"))
    published(owner, project_id, updates(known, "two\n"))
    other = a_project(owner)
    ok(select(owner, other, [known]))
    project = commits_of(owner, f"/projects/{project_id}/commits")[1]
    then = ok(owner.get(f"/org/memories/{known}", at=str(project["commit_id"])))
    assert (then["content"], then["commit_id"]) == ("one\n", project["org_commit_id"])


def test_a_moment_that_never_was_is_not_found_and_no_moment_is_malformed(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    foreign, elsewhere = a_place(api)
    published(foreign.owner, elsewhere, creates("a.md"))
    strange = str(commits_of(foreign.owner)[1]["commit_id"])
    for path in ("/org/memories", f"/org/memories/{known}"):
        for at in ("v2", "0" * 64, strange):
            problem(organization.owner.get(path, at=at), 404, "not_found")
        for at in ("", "v0", "v01", "V1", "1", "0" * 63, "2026-01-01", "2026-01-01T00:00:00", "v" + "9" * 10, "A" * 64):
            assert refused_fields(organization.owner.get(path, at=at)) == {("at", "not_a_moment")}


def test_a_cursor_of_another_moment_is_refused(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    published(organization.owner, project_id, creates("c.md"))
    cursor = str(ok(organization.owner.get("/org/memories", at="v1", limit=1))["next_cursor"])
    for query in ({}, {"at": "v2"}, {"at": "v1", "status": "archived"}):
        refused = organization.owner.request("GET", "/org/memories", query={**query, "cursor": cursor})
        assert refused_fields(refused) == {("cursor", "foreign")}


def test_another_organization_has_a_past_of_its_own(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    stranger = an_organization(api).owner
    problem(stranger.get(f"/org/memories/{known}", at="v1"), 404, "not_found")
    assert items(stranger.get("/org/memories", at="2030-01-01T00:00:00Z")) == []
