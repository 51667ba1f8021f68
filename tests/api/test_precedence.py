"""Of several problems the first of the contract's list is the answer (publication.md §6).

Each request breaks everything from some point of the list on; the answer names that point.
"""

from dataclasses import dataclass

import pytest

from tests.client import (
    Client,
    Json,
    Organization,
    a_member,
    a_person,
    a_project,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.proposals import (
    WAIT,
    a_draft,
    a_review,
    append,
    creates,
    decide,
    deletes,
    merge,
    published,
    references,
    resubmit,
    submit,
    updates,
    withdraw,
)

pytestmark = pytest.mark.usefixtures("worker")

TOO_LARGE = b'"' + b"x" * (8 * 1024 * 1024) + b'"'
NOT_JSON = {"Content-Type": "text/plain"}
AS_JSON = {"Content-Type": "application/json"}


@dataclass
class Scene:
    """What the routes below work on: an open Draft and a Review of the owner, and tokens that may do less."""

    owner: Client
    reader: Client
    writer: Client
    viewer: Client
    names: dict[str, str]

    @property
    def project_id(self) -> str:
        return self.names["project"]

    @property
    def draft_id(self) -> str:
        return self.names["draft"]

    @property
    def review_id(self) -> str:
        return self.names["review"]


@pytest.fixture(scope="module")
def scene(api: Client, worker: object) -> Scene:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    [memory_id] = published(organization.owner, project_id, creates("known.md"))
    [commit] = items(organization.owner.get("/org/commits"))
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    comment = ok(organization.owner.post(f"/reviews/{review['review_id']}/comments", {"body": "x"}), 201)
    return Scene(
        owner=organization.owner,
        reader=organization.owner.with_token(a_token(organization.owner, organization.owner_id, "read")),
        writer=organization.owner.with_token(a_token(organization.owner, organization.owner_id, "write")),
        viewer=a_member(organization, project_id, "viewer").client,
        names={
            "project": project_id,
            "draft": str(a_draft(organization.owner, project_id, creates("b.md"))["draft_id"]),
            "review": str(review["review_id"]),
            "comment": str(comment["comment_id"]),
            "memory": memory_id,
            "commit": str(commit["commit_id"]),
        },
    )


# Method, path, whether viewers know of what it names, and whether it asks for If-Match.
ROUTES = [
    ("PATCH", "/drafts/{draft}", False, True),
    ("POST", "/drafts/{draft}/operations", False, True),
    ("PATCH", "/reviews/{review}", True, True),
    ("POST", "/reviews/{review}/submissions", True, False),
    ("POST", "/reviews/{review}/withdrawals", True, False),
    ("POST", "/reviews/{review}/decisions", True, False),
    ("POST", "/reviews/{review}/merges", True, False),
    ("POST", "/reviews/{review}/comments", True, False),
    ("PATCH", "/reviews/{review}/comments/{comment}", True, False),
    ("PUT", "/projects/{project}/org-selections", True, True),
]

BODIES: dict[str, Json] = {
    "/drafts/{draft}": {"title": "x"},
    "/drafts/{draft}/operations": {"operations": [deletes("mem_unknown")]},
    "/reviews/{review}": {"title": "x"},
    "/projects/{project}/org-selections": {"resource_ids": []},
}


@pytest.mark.parametrize(("method", "path", "is_shared", "is_conditional"), ROUTES)
def test_what_is_wrong_first_is_answered(
    scene: Scene, method: str, path: str, *, is_shared: bool, is_conditional: bool
) -> None:
    here = path.format(**scene.names)
    nowhere = path.format(**dict.fromkeys(scene.names, "xyz_unknown"))

    def ask(client: Client, to: str, content: bytes, headers: dict[str, str]) -> tuple[int, str]:
        answer = client.request(method, to, content=content, headers=headers)
        return answer.status_code, str(answer.json()["code"])

    assert ask(scene.owner.with_token(None), nowhere, TOO_LARGE, NOT_JSON) == (401, "unauthenticated")
    assert ask(scene.reader, nowhere, TOO_LARGE, NOT_JSON) == (404, "not_found")
    assert ask(scene.reader, here, TOO_LARGE, NOT_JSON) == (403, "forbidden")
    hidden = (403, "forbidden") if is_shared else (404, "not_found")
    assert ask(scene.viewer, here, TOO_LARGE, NOT_JSON) == hidden
    assert ask(scene.owner, here, TOO_LARGE, NOT_JSON) == (413, "too_large")
    assert ask(scene.owner, here, b"{", NOT_JSON) == (415, "unsupported_media_type")
    assert ask(scene.owner, here, b"{", AS_JSON) == (400, "invalid_request")
    if is_conditional:
        answer = scene.owner.request(method, here, body=BODIES[path])
        problem(answer, 428, "precondition_required")
        answer = scene.owner.request(method, here, body=BODIES[path], headers={"If-Match": '"99"'})
        problem(answer, 412, "precondition_failed")


READS = [
    "/drafts",
    "/drafts/{draft}",
    "/drafts/{draft}/result",
    "/reviews",
    "/reviews/{review}",
    "/reviews/{review}/mergeability",
    "/reviews/{review}/diff",
    "/reviews/{review}/submissions/1",
    "/reviews/{review}/comments",
    "/org/commit-state",
    "/org/commits",
    "/org/memories",
    "/org/memories/{memory}",
    "/projects/{project}/commit-state",
    "/projects/{project}/commits",
    "/projects/{project}/org-selections",
    "/commits/{commit}",
]


@pytest.mark.parametrize("path", READS)
def test_a_read_asks_for_its_object_then_the_permission_then_the_query(scene: Scene, path: str) -> None:
    here = path.format(**scene.names)
    query = {"no_such": "1"}
    problem(scene.owner.with_token(None).request("GET", here, query=query), 401, "unauthenticated")
    if "{" in path:
        nowhere = path.format(**dict.fromkeys(scene.names, "xyz_unknown"))
        problem(scene.writer.request("GET", nowhere, query=query), 404, "not_found")
    problem(scene.writer.request("GET", here, query=query), 403, "forbidden")
    assert refused_fields(scene.owner.request("GET", here, query=query)) == {("no_such", "unknown")}
    ok(scene.owner.get(here))


def test_a_discard_takes_no_parameters(scene: Scene) -> None:
    refused = scene.owner.request("DELETE", f"/drafts/{scene.draft_id}", query={"force": "1"})
    assert refused_fields(refused) == {("force", "unknown")}


@pytest.mark.parametrize("path", ["/drafts", "/reviews"])
def test_a_project_named_in_the_body_is_found_before_the_body_is_judged(scene: Scene, path: str) -> None:
    invalid: Json = {"project_id": scene.project_id, "title": 1, "no_such": True}
    problem(scene.owner.with_token(None).post(path, invalid), 401, "unauthenticated")
    problem(scene.reader.post(path, {**invalid, "project_id": "prj_unknown"}), 404, "not_found")
    problem(scene.viewer.post(path, invalid), 403, "forbidden")
    problem(scene.reader.post(path, invalid), 403, "forbidden")
    problem(scene.owner.request("POST", path, content=TOO_LARGE, headers=NOT_JSON), 413, "too_large")
    problem(scene.owner.request("POST", path, content=b"{}", headers=NOT_JSON), 415, "unsupported_media_type")
    problem(scene.owner.post(path, invalid), 400, "invalid_request")
    problem(scene.owner.post(path, {**invalid, "project_id": "a\0b"}), 400, "invalid_request")


def test_what_else_a_body_names_is_found_before_it_is_judged(scene: Scene) -> None:
    draft: Json = {"project_id": scene.project_id, "title": 1, "base_commit_id": "0" * 64}
    problem(scene.owner.post("/drafts", draft), 404, "not_found")
    reference: Json = {"draft_id": "drf_unknown", "expected_draft_version": "1"}
    problem(scene.owner.post("/reviews", {"project_id": scene.project_id, "drafts": [reference]}), 404, "not_found")
    problem(scene.owner.post(f"/reviews/{scene.review_id}/submissions", {"drafts": [reference]}), 404, "not_found")
    selection: Json = {"resource_ids": ["mem_unknown", 1]}
    problem(scene.owner.put(f"/projects/{scene.project_id}/org-selections", selection), 404, "not_found")
    problem(scene.viewer.put(f"/projects/{scene.project_id}/org-selections", {"resource_ids": 1}), 403, "forbidden")


def test_a_merges_stale_ref_is_answered_at_once_and_before_anything_of_the_review(api: Client) -> None:
    organization, project_id = a_place(api)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(withdraw(organization.owner, review))
    refused = merge(organization.owner, review, if_match='"ref-other"')
    problem(refused, 412, "precondition_failed")
    assert "location" not in refused.headers
    refused = merge(organization.owner, review, if_match='"ref-none"')
    problem(refused, 409, "review_closed")
    assert "location" in refused.headers


def test_a_closed_review_goes_before_an_archived_project_and_a_stale_version(api: Client) -> None:
    organization, project_id = a_place(api)
    closed = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    ok(withdraw(organization.owner, closed))
    still_open = a_review(organization.owner, a_draft(organization.owner, project_id, creates("b.md")))
    stale: Json = {**still_open, "version": 9}
    problem(decide(organization.owner, stale, "approved"), 409, "version_conflict")
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(merge(organization.owner, closed), 409, "review_closed")
    problem(decide(organization.owner, closed, "approved"), 409, "review_closed")
    problem(withdraw(organization.owner, closed), 409, "review_closed")
    problem(merge(organization.owner, stale), 409, "project_archived")
    problem(decide(organization.owner, stale, "approved"), 409, "project_archived")
    problem(withdraw(organization.owner, stale), 409, "project_archived")


def test_a_drafts_state_goes_before_its_project_and_version(api: Client) -> None:
    organization, project_id = a_place(api)
    gone, in_review, still_open = (a_draft(organization.owner, project_id, creates(f"{n}.md")) for n in "abc")
    ok(organization.owner.delete(f"/drafts/{gone['draft_id']}", version=1))
    a_review(organization.owner, in_review)
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(submit(organization.owner, still_open, in_review, gone), 409, "draft_closed")
    problem(submit(organization.owner, still_open, in_review), 409, "draft_submitted")
    problem(submit(organization.owner, {**still_open, "version": 9}), 409, "project_archived")
    problem(append(organization.owner, {**gone, "version": 2}, deletes("mem_unknown")), 409, "draft_closed")
    problem(append(organization.owner, {**in_review, "version": 2}, deletes("mem_unknown")), 409, "draft_submitted")
    problem(append(organization.owner, still_open, deletes("mem_unknown")), 409, "project_archived")


def test_a_submission_is_stale_before_it_is_empty_and_empty_before_it_is_in_conflict(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    empty = a_draft(organization.owner, project_id)
    behind = a_draft(organization.owner, project_id, updates(known, "mine\n"))
    published(organization.owner, project_id, updates(known, "theirs\n"))
    problem(submit(organization.owner, behind, {**empty, "version": 9}), 409, "version_conflict")
    problem(submit(organization.owner, behind, empty), 422, "draft_empty")
    problem(submit(organization.owner, behind), 409, "reconciliation_required")


def test_an_append_names_syntax_before_targets_and_targets_before_the_selection(api: Client) -> None:
    organization, project_id = a_place(api)
    [elsewhere] = published(organization.owner, a_project(organization.owner), creates("a.md"))
    draft = a_draft(organization.owner, project_id)
    wrong_path, no_target, not_selected = creates("../x"), deletes("mem_unknown"), deletes(elsewhere)
    refused = append(organization.owner, draft, not_selected, no_target, wrong_path)
    assert problem(refused, 422, "operation_invalid")["index"] == 2
    refused = append(organization.owner, draft, not_selected, no_target)
    assert problem(refused, 422, "target_missing")["index"] == 1
    assert problem(append(organization.owner, draft, not_selected), 422, "memory_not_selected")["index"] == 0


def test_a_selection_is_archived_before_stale_duplicates_before_what_is_in_use(api: Client) -> None:
    organization, project_id = a_place(api)
    known, other = published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    a_draft(organization.owner, project_id, deletes(known))
    path = f"/projects/{project_id}/org-selections"
    twice: Json = {"resource_ids": [other, other]}
    problem(organization.owner.put(path, twice, version=1, headers=WAIT), 422, "duplicate_id")
    ok(organization.owner.patch(f"/projects/{project_id}", {"state": "archived"}, version=1))
    problem(organization.owner.put(path, twice, version=1, headers=WAIT), 409, "project_archived")
    problem(organization.owner.put(path, twice, version=0, headers=WAIT), 412, "precondition_failed")


def test_an_approval_that_does_not_cover_the_result_comes_after_everything_about_the_result(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md", "one\n"))
    review = a_review(organization.owner, a_draft(organization.owner, project_id, updates(known, "mine\n")))
    problem(merge(organization.owner, review, expected_result_hash="x"), 409, "approval_invalidated")
    published(organization.owner, project_id, updates(known, "theirs\n"))
    problem(merge(organization.owner, review, expected_result_hash="x"), 409, "reconciliation_required")


def test_a_resubmission_by_somebody_else_is_forbidden_before_its_drafts_are_looked_for(api: Client) -> None:
    organization, project_id = a_place(api)
    author = a_member(organization, project_id).client
    review = a_review(author, a_draft(author, project_id, creates("a.md")))
    other = a_draft(author, project_id, creates("b.md"))
    admin = a_person(organization, "admin").client
    problem(resubmit(admin, review, other), 403, "forbidden")
    body: Json = {"expected_review_version": 1, "drafts": references([other])}
    problem(author.post(f"/reviews/{review['review_id']}/submissions", {**body, "no_such": 1}), 400, "invalid_request")


def a_place(api: Client) -> tuple[Organization, str]:
    organization = an_organization(api)
    return organization, a_project(organization.owner)
