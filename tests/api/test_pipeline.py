"""The shortest path: what a person proposes becomes what everybody reads."""

import pytest

from tests.client import Client, a_member, a_project, an_organization, ok
from tests.hash_reference import verify
from tests.proposals import WAIT, a_draft, append, creates, decide, final, merge, provisional, references

pytestmark = pytest.mark.usefixtures("worker")


def test_a_change_walks_from_draft_to_snapshot(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    author = a_member(organization, project_id).client

    draft = a_draft(author, project_id, title="Deployment")
    draft = ok(append(author, draft, creates("runbooks/deploy.md", "# Deploy\n", "How we deploy")))
    assert draft["version"] == 2

    body = {"project_id": project_id, "title": "Say how we deploy", "drafts": references([draft])}
    review = ok(author.post("/reviews", body, headers=WAIT), 201)
    assert review["status"] == "open"

    review = ok(decide(organization.owner, review, "approved"))
    assert review["status"] == "approved"

    outcome = ok(merge(organization.owner, review, expected_result_hash=review["result_hash"]))
    memory_id = final(provisional(draft))
    assert outcome["created"] == [
        {
            "draft_id": draft["draft_id"],
            "provisional_id": provisional(draft),
            "memory_id": memory_id,
            "path": "runbooks/deploy.md",
        }
    ]

    state = ok(author.get(f"/projects/{project_id}/commit-state"))
    assert state["update_available"] is True
    snapshot = ok(author.get(str(state["download_url"])))
    verify(snapshot)
    assert snapshot["project_org_selection"] == {"revision": 1, "resource_ids": [memory_id]}
    verify(ok(author.get(f"/commits/{outcome['commit_id']}")))
    memory = ok(author.get(f"/org/memories/{memory_id}"))
    assert memory["content"] == "# Deploy\n"
