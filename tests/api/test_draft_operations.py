"""Operations of a Draft: what an append accepts, and what they come to (publication.md §2)."""

import json

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
    a_review,
    append,
    at_version,
    creates,
    deletes,
    inside,
    listed,
    merge,
    operations_of,
    published,
    renames,
    select,
    submit,
    texts,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def test_operations_are_answered_with_ids_indexes_and_only_what_they_carry(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("known.md"))
    draft = a_draft(
        organization.owner,
        project_id,
        creates("a.md", "one\r\ntwo", "  About a "),
        updates(known, description="Only this"),
        renames(known, "renamed.md"),
        deletes(known),
    )
    created, updated, renamed, deleted = operations_of(draft)
    assert str(created["memory_id"]).startswith("prv_")
    assert (created["index"], created["path"]) == (0, "a.md")
    assert created["content"] == {"content": "one\ntwo\n", "description": "About a"}
    assert updated["content"] == {"description": "Only this"}
    assert (renamed["memory_id"], renamed["new_path"]) == (known, "renamed.md")
    assert set(deleted) == {"operation_id", "index", "action", "memory_id"}


def test_an_append_answers_the_whole_draft_a_version_further(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    appended = append(organization.owner, draft, creates("b.md"), creates("c.md"))
    assert [operation["index"] for operation in operations_of(ok(appended))] == [0, 1, 2]
    assert (ok(appended)["version"], appended.headers["etag"]) == (2, '"2"')


def test_one_invalid_operation_refuses_the_whole_append(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    refused = append(organization.owner, draft, creates("b.md"), creates("../c.md"))
    document = problem(refused, 422, "operation_invalid")
    assert (document["index"], document["field"], document["rule"]) == (1, "path", "dot_segment")
    assert ok(organization.owner.get(f"/drafts/{draft['draft_id']}")) == draft


def test_the_index_of_a_problem_counts_within_the_request(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"), creates("b.md"))
    document = problem(append(organization.owner, draft, deletes("mem_unknown")), 422, "target_missing")
    assert document["index"] == 0


INVALID_OPERATIONS = [
    (creates("a.md", " \n\t\n"), "content.content", "blank"),
    (creates("a.md", "\ufeff"), "content.content", "blank"),
    (creates("a.md", "a\0b"), "content.content", "nul"),
    (creates("a.md", "a\ud800"), "content.content", "lone_surrogate"),
    (creates("a.md", "a", "one\ntwo"), "content.description", "line_break"),
    (creates("a.md", "a", "one\0"), "content.description", "nul"),
    (creates("a\0b"), "path", "nul"),
    (creates("a\udfff"), "path", "lone_surrogate"),
]


@pytest.mark.parametrize(("operation", "field", "rule"), INVALID_OPERATIONS)
def test_texts_that_cannot_be_published_make_an_operation_invalid(
    api: Client, operation: Json, field: str, rule: str
) -> None:
    organization, project_id = a_place(api)
    refused = organization.owner.request(
        "POST",
        "/drafts",
        content=ascii_json({"project_id": project_id, "operations": [creates("fine.md"), operation]}),
        headers={"Content-Type": "application/json"},
    )
    document = problem(refused, 422, "operation_invalid")
    assert (document["index"], document["field"], document["rule"]) == (1, field, rule)
    assert items(organization.owner.get("/drafts")) == []


def ascii_json(body: Json) -> bytes:
    """JSON with escapes, which can name a lone surrogate."""
    return json.dumps(body).encode()


INVALID_REQUESTS: list[tuple[list[object], str, str]] = [
    ([], "operations", "too_short"),
    ([creates("a.md")] * 1_001, "operations", "too_long"),
    ([{"action": "revive", "memory_id": "mem_1"}], "operations[0].action", "not_allowed"),
    ([{"action": "restore"}], "operations[0].memory_id", "missing"),
    ([{"action": "restore", "path": "a.md"}], "operations[0].memory_id", "missing"),
    ([{"action": "restore", "memory_id": "m", "content": {}}], "operations[0].content", "empty"),
    ([{"action": "restore", "memory_id": "m", "new_path": "a.md"}], "operations[0].new_path", "unknown"),
    ([{"action": "restore", "memory_id": "m", "path": "a" * 513}], "operations[0].path", "too_long"),
    ([{"memory_id": "mem_1"}], "operations[0].action", "missing"),
    ([{"action": "delete"}], "operations[0]", "one_target"),
    ([creates("fine.md"), {"action": "delete", "memory_id": "m", "path": "a"}], "operations[1]", "one_target"),
    ([{"action": "rename", "memory_id": "m"}], "operations[0].new_path", "missing"),
    ([{"action": "update", "memory_id": "m", "content": {}}], "operations[0].content", "empty"),
    ([{"action": "update", "memory_id": "m"}], "operations[0].content", "missing"),
    (
        [{"action": "create", "path": "a.md", "content": {"description": "d"}}],
        "operations[0].content.content",
        "missing",
    ),
    ([{**creates("a.md"), "memory_id": "mem_1"}], "operations[0].memory_id", "unknown"),
    ([creates("a.md", "")], "operations[0].content.content", "empty"),
    ([creates("a.md", "x" * 262_144)], "operations[0].content.content", "too_long"),
    ([creates("a.md", "x", "d" * 1_025)], "operations[0].content.description", "too_long"),
    ([creates("a/" * 256 + "b")], "operations[0].path", "too_long"),
    ([creates("é" * 128)], "operations[0].path", "segment_too_long"),
    ([creates("")], "operations[0].path", "empty"),
    ([{**creates("a.md"), "path": None}], "operations[0].path", "null"),
    ([{**creates("a.md"), "path": 1}], "operations[0].path", "type"),
    (["create"], "operations[0]", "type"),
]


@pytest.mark.parametrize(("operations", "field", "rule"), INVALID_REQUESTS)
def test_what_a_schema_can_tell_is_an_invalid_request(
    api: Client, operations: list[object], field: str, rule: str
) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    refused = organization.owner.request(
        "POST",
        f"/drafts/{draft['draft_id']}/operations",
        content=ascii_json({"operations": operations}),  # type: ignore[dict-item]  # anything at all
        headers={"Content-Type": "application/json"},
    )
    assert (field, rule) in refused_fields(refused)


def test_texts_at_their_limits_are_accepted(api: Client) -> None:
    organization, project_id = a_place(api)
    path = "/".join(["é" * 127, "a" * 255, "b" * 128])
    assert len(path) == 512
    draft = a_draft(organization.owner, project_id, creates(path, "x" * 262_143, "d" * 1_024 + " "), title="t" * 200)
    assert operations_of(draft)[0]["path"] == path


def test_a_draft_holds_a_thousand_operations_however_they_come(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, *(creates(f"{number}.md") for number in range(998)))
    document = problem(append(organization.owner, draft, *[creates("x.md")] * 3), 422, "operation_invalid")
    assert (document["index"], document["field"], document["rule"]) == (2, "operations", "too_many")
    ok(append(organization.owner, draft, *[creates("x.md")] * 2))


def test_a_path_names_a_target_in_any_normal_form_and_is_kept_as_an_id(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("caf\u00e9.md"))
    draft = a_draft(
        organization.owner,
        project_id,
        {"action": "update", "path": "cafe\u0301.md", "content": {"content": "new\n"}},
        {"action": "rename", "path": "caf\u00e9.md", "new_path": "tea.md"},
        {"action": "delete", "path": "tea.md"},
    )
    assert [operation["memory_id"] for operation in operations_of(draft)] == [known] * 3
    assert "path" not in operations_of(draft)[0]


def test_a_target_has_to_exist_after_the_operations_before_it(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    draft = a_draft(organization.owner, project_id, deletes(known))
    by_path: Json = {"action": "delete", "path": "a.md"}
    for operation in (updates(known, "again\n"), updates("mem_unknown", "x\n"), updates("prv_unknown", "x\n"), by_path):
        problem(append(organization.owner, draft, operation), 422, "target_missing")


def test_an_existing_target_has_to_be_selected(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    other = a_project(organization.owner)
    body: Json = {"project_id": other, "operations": [creates("b.md"), deletes(known)]}
    document = problem(organization.owner.post("/drafts", body), 422, "memory_not_selected")
    assert (document["index"], document["memory_id"]) == (1, known)
    ok(select(organization.owner, other, [known]))
    ok(organization.owner.post("/drafts", body), 201)


def test_a_provisional_id_of_another_open_draft_of_the_author_is_a_target(api: Client) -> None:
    organization, project_id = a_place(api)
    first = a_draft(organization.owner, project_id, creates("a.md", "one\n"))
    made = str(operations_of(first)[0]["memory_id"])
    second = a_draft(organization.owner, project_id, updates(made, "two\n"))
    assert operations_of(second)[0]["memory_id"] == made
    stranger = a_member(organization, project_id).client
    body: Json = {"project_id": project_id, "operations": [updates(made, "three\n")]}
    problem(stranger.post("/drafts", body), 422, "target_missing")
    other_project: Json = {"project_id": a_project(organization.owner), "operations": [updates(made, "three\n")]}
    problem(organization.owner.post("/drafts", other_project), 422, "target_missing")


def test_the_result_is_the_fold_with_its_differences(api: Client) -> None:
    organization, project_id = a_place(api)
    known, gone = published(organization.owner, project_id, creates("a.md", "one\n"), creates("gone.md"))
    draft = a_draft(
        organization.owner, project_id, updates(known, "two\n"), creates("x.md"), deletes(gone), creates("y.md")
    )
    vanishing = str(operations_of(draft)[3]["memory_id"])
    ok(append(organization.owner, draft, deletes(vanishing)))
    result = ok(organization.owner.get(f"/drafts/{draft['draft_id']}/result"))
    states = {memory["memory_id"]: memory for memory in listed(result, "memories")}
    changed = states[known]
    assert (inside(changed, "base")["content"], inside(changed, "result")["content"]) == ("one\n", "two\n")
    assert changed["diff"] == "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-one\n+two\n"
    assert states[gone]["result"] is None
    assert states[vanishing]["base"] is None
    assert states[vanishing]["result"] is None
    assert result["collisions"] == []


def test_the_result_warns_of_collisions_and_refuses_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("docs/a.md"))
    draft = a_draft(organization.owner, project_id, creates("DOCS"), creates("x.md"), creates("X.md"))
    made = [str(operation["memory_id"]) for operation in operations_of(draft)]
    result = ok(organization.owner.get(f"/drafts/{draft['draft_id']}/result"))
    met = sorted(sorted(texts(collision, "memory_ids")) for collision in listed(result, "collisions"))
    assert met == sorted([sorted([made[0], known]), sorted(made[1:])])


def test_a_submitted_draft_takes_no_edits(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    review = a_review(organization.owner, draft)
    draft = ok(organization.owner.get(f"/drafts/{draft['draft_id']}"))
    assert (draft["status"], draft["version"], draft["review_id"]) == ("submitted", 2, review["review_id"])
    document = problem(append(organization.owner, draft, creates("b.md")), 409, "draft_submitted")
    assert document["review_id"] == review["review_id"]
    patched = organization.owner.patch(f"/drafts/{draft['draft_id']}", {"title": "x"}, headers=at_version(draft))
    problem(patched, 409, "draft_submitted")


def test_a_merged_draft_is_closed(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    ok(merge(organization.owner, a_review(organization.owner, draft)))
    draft = ok(organization.owner.get(f"/drafts/{draft['draft_id']}"))
    assert (draft["status"], draft["coordination"]) == ("merged", None)
    problem(append(organization.owner, draft, creates("b.md")), 409, "draft_closed")
    patched = organization.owner.patch(f"/drafts/{draft['draft_id']}", {"title": "x"}, headers=at_version(draft))
    problem(patched, 409, "draft_closed")
    problem(organization.owner.delete(f"/drafts/{draft['draft_id']}", version=3), 409, "draft_closed")
    problem(submit(organization.owner, draft), 409, "draft_closed")


def test_an_archived_project_takes_no_drafts(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(organization.owner.post("/drafts", {"project_id": project_id}), 409, "project_archived")
    problem(append(organization.owner, draft, creates("b.md")), 409, "project_archived")
    path = f"/drafts/{draft['draft_id']}"
    problem(organization.owner.patch(path, {"title": "x"}, version=1), 409, "project_archived")
    problem(organization.owner.delete(path, version=1), 409, "project_archived")
    assert ok(organization.owner.get(path))["status"] == "open"


def test_a_repeated_append_is_recognized_by_its_key_though_the_version_has_moved(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    path = f"/drafts/{draft['draft_id']}/operations"
    body: Json = {"operations": [creates("a.md")]}
    ok(organization.owner.post(path, body, key="k", headers=at_version(draft)))
    assert len(operations_of(ok(organization.owner.post(path, body, key="k", headers=at_version(draft))))) == 1
    problem(organization.owner.post(path, body, headers=at_version(draft)), 412, "precondition_failed")
