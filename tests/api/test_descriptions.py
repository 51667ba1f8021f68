"""A description is part of the content: it goes the whole way by itself, beside the body (publication.md §1)."""

import pytest

from tests.client import Client, Json, ok, problem
from tests.proposals import (
    a_draft,
    a_place,
    a_review,
    creates,
    decide,
    inside,
    listed,
    merge,
    published,
    resubmit,
    submit,
    updates,
)
from tests.reconciliation_over_http import candidates_of, confirming, submit_confirmed

pytestmark = pytest.mark.usefixtures("worker")

BODY = "# Deploy\n\nBuild.\n"
OTHER_BODY = "# Deploy\n\nBuild and test.\n"


def described(reader: Client, project_id: str, memory_id: str) -> set[str]:
    """What every place that shows the description says of it: the Memory, the commit's tree, the projection."""
    shown = [inside(ok(reader.get(f"/org/memories/{memory_id}")), "memory")["description"]]
    for state in ("/org/commit-state", f"/projects/{project_id}/commit-state"):
        commit_id = inside(ok(reader.get(state)), "ref")["commit_id"]
        entries = listed(inside(ok(reader.get(f"/commits/{commit_id}")), "tree"), "entries")
        shown += [entry["description"] for entry in entries if entry["id"] == memory_id]
    assert len(shown) == 3
    return {str(description) for description in shown}


def text_of(reader: Client, memory_id: str) -> str:
    return str(ok(reader.get(f"/org/memories/{memory_id}"))["content"])


def test_a_description_is_published_updated_and_cleared_without_its_body(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    assert described(owner, project_id, memory_id) == {"How we deploy"}
    published(owner, project_id, updates(memory_id, description="How we deploy now"))
    assert described(owner, project_id, memory_id) == {"How we deploy now"}
    published(owner, project_id, updates(memory_id, description=""))
    assert described(owner, project_id, memory_id) == {""}
    assert text_of(owner, memory_id) == BODY


def test_a_description_is_what_an_approval_was_given_for(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    one, other = (a_draft(owner, project_id, updates(memory_id, description=text)) for text in ("A", "B"))
    review = ok(decide(owner, a_review(owner, one), "approved"))
    again = ok(resubmit(owner, review, other))
    assert (again["status"], again["approvals"]) == ("open", [])
    assert again["result_hash"] != review["result_hash"]


def test_a_description_from_one_side_goes_with_a_body_from_the_other(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    draft = a_draft(owner, project_id, updates(memory_id, OTHER_BODY))
    published(owner, project_id, updates(memory_id, description="How we deploy now"))
    [candidate] = candidates_of(problem(submit(owner, draft), 409, "reconciliation_required"))
    proposed = inside(listed(candidate, "memories")[0], "proposed")
    assert (proposed["content"], proposed["description"]) == (OTHER_BODY, "How we deploy now")
    ok(merge(owner, ok(submit_confirmed(owner, (draft, confirming(candidate))), 201)))
    assert described(owner, project_id, memory_id) == {"How we deploy now"}
    assert text_of(owner, memory_id) == OTHER_BODY


def test_a_cleared_description_goes_with_a_body_from_the_other_side(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    draft = a_draft(owner, project_id, updates(memory_id, description=""))
    published(owner, project_id, updates(memory_id, OTHER_BODY))
    [candidate] = candidates_of(problem(submit(owner, draft), 409, "reconciliation_required"))
    ok(merge(owner, ok(submit_confirmed(owner, (draft, confirming(candidate))), 201)))
    assert described(owner, project_id, memory_id) == {""}
    assert text_of(owner, memory_id) == OTHER_BODY


def test_descriptions_that_clash_are_settled_as_somebody_says(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    draft = a_draft(owner, project_id, updates(memory_id, OTHER_BODY, "Ours"))
    published(owner, project_id, updates(memory_id, description="Theirs"))
    [candidate] = candidates_of(problem(submit(owner, draft), 409, "reconciliation_required"))
    [conflict] = listed(candidate, "conflicts")
    assert (conflict["code"], conflict["field"]) == ("description.both_changed", "description")
    assert [inside(conflict, side)["description"] for side in ("base", "current", "draft")] == [
        "How we deploy",
        "Theirs",
        "Ours",
    ]
    chosen: Json = {
        "memory_id": memory_id,
        "exists": True,
        "path": "deploy.md",
        "description": "Both",
        "content": OTHER_BODY,
    }
    review = ok(submit_confirmed(owner, (draft, confirming(candidate, [chosen]))), 201)
    ok(merge(owner, review))
    assert described(owner, project_id, memory_id) == {"Both"}


def test_the_same_description_on_both_sides_has_converged(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [memory_id] = published(owner, project_id, creates("deploy.md", BODY, "How we deploy"))
    draft = a_draft(owner, project_id, updates(memory_id, description="Now"), creates("more.md"))
    published(owner, project_id, updates(memory_id, description="Now"))
    ok(merge(owner, a_review(owner, draft)))
    assert described(owner, project_id, memory_id) == {"Now"}
