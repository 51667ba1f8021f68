"""An import's Review is one like any other: proposed by a member, decided by others, published with its ids."""

import pytest

from tests.client import Client, Json, a_member, items, ok, problem, refused_fields
from tests.hash_reference import verify
from tests.imports_over_http import a_file, an_import, carried_out
from tests.proposals import a_draft, a_place, append, creates, decide, inside, listed, merge, reread, texts

pytestmark = pytest.mark.usefixtures("worker")


def review_of(client: Client, made: Json) -> Json:
    return ok(client.get(f"/reviews/{made['review_id']}"))


def test_a_members_import_is_approved_merged_and_selected_under_the_ids_that_it_carries(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)
    files = [a_file("a.md", "A\n", memory_id="ctx_a"), a_file("b.md", "B\n", description="About b")]
    done = carried_out(member.client, an_import(member.client, project_id, *files, prefix="docs"))

    review = review_of(organization.owner, done)
    assert (review["status"], review["author_id"]) == ("open", member.user_id)
    creates_shown = {
        str(item["path"]): str(item["memory_id"]) for item in listed(inside(review, "mergeability"), "creates")
    }
    assert creates_shown["docs/a.md"] == "ctx_a"
    review = ok(decide(organization.owner, review, "approved"))
    outcome = ok(merge(organization.owner, review, expected_result_hash=review["result_hash"]))

    created = {str(item["path"]): (item["provisional_id"], item["memory_id"]) for item in listed(outcome, "created")}
    assert created["docs/a.md"] == ("ctx_a", "ctx_a")
    assert str(created["docs/b.md"][0]).startswith("prv_")
    state = ok(member.client.get(f"/projects/{project_id}/commit-state"))
    snapshot = ok(member.client.get(str(state["download_url"])))
    verify(snapshot)
    assert set(texts(inside(snapshot, "project_org_selection"), "resource_ids")) == {
        final for _, final in created.values()
    }
    assert ok(member.client.get("/org/memories/ctx_a"))["content"] == "A\n"
    events = items(organization.owner.get("/admin/audit-events", resource_id=str(done["review_id"])))
    assert [event["action"] for event in events] == ["review.merge", "review.approve", "review.submit"]


def test_of_two_imports_that_carry_one_id_the_second_is_not_merged_and_the_next_import_moves_it(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    first, second = (
        carried_out(owner, an_import(owner, project_id, a_file(path, memory_id="wfl_1"))) for path in ("a.md", "b.md")
    )
    ok(merge(owner, review_of(owner, first)))
    blocked = review_of(owner, second)
    blockers = listed(inside(blocked, "mergeability"), "blockers")
    assert [(blocker["code"], blocker["memory_id"]) for blocker in blockers] == [("duplicate_id", "wfl_1")]
    assert problem(merge(owner, blocked), 422, "duplicate_id")["memory_id"] == "wfl_1"
    again = carried_out(owner, an_import(owner, project_id, a_file("b.md", memory_id="wfl_1")))
    assert again["counts"] == {"created": 0, "updated": 0, "renamed": 1, "deleted": 0, "unchanged": 0}
    ok(merge(owner, review_of(owner, again)))
    assert inside(ok(owner.get("/org/memories/wfl_1")), "memory")["path"] == "b.md"


def test_a_rejected_import_leaves_drafts_that_its_author_goes_on_with(api: Client) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id).client
    done = carried_out(member, an_import(member, project_id, a_file("a.md", memory_id="mem_mine")))
    ok(decide(organization.owner, review_of(organization.owner, done), "rejected"))
    (draft,) = items(member.get("/drafts", project_id=project_id))
    update: Json = {"action": "update", "memory_id": "mem_mine", "content": {"content": "better\n"}}
    draft = ok(append(member, draft, update))
    review = review_of(member, done)
    body: Json = {
        "expected_review_version": review["version"],
        "drafts": [{"draft_id": draft["draft_id"], "expected_draft_version": draft["version"]}],
    }
    ok(member.post(f"/reviews/{review['review_id']}/submissions", body, headers={"Prefer": "wait=25"}))
    ok(merge(organization.owner, reread(organization.owner, review)))
    assert ok(member.get("/org/memories/mem_mine"))["content"] == "better\n"


def test_outside_an_import_no_create_carries_an_id(api: Client) -> None:
    organization, project_id = a_place(api)
    create: Json = {**creates("a.md"), "memory_id": "mem_mine"}
    body: Json = {"project_id": project_id, "operations": [create]}
    refused = {("operations[0].memory_id", "unknown")}
    assert refused_fields(organization.owner.post("/drafts", body)) == refused
    assert refused_fields(append(organization.owner, a_draft(organization.owner, project_id), create)) == refused
