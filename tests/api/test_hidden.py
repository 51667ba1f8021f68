"""What is hidden and what does not exist are refused in the same words (publication.md §6)."""

import pytest

from tests.client import Client, Json, a_member, a_person, a_project, ok, problem
from tests.proposals import a_draft, a_place, a_review, creates, published

pytestmark = pytest.mark.usefixtures("worker")

REVIEW_ROUTES: list[tuple[str, str, Json | None]] = [
    ("GET", "", None),
    ("PATCH", "", {"title": "t"}),
    ("GET", "/mergeability", None),
    ("GET", "/diff", None),
    ("GET", "/submissions/1", None),
    ("GET", "/comments", None),
    ("POST", "/comments", {"body": "b"}),
    ("PATCH", "/comments/cmt_x", {"resolved": True}),
    ("POST", "/submissions", {"expected_review_version": 1, "drafts": []}),
    ("POST", "/withdrawals", {"expected_review_version": 1}),
    ("POST", "/decisions", {"expected_review_version": 1, "decision": "approved"}),
    ("POST", "/merges", {"expected_review_version": 1}),
]


def told(client: Client, method: str, path: str, body: Json | None = None) -> Json:
    """A refusal without what belongs to the single request."""
    refused = client.request(method, path, body=body, headers={"If-Match": '"1"'})
    document = problem(refused, 404, "not_found")
    return {name: value for name, value in document.items() if name not in ("instance", "request_id")}


def test_a_review_of_a_project_one_cannot_see_is_refused_as_one_that_is_not_there(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    stranger = a_person(organization).client
    for method, path, body in REVIEW_ROUTES:
        hidden = told(stranger, method, f"/reviews/{review['review_id']}{path}", body)
        assert hidden == told(stranger, method, f"/reviews/rev_unknown{path}", body), path
        assert hidden["detail"] == "There is no such Review."


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"name": "n"}),
        ("DELETE", "", None),
        ("GET", "/commits", None),
        ("GET", "/commit-state", None),
        ("GET", "/members", None),
        ("GET", "/org-selections", None),
        ("PUT", "/org-selections", {"resource_ids": []}),
    ],
)
def test_a_project_one_cannot_see_or_that_is_deleted_is_refused_as_one_that_is_not_there(
    api: Client, method: str, path: str, body: Json | None
) -> None:
    organization, project_id = a_place(api)
    stranger = a_person(organization).client
    missing = told(stranger, method, f"/projects/prj_unknown{path}", body)
    assert told(stranger, method, f"/projects/{project_id}{path}", body) == missing
    deleted = a_project(organization.owner)
    assert organization.owner.delete(f"/projects/{deleted}", version=1).status_code == 204
    assert told(organization.owner, method, f"/projects/{deleted}{path}", body) == missing


def test_a_commit_of_a_project_one_cannot_see_is_refused_as_one_that_is_not_there(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    state = ok(organization.owner.get(f"/projects/{project_id}/commit-state"))
    ref = state["ref"]
    assert isinstance(ref, dict)
    stranger = a_person(organization).client
    assert told(stranger, "GET", f"/commits/{ref['commit_id']}") == told(stranger, "GET", "/commits/unknown")


def test_a_draft_in_a_project_its_author_has_left_is_refused_as_one_that_is_not_there(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id)
    draft = a_draft(author.client, project_id)
    assert organization.owner.delete(f"/projects/{project_id}/members/{author.user_id}").status_code == 204
    hidden = told(author.client, "GET", f"/drafts/{draft['draft_id']}")
    assert hidden == told(author.client, "GET", "/drafts/drf_unknown")


def test_writing_to_a_review_of_a_deleted_project_says_that_the_project_is_deleted(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    assert organization.owner.delete(f"/projects/{project_id}", version=1).status_code == 204
    refused = organization.owner.post(f"/reviews/{review['review_id']}/comments", {"body": "b"})
    assert problem(refused, 409, "project_archived")["detail"] == "The project is deleted."
