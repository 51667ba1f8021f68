"""Reverts over HTTP: a Draft that takes back what a commit did (publication.md §5)."""

import pytest

from tests.client import Client, Json, Organization, a_member, a_token, items, ok, problem
from tests.proposals import (
    a_place,
    a_review,
    creates,
    deletes,
    inside,
    merge,
    operations_of,
    published,
    select,
    submit,
    updates,
)

pytestmark = pytest.mark.usefixtures("worker")


def head(owner: Client) -> str:
    return str(inside(ok(owner.get("/org/commit-state")), "ref")["commit_id"])


def a_reverting(project_id: str, commit_id: str) -> Json:
    return {"project_id": project_id, "commit_id": commit_id}


def a_mistake(organization: Organization, project_id: str) -> tuple[str, str]:
    """A commit that changes one Memory and deletes another; their ids."""
    owner = organization.owner
    kept, gone = published(owner, project_id, creates("kept.md", "one\n"), creates("gone.md", "gone\n"))
    published(owner, project_id, updates(kept, "two\n"), deletes(gone), title="A mistake")
    return kept, gone


def test_a_revert_is_proposed_and_published_like_any_change(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    author = a_member(organization, project_id).client
    kept, gone = a_mistake(organization, project_id)
    bad = head(owner)
    published(owner, project_id, creates("later.md"))
    answered = author.post("/org/reverts", a_reverting(project_id, bad), key="once")
    draft = ok(answered, 201)
    assert (answered.headers["etag"], draft["title"], draft["base_commit_id"]) == ('"1"', 'Revert "A mistake"', bad)
    assert inside(draft, "coordination")["freshness"] == "behind"
    assert {(step["action"], step["memory_id"]) for step in operations_of(draft)} == {
        ("update", kept),
        ("restore", gone),
    }
    again = author.post("/org/reverts", a_reverting(project_id, bad), key="once")
    assert (ok(again, 201), again.headers["idempotency-replayed"]) == (draft, "true")
    ok(merge(owner, a_review(author, draft)))
    assert {memory["path"] for memory in items(owner.get("/org/memories"))} == {"gone.md", "kept.md", "later.md"}
    assert ok(owner.get(f"/org/memories/{kept}"))["content"] == "one\n"


def test_a_revert_that_later_changes_contradict_is_reconciled_like_any_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    kept, _ = a_mistake(organization, project_id)
    bad = head(owner)
    published(owner, project_id, updates(kept, "three\n"))
    draft = ok(owner.post("/org/reverts", a_reverting(project_id, bad)), 201)
    problem(submit(owner, draft), 409, "reconciliation_required")


def test_who_may_not_propose_does_not_revert_and_what_is_not_there_is_not_reverted(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    kept, _ = a_mistake(organization, project_id)
    body = a_reverting(project_id, head(owner))
    viewer = a_member(organization, project_id, "viewer").client
    problem(viewer.post("/org/reverts", body), 403, "forbidden")
    problem(owner.with_token(a_token(owner, None, "read")).post("/org/reverts", body), 403, "forbidden")
    problem(owner.post("/org/reverts", a_reverting("prj_none", head(owner))), 404, "not_found")
    unknown = problem(
        owner.post("/org/reverts", {"commit_id": "0" * 64, "project_id": project_id, "x": 1}), 404, "not_found"
    )
    assert unknown["field"] == "commit_id"
    state = ok(owner.get(f"/projects/{project_id}/commit-state"))
    projected = str(inside(state, "ref")["commit_id"])
    problem(owner.post("/org/reverts", a_reverting(project_id, projected)), 404, "not_found")
    problem(owner.post("/org/reverts", {"project_id": project_id}), 400, "invalid_request")
    ok(select(owner, project_id, []))
    refused = problem(owner.post("/org/reverts", body), 422, "memory_not_selected")
    assert refused["memory_id"] == kept


def test_a_dry_run_of_a_revert_makes_no_draft(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    a_mistake(organization, project_id)
    body = a_reverting(project_id, head(owner))
    tried = ok(owner.post("/org/reverts?dry_run=true", body, key="one"))
    assert items(owner.get("/drafts", status="open")) == []
    made = ok(owner.post("/org/reverts", body, key="one"), 201)
    assert tried.keys() ^ made.keys() == {"draft_id", "dry_run"}
    assert tried["dry_run"] is True
    steps = [{name: value for name, value in step.items() if name != "operation_id"} for step in operations_of(made)]
    assert tried["operations"] == steps
    problem(owner.post("/org/reverts?dry_run=true", a_reverting(project_id, "0" * 64)), 404, "not_found")


def test_an_archived_project_reverts_nothing(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    a_mistake(organization, project_id)
    body = a_reverting(project_id, head(owner))
    project = ok(owner.get(f"/projects/{project_id}"))
    ok(owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=int(str(project["version"]))))
    problem(owner.post("/org/reverts", body), 409, "project_archived")
