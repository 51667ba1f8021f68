"""Drafts: opened, edited, read by their author alone, discarded (publication.md §2, §6)."""

import json

import pytest

from tests.client import (
    Client,
    Json,
    Organization,
    a_member,
    a_project,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    a_draft,
    a_review,
    all_items,
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


def a_place(api: Client) -> tuple[Organization, str]:
    organization = an_organization(api)
    return organization, a_project(organization.owner)


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
    ([{"action": "restore", "memory_id": "mem_1"}], "operations[0].action", "not_allowed"),
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


def test_its_author_discards_a_draft_at_the_version_that_was_read(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id, creates("a.md"))
    path = f"/drafts/{draft['draft_id']}"
    problem(organization.owner.delete(path), 428, "precondition_required")
    problem(organization.owner.delete(path, version=7), 412, "precondition_failed")
    discarded = organization.owner.delete(path, version=1)
    assert (ok(discarded)["status"], ok(discarded)["version"], discarded.headers["etag"]) == ("discarded", 2, '"2"')
    assert ok(discarded)["operations"] == draft["operations"]
    assert ok(discarded)["coordination"] is None
    document = problem(organization.owner.delete(path, version=2), 409, "draft_closed")
    assert document["draft_id"] == draft["draft_id"]


def test_owners_and_admins_discard_anybodys_draft_unseen(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    first, second = (a_draft(author, project_id, creates("a.md")) for _ in range(2))
    gone = ok(organization.owner.delete(f"/drafts/{first['draft_id']}"))
    assert gone == {"draft_id": first["draft_id"], "status": "discarded", "version": 2}
    problem(organization.owner.delete(f"/drafts/{second['draft_id']}", version=9), 412, "precondition_failed")
    ok(organization.owner.delete(f"/drafts/{second['draft_id']}", version=1))
    audited = items(organization.owner.get("/admin/audit-events", resource_id=str(first["draft_id"])))
    assert ("draft.discard", organization.owner_id) in {(event["action"], event["actor"]) for event in audited}


def test_other_members_cannot_discard_a_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(a_member(organization, project_id).client, project_id)
    other = a_member(organization, project_id, "admin").client
    problem(other.delete(f"/drafts/{draft['draft_id']}", version=1), 404, "not_found")


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


def test_discarding_one_of_a_reviews_drafts_submits_what_is_left(api: Client) -> None:
    organization, project_id = a_place(api)
    first, second = (a_draft(organization.owner, project_id, creates(f"{name}.md")) for name in "ab")
    review = a_review(organization.owner, first, second)
    ok(organization.owner.delete(f"/drafts/{first['draft_id']}", version=2))
    left = ok(organization.owner.get(f"/reviews/{review['review_id']}"))
    assert (left["status"], left["submission"]) == ("open", 2)
    assert left["result_hash"] != review["result_hash"]
    assert [draft["draft_id"] for draft in listed(left, "drafts")] == [second["draft_id"]]


def test_discarding_the_last_draft_of_a_review_withdraws_it(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    draft = a_draft(author, project_id, creates("a.md"))
    review = a_review(author, draft)
    ok(organization.owner.delete(f"/drafts/{draft['draft_id']}"))
    withdrawn = ok(author.get(f"/reviews/{review['review_id']}"))
    assert (withdrawn["status"], withdrawn["closed_reason"]) == ("withdrawn", "last_draft_discarded")


def test_the_same_key_opens_one_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    body: Json = {"project_id": project_id, "operations": [creates("a.md")]}
    first = organization.owner.post("/drafts", body, key="one")
    second = organization.owner.post("/drafts", body, key="one")
    assert ok(first, 201) == ok(second, 201)
    assert (second.headers["etag"], second.headers["idempotency-replayed"]) == ('"1"', "true")
    assert len(items(organization.owner.get("/drafts"))) == 1


def test_a_repeated_append_is_recognized_by_its_key_though_the_version_has_moved(api: Client) -> None:
    organization, project_id = a_place(api)
    draft = a_draft(organization.owner, project_id)
    path = f"/drafts/{draft['draft_id']}/operations"
    body: Json = {"operations": [creates("a.md")]}
    ok(organization.owner.post(path, body, key="k", headers=at_version(draft)))
    assert len(operations_of(ok(organization.owner.post(path, body, key="k", headers=at_version(draft))))) == 1
    problem(organization.owner.post(path, body, headers=at_version(draft)), 412, "precondition_failed")
