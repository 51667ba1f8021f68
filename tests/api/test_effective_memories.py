"""What may be read in a project now: its projection, with the caller's own Drafts over it (publication.md §5)."""

import hashlib

import pytest

from tests.client import Client, Json, Organization, a_member, a_person, a_project, items, ok, problem, refused_fields
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    all_items,
    append,
    at_version,
    creates,
    deletes,
    inside,
    merge,
    provisional,
    published,
    renames,
    select,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def effective(client: Client, project_id: str, **query: str | int) -> list[Json]:
    return items(client.request("GET", f"/projects/{project_id}/effective-memories", query=query))


def paths(client: Client, project_id: str) -> dict[str, Json]:
    """What is read, by path."""
    return {str(each["path"]): each for each in effective(client, project_id)}


def head(client: Client, project_id: str) -> Json:
    return inside(ok(client.get(f"/projects/{project_id}/commit-state")), "ref")


@pytest.fixture
def place(api: Client) -> tuple[Organization, str]:
    return a_place(api)


def test_without_drafts_it_is_the_projection_with_the_commit_it_comes_from(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    known, _ = published(organization.owner, project_id, creates("b.md", "b\n", "About"), creates("a.md", "a\n"))
    other = a_project(organization.owner)
    ok(select(organization.owner, other, [known]))
    assert effective(organization.owner, other) == [
        {
            "memory_id": known,
            "path": "b.md",
            "description": "About",
            "content_hash": "sha256:" + hashlib.sha256(b"b\n").hexdigest(),
            "provenance": {"commit_id": head(organization.owner, other)["commit_id"]},
        }
    ]
    assert list(paths(organization.owner, project_id)) == ["a.md", "b.md"]


def test_a_draft_shows_what_it_creates_changes_moves_and_deletes(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    owner = organization.owner
    edited, moved, gone, kept = published(owner, project_id, *(creates(f"{name}.md") for name in "abcd"))
    draft = a_draft(
        owner,
        project_id,
        updates(edited, "new\n", "New"),
        renames(moved, "z.md"),
        deletes(gone),
        creates("m.md", "m\n"),
    )
    shown = {each["memory_id"]: each for each in effective(owner, project_id, content="true")}
    made = provisional(draft, 3)
    assert [each["path"] for each in shown.values()] == ["a.md", "d.md", "m.md", "z.md"]
    by_draft = {"draft_id": draft["draft_id"], "draft_version": draft["version"]}
    assert {each["memory_id"] for each in shown.values() if each["provenance"] == by_draft} == {edited, moved, made}
    assert shown[kept]["provenance"] == {"commit_id": head(owner, project_id)["commit_id"]}
    assert [shown[each]["content"] for each in (edited, moved, made, kept)] == ["new\n", "text\n", "m\n", "text\n"]
    assert shown[edited]["description"] == "New"


def test_texts_are_left_out_unless_they_are_asked_for(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    published(organization.owner, project_id, creates("a.md"))
    for query in ({}, {"content": "false"}):
        assert "content" not in effective(organization.owner, project_id, **query)[0]
    path = f"/projects/{project_id}/effective-memories"
    assert refused_fields(organization.owner.get(path, content="yes")) == {("content", "type")}


def test_drafts_are_the_callers_own_and_only_while_they_are_open_or_submitted(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("mine.md", "mine\n"))
    assert list(paths(author, project_id)) == ["mine.md"]
    assert effective(organization.owner, project_id) == []
    review = a_review(author, draft)
    submitted = paths(author, project_id)["mine.md"]
    assert submitted["memory_id"] == provisional(draft)
    assert inside(submitted, "provenance")["draft_version"] == int(str(draft["version"])) + 1
    ok(merge(organization.owner, review))
    merged = paths(author, project_id)["mine.md"]
    assert merged == paths(organization.owner, project_id)["mine.md"]
    assert merged["provenance"] == {"commit_id": head(author, project_id)["commit_id"]}
    discarded = a_draft(author, project_id, creates("other.md"))
    assert len(effective(author, project_id)) == 2
    ok(author.delete(f"/drafts/{discarded['draft_id']}", headers=at_version(discarded)))
    assert len(effective(author, project_id)) == 1


def test_drafts_of_another_project_are_not_laid_over(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    other = a_project(organization.owner)
    a_draft(organization.owner, other, creates("a.md"))
    assert effective(organization.owner, project_id) == []


def test_of_two_drafts_that_change_one_memory_the_later_is_seen_whole(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n"))
    first = a_draft(owner, project_id, updates(known, "first\n"))
    second = a_draft(owner, project_id, renames(known, "b.md"))
    [shown] = effective(owner, project_id, content="true")
    assert (shown["path"], shown["content"], inside(shown, "provenance")["draft_id"]) == (
        "b.md",
        "one\n",
        second["draft_id"],
    )
    ok(append(owner, first, updates(known, "again\n")))
    assert effective(owner, project_id, content="true") == [shown]


def test_a_later_draft_goes_on_with_what_an_earlier_one_creates(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    owner = organization.owner
    made = provisional(a_draft(owner, project_id, creates("a.md", "one\n", "About")))
    a_draft(owner, project_id, renames(made, "b.md"))
    [shown] = effective(owner, project_id, content="true")
    assert (shown["path"], shown["content"]) == ("b.md", "one\n")
    third = a_draft(owner, project_id, updates(made, "two\n"))
    [shown] = effective(owner, project_id, content="true")
    assert (shown["path"], shown["description"], shown["content"]) == ("b.md", "About", "two\n")
    ok(append(owner, third, deletes(made)))
    assert effective(owner, project_id) == []


def test_a_draft_shows_its_own_result_where_others_have_published_since(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    author = a_member(organization, project_id).client
    edited, untouched = published(organization.owner, project_id, creates("a.md", "one\n"), creates("b.md", "b\n"))
    a_draft(author, project_id, updates(edited, "mine\n"))
    published(organization.owner, project_id, updates(edited, "theirs\n"), updates(untouched, "new\n"))
    shown = {each["memory_id"]: each["content"] for each in effective(author, project_id, content="true")}
    assert shown == {edited: "mine\n", untouched: "new\n"}


def test_what_a_draft_leaves_as_it_was_is_seen_as_it_is_published(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    author = a_member(organization, project_id).client
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    a_draft(author, project_id, renames(known, "b.md"), renames(known, "a.md"), creates("x.md"))
    published(organization.owner, project_id, updates(known, "two\n"))
    shown = paths(author, project_id)
    assert shown["a.md"] == paths(organization.owner, project_id)["a.md"]


def test_pages_are_by_path_and_complete(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    owner = organization.owner
    ids = published(owner, project_id, *(creates(f"{number}.md") for number in range(6)))
    a_draft(owner, project_id, creates("2.md"), deletes(ids[1]), renames(ids[0], "9.md"), creates("3a.md"))
    shown = all_items(owner, f"/projects/{project_id}/effective-memories", limit=2)
    assert [each["path"] for each in shown] == ["2.md", "2.md", "3.md", "3a.md", "4.md", "5.md", "9.md"]
    assert len({str(each["memory_id"]) for each in shown}) == len(shown)


def test_readers_of_the_project_see_it_and_others_do_not(place: tuple[Organization, str]) -> None:
    organization, project_id = place
    published(organization.owner, project_id, creates("a.md"))
    assert len(effective(a_member(organization, project_id, "viewer").client, project_id)) == 1
    path = f"/projects/{project_id}/effective-memories"
    problem(a_person(organization).client.get(path), 404, "not_found")
