"""Imports are tried, started once, and carried out as Drafts and one Review (publication.md §6)."""

import pytest

from tests.client import PREFIX, Client, Json, a_member, a_token, items, ok, problem, refused_fields
from tests.imports_over_http import a_file, an_import, carried_out, path_of, reported, tried
from tests.proposals import (
    a_place,
    creates,
    decide,
    deletes,
    inside,
    listed,
    merge,
    outcome,
    published,
    renames,
    reread,
    select,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def merged_import(owner: Client, made: Json) -> Json:
    """An import carried out and its Review merged; the merge's answer."""
    done = carried_out(owner, made)
    return ok(merge(owner, ok(owner.get(f"/reviews/{done['review_id']}"))))


def paths(owner: Client) -> dict[str, str]:
    """The organization's Memories: id by path."""
    return {str(memory["path"]): str(memory["memory_id"]) for memory in items(owner.get("/org/memories"))}


def test_a_dry_run_shows_every_kind_of_change_by_path(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    ids = published(
        owner,
        project_id,
        creates("docs/changed.md", "old\n"),
        creates("docs/gone.md", "gone\n"),
        creates("docs/moved.md", "moved\n"),
        creates("docs/same.md", "same\n"),
        creates("elsewhere.md"),
    )
    made = an_import(
        owner,
        project_id,
        a_file("changed.md", "new\n"),
        a_file("made.md", memory_id="ctx_carried"),
        a_file("same.md", "same\n"),
        a_file("to/here.md", "moved and changed\n", memory_id=ids[2]),
        a_file("blank.md", ""),
        mirror=True,
        prefix="docs",
    )
    trial = tried(owner, made)
    assert trial["changes"] == [
        {"action": "update", "path": "docs/changed.md", "from_path": None, "memory_id": ids[0]},
        {"action": "delete", "path": "docs/gone.md", "from_path": None, "memory_id": ids[1]},
        {"action": "create", "path": "docs/made.md", "from_path": None, "memory_id": "ctx_carried"},
        {"action": "rename", "path": "docs/to/here.md", "from_path": "docs/moved.md", "memory_id": ids[2]},
        {"action": "update", "path": "docs/to/here.md", "from_path": None, "memory_id": ids[2]},
    ]
    assert trial["counts"] == {"created": 1, "updated": 2, "renamed": 1, "deleted": 1, "unchanged": 1}
    assert reported(trial) == [("blank.md", "operation_invalid")]
    assert trial["dry_run"] is True
    assert trial.keys() ^ ok(owner.get(path_of(made))).keys() == {"import_id", "review_id", "dry_run", "changes"}


def test_a_dry_run_stores_nothing_and_its_key_is_free_for_the_start(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id, a_file("a.md"), a_file("A.md"))
    before = ok(organization.owner.get(path_of(made)))
    for _ in range(2):
        trial = organization.owner.post(f"{path_of(made)}/start?dry_run=true", {}, key="one")
        assert reported(ok(trial)) == [("A.md", "path_collision"), ("a.md", "path_collision")]
        assert "idempotency-replayed" not in trial.headers
    assert ok(organization.owner.get(path_of(made))) == before
    started = organization.owner.post(f"{path_of(made)}/start?dry_run=false", {}, key="one")
    assert outcome(organization.owner, ok(started, 202))["status"] == "succeeded"


def test_a_dry_run_is_asked_for_by_true_and_by_who_may_start(api: Client) -> None:
    organization, project_id = a_place(api)
    path = f"{path_of(an_import(organization.owner, project_id, a_file('a.md')))}/start"
    assert refused_fields(organization.owner.post(f"{path}?dry_run=1", {})) == {("dry_run", "type")}
    twice = organization.owner.post(f"{path}?dry_run=true&dry_run=true", {})
    assert refused_fields(twice) == {("dry_run", "repeated")}
    assert refused_fields(organization.owner.post(f"{path}?dry_run=true", {"x": 1})) == {("x", "unknown")}
    reader = organization.owner.with_token(a_token(organization.owner, organization.owner_id, "read"))
    problem(reader.post(f"{path}?dry_run=true", {}), 403, "forbidden")


def test_files_become_one_review_whose_merge_publishes_them(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(
        organization.owner, project_id, a_file("a.md", description="About a"), a_file("b.md"), title="All of it"
    )
    started = organization.owner.post(f"{path_of(made)}/start", {})
    operation = ok(started, 202)
    assert (operation["kind"], operation["workflow_id"]) == ("import.run", f"import/{made['import_id']}")
    assert started.headers["location"] == f"{PREFIX}/operations/{operation['operation_id']}"
    done = outcome(organization.owner, operation)
    body = ok(organization.owner.get(path_of(made)))
    assert done["result"] == body
    assert (body["status"], body["operation_id"]) == ("succeeded", operation["operation_id"])
    assert body["counts"] == {"created": 2, "updated": 0, "renamed": 0, "deleted": 0, "unchanged": 0}
    review = ok(organization.owner.get(f"/reviews/{body['review_id']}"))
    assert (review["title"], review["status"]) == ("All of it", "open")
    assert ok(merge(organization.owner, review))["applied_operation_count"] == 2
    assert items(organization.owner.get("/imports", status="succeeded"))[0]["import_id"] == made["import_id"]


def test_a_mirror_leaves_exactly_its_files_under_the_prefix(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("docs/a.md", "a\n"), creates("docs/b.md"), creates("c.md"))
    made = an_import(
        organization.owner, project_id, a_file("x/a.md", "a\n"), a_file("new.md", "new\n"), mirror=True, prefix="docs"
    )
    before = paths(organization.owner)["docs/a.md"]
    merged_import(organization.owner, made)
    after = paths(organization.owner)
    assert sorted(after) == ["c.md", "docs/new.md", "docs/x/a.md"]
    assert after["docs/x/a.md"] == before


def test_a_file_with_the_id_of_a_deleted_memory_restores_it(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    (deleted,) = published(owner, project_id, creates("a.md", "old\n", "About"))
    published(owner, project_id, deletes(deleted))
    made = an_import(owner, project_id, a_file("back.md", "new\n", memory_id=deleted))
    restored: Json = {"action": "restore", "path": "back.md", "from_path": None, "memory_id": deleted}
    assert tried(owner, made)["changes"] == [restored]
    assert merged_import(owner, made)["created"] == []
    assert inside(ok(owner.get(path_of(made))), "counts")["created"] == 1
    shown = ok(owner.get(f"/org/memories/{deleted}"))
    memory = inside(shown, "memory")
    assert (memory["path"], memory["description"], shown["content"]) == ("back.md", "About", "new\n")


def test_what_the_plan_leaves_out_is_reported_one_by_one_and_the_rest_goes_on(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    kept, unselected = published(owner, project_id, creates("kept.md"), creates("unselected.md"))
    ok(select(owner, project_id, [kept]))
    made = an_import(
        owner,
        project_id,
        a_file("folder"),
        a_file("folder/file.md"),
        a_file("one.md", memory_id="ctx_1"),
        a_file("other.md", memory_id="ctx_1"),
        a_file("unselected.md"),
        a_file("fine.md"),
    )
    done = carried_out(owner, made)
    assert reported(done) == [
        ("folder", "path_collision"),
        ("folder/file.md", "path_collision"),
        ("one.md", "duplicate_id"),
        ("other.md", "duplicate_id"),
        ("unselected.md", "path_collision"),
    ]
    details = {str(report["path"]): report["detail"] for report in listed(done, "reports")}
    assert "folder/file.md" in str(details["folder"])
    assert done["counts"] == {"created": 1, "updated": 0, "renamed": 0, "deleted": 0, "unchanged": 0}
    assert unselected in str(details["unselected.md"])


def test_the_same_start_again_answers_its_operation_and_nothing_else_may_change(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    made = an_import(owner, project_id, a_file("a.md"), source="laptop")
    first = ok(owner.post(f"{path_of(made)}/start", {}), 202)
    second = ok(owner.post(f"{path_of(made)}/start", {}), 202)
    assert second["operation_id"] == first["operation_id"]
    late = owner.post(f"{path_of(made)}/files", {"files": [a_file("b.md")]})
    assert problem(late, 409, "operation_in_progress")["operation_id"] == first["operation_id"]
    assert outcome(owner, first)["status"] == "succeeded"
    assert carried_out(owner, made) == outcome(owner, first)["result"]
    problem(owner.post(f"{path_of(made)}/files", {"files": [a_file("b.md")]}), 409, "operation_in_progress")


def test_a_source_is_free_again_when_its_import_has_ended(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id, a_file("a.md"), source="laptop")
    carried_out(organization.owner, made)
    assert an_import(organization.owner, project_id, source="laptop")["import_id"] != made["import_id"]


def test_an_import_into_a_project_archived_meanwhile_fails_by_its_operation(api: Client) -> None:
    organization, project_id = a_place(api)
    made = an_import(organization.owner, project_id, a_file("a.md"), source="laptop")
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    operation = ok(organization.owner.post(f"{path_of(made)}/start", {}), 202)
    refused = organization.owner.post(f"{path_of(made)}/start", {}, headers={"Prefer": "wait=25"})
    problem(refused, 409, "project_archived")
    assert outcome(organization.owner, operation)["status"] == "failed"
    assert ok(organization.owner.get(path_of(made)))["status"] == "failed"
    assert items(organization.owner.get("/drafts", status="open")) == []


def test_a_member_imports_and_an_owner_decides(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)
    done = carried_out(member.client, an_import(member.client, project_id, a_file("a.md")))
    review = ok(organization.owner.get(f"/reviews/{done['review_id']}"))
    assert review["author_id"] == member.user_id
    ok(decide(organization.owner, review, "approved"))
    ok(merge(organization.owner, reread(organization.owner, review)))
    assert paths(organization.owner).keys() == {"a.md"}


@pytest.mark.parametrize("scope", ["organization", "project"])
def test_a_stale_export_takes_nothing_back_and_a_mirror_deletes_nothing_new(api: Client, scope: str) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    edited, moved, both, gone = published(
        owner,
        project_id,
        creates("edited.md", "1\n"),
        creates("moved.md", "1\n"),
        creates("both.md", "1\n"),
        creates("gone.md", "1\n"),
    )
    place = "/org" if scope == "organization" else f"/projects/{project_id}"
    base = str(inside(ok(owner.get(f"{place}/commit-state")), "latest")["commit_id"])
    published(owner, project_id, updates(edited, "2\n"), renames(moved, "elsewhere.md"), updates(both, "2\n"))
    published(owner, project_id, creates("new.md"))
    published(owner, project_id, updates(gone, "2\n"))
    files = [
        a_file("edited.md", "1\n"),
        a_file("moved.md", "mine\n", memory_id=moved),
        a_file("both.md", "mine\n"),
    ]
    made = an_import(owner, project_id, *files, mirror=True, base_commit_id=base)
    expected = [("both.md", "reconciliation_required"), ("gone.md", "reconciliation_required")]
    trial = tried(owner, made)
    assert trial["changes"] == [{"action": "update", "path": "elsewhere.md", "from_path": None, "memory_id": moved}]
    assert (reported(trial), trial["base_commit_id"]) == (expected, base)
    merged_import(owner, made)
    done = ok(owner.get(path_of(made)))
    assert (reported(done), done["staged"]) == (expected, 3)
    assert f"since commit {base[:12]}, by others: its text;" in str(listed(done, "reports")[0]["detail"])
    assert paths(owner) == {"edited.md": edited, "elsewhere.md": moved, "both.md": both, "gone.md": gone} | {
        "new.md": paths(owner)["new.md"]
    }
    texts = [ok(owner.get(f"/org/memories/{memory_id}"))["content"] for memory_id in (edited, moved, both)]
    assert texts == ["2\n", "mine\n", "2\n"]


def test_a_mirror_keeps_what_a_projects_export_could_not_hold(api: Client) -> None:
    """A Memory that the project has selected only since its base was there then, but in no file."""
    organization, project_id = a_place(api)
    owner = organization.owner
    (kept,) = published(owner, project_id, creates("kept.md"))
    (later,) = published(owner, project_id, creates("later.md"))
    ok(select(owner, project_id, [kept]))
    base = str(inside(ok(owner.get(f"/projects/{project_id}/commit-state")), "latest")["commit_id"])
    ok(select(owner, project_id, [kept, later]))
    trial = tried(owner, an_import(owner, project_id, a_file("kept.md"), mirror=True, base_commit_id=base))
    assert (trial["changes"], trial["reports"]) == ([], [])
