"""Of several problems the first of the contract's list is the answer (publication.md §6).

Each request breaks everything from some point of the list on; the answer names that point.
"""

from dataclasses import dataclass

import pytest

from tests.client import (
    Client,
    Json,
    a_member,
    a_project,
    a_token,
    an_organization,
    items,
    ok,
    problem,
    refused_fields,
)
from tests.imports_over_http import an_import
from tests.proposals import (
    a_draft,
    a_review,
    creates,
    deletes,
    published,
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
            "import": str(an_import(organization.owner, project_id)["import_id"]),
            "comment": str(comment["comment_id"]),
            "memory": memory_id,
            "commit": str(commit["commit_id"]),
        },
    )


# Method, path, whether viewers know of what it names, and whether it asks for If-Match.
ROUTES = [
    ("PATCH", "/drafts/{draft}", False, True),
    ("POST", "/drafts/{draft}/operations", False, True),
    ("POST", "/drafts/{draft}/reconciliation-candidates", False, False),
    ("POST", "/drafts/{draft}/rebases", False, False),
    ("POST", "/imports/{import}/files", False, False),
    ("POST", "/imports/{import}/start", False, False),
    ("POST", "/imports/{import}/start?dry_run=true", False, False),
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
    "/imports",
    "/imports/{import}",
    "/imports/{import}/files",
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


@pytest.mark.parametrize("path", ["/drafts", "/imports", "/reviews"])
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
