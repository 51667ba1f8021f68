"""Paths over HTTP: what is refused at append, and who may stand where at submit (publication.md §1)."""

import unicodedata

import pytest

from tests.client import Client, a_project, an_organization, ok, problem
from tests.proposals import (
    a_draft,
    a_review,
    append,
    creates,
    deletes,
    inside,
    listed,
    merge,
    operations_of,
    provisional,
    published,
    renames,
    submit,
    texts,
)

pytestmark = pytest.mark.usefixtures("worker")

REFUSED = [
    ("/etc/passwd", "absolute"),
    ("a/../b", "dot_segment"),
    ("./a", "dot_segment"),
    ("a//b", "empty_segment"),
    ("a/", "empty_segment"),
    ("a\\b", "backslash"),
    ("what?", "forbidden_character"),
    ("a:b", "forbidden_character"),
    ("a\tb", "control_character"),
    ("a\u2028b", "control_character"),
    ("a\u202eb", "format_character"),
    ("a\u200bb", "format_character"),
    ("a/ b", "segment_space"),
    ("a\u00a0/b", "segment_space"),
    ("a./b", "segment_trailing_dot"),
    ("docs/con", "reserved_name"),
    ("NUL.txt", "reserved_name"),
    ("com¹", "reserved_name"),
]


@pytest.fixture
def owner(api: Client) -> Client:
    return an_organization(api).owner


@pytest.mark.parametrize(("path", "rule"), REFUSED)
def test_a_path_that_some_disk_could_not_hold_is_refused(owner: Client, path: str, rule: str) -> None:
    project_id = a_project(owner)
    draft = a_draft(owner, project_id, creates("fine.md"))
    document = problem(append(owner, draft, creates(path)), 422, "operation_invalid")
    assert (document["index"], document["field"], document["rule"]) == (0, "path", rule)
    document = problem(append(owner, draft, renames(provisional(draft), path)), 422, "operation_invalid")
    assert (document["index"], document["field"], document["rule"]) == (0, "new_path", rule)


def test_a_path_is_brought_to_nfc_and_measured_there(owner: Client) -> None:
    composed = "/".join(["é" * 100] * 5) + "/" + "é" * 7
    assert len(composed) == 512
    decomposed = unicodedata.normalize("NFD", composed)
    draft = a_draft(owner, a_project(owner), creates(decomposed))
    assert operations_of(draft)[0]["path"] == composed


@pytest.mark.parametrize(
    ("standing", "path"),
    [
        ("a.md", "a.md"),
        ("a.md", "A.MD"),
        ("straße.md", "STRASSE.md"),
        ("caf\u00e9.md", "CAFE\u0301.md"),
        ("a", "a/b.md"),
        ("A", "a/b/c.md"),
        ("a/b.md", "a"),
        ("a/b/c.md", "A/B"),
    ],
)
def test_an_occupied_path_is_a_collision_at_submit_and_not_before(owner: Client, standing: str, path: str) -> None:
    project_id = a_project(owner)
    [known] = published(owner, project_id, creates(standing))
    draft = a_draft(owner, project_id, creates(path))
    document = problem(submit(owner, draft), 409, "path_collision")
    assert document["draft_id"] == draft["draft_id"]
    assert set(texts(document, "paths")) == {standing, unicodedata.normalize("NFC", path)}
    assert known in texts(document, "memory_ids")
    assert ok(owner.get(f"/drafts/{draft['draft_id']}"))["status"] == "open"


def test_two_creates_of_one_draft_cannot_stand_at_one_path(owner: Client) -> None:
    draft = a_draft(owner, a_project(owner), creates("a.md"), creates("A.md"))
    document = problem(submit(owner, draft), 409, "path_collision")
    assert sorted(texts(document, "paths")) == ["A.md", "a.md"]


def test_two_drafts_of_one_review_that_meet_at_a_path_need_reconciliation(owner: Client) -> None:
    project_id = a_project(owner)
    first, second = a_draft(owner, project_id, creates("a")), a_draft(owner, project_id, creates("A/b.md"))
    document = problem(submit(owner, first, second), 409, "reconciliation_required")
    assert document["draft_id"] == second["draft_id"]
    [candidate] = listed(document, "candidates")
    [conflict] = listed(candidate, "conflicts")
    assert (conflict["code"], conflict["paths"]) == ("path.occupied", ["A/b.md", "a"])
    assert inside(conflict, "other")["draft_id"] == first["draft_id"]


def test_a_path_taken_since_the_base_needs_reconciliation(owner: Client) -> None:
    project_id = a_project(owner)
    draft = a_draft(owner, project_id, creates("a.md"))
    published(owner, project_id, creates("a.md"))
    document = problem(submit(owner, draft), 409, "reconciliation_required")
    assert document["draft_id"] == draft["draft_id"]


def test_swaps_chains_and_cycles_inside_a_draft_are_fine(owner: Client) -> None:
    project_id = a_project(owner)
    one, two, three = published(owner, project_id, creates("1.md"), creates("2.md"), creates("3.md"))
    published(owner, project_id, renames(one, "2.md"), renames(two, "3.md"), renames(three, "1.md"))
    assert _paths(owner) == {one: "2.md", two: "3.md", three: "1.md"}
    published(owner, project_id, renames(one, "4.md"), renames(two, "2.md"))
    assert _paths(owner) == {one: "4.md", two: "2.md", three: "1.md"}


def test_a_swap_across_the_drafts_of_a_review_is_fine(owner: Client) -> None:
    project_id = a_project(owner)
    one, two = published(owner, project_id, creates("1.md"), creates("2.md"))
    drafts = a_draft(owner, project_id, renames(one, "2.md")), a_draft(owner, project_id, renames(two, "1.md"))
    ok(merge(owner, a_review(owner, *drafts)))
    assert _paths(owner) == {one: "2.md", two: "1.md"}


def test_a_deleted_memorys_path_is_free_in_the_same_review(owner: Client) -> None:
    project_id = a_project(owner)
    [old] = published(owner, project_id, creates("a"))
    [new] = published(owner, project_id, deletes(old), creates("a/b.md"))
    assert _paths(owner) == {new: "a/b.md"}


def test_a_memory_may_change_the_case_of_its_own_path(owner: Client) -> None:
    project_id = a_project(owner)
    [known] = published(owner, project_id, creates("readme.md"))
    published(owner, project_id, renames(known, "README.md"))
    assert _paths(owner) == {known: "README.md"}


def _paths(owner: Client) -> dict[str, str]:
    return {str(item["memory_id"]): str(item["path"]) for item in listed(ok(owner.get("/org/memories")), "items")}
