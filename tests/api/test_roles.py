"""Who may do what, as a table (publication.md §7)."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest

from tests.client import Client, Json, Organization, a_member, a_person, a_project, an_organization, ok, problem
from tests.imports_over_http import a_file, an_import, path_of
from tests.proposals import WAIT, a_draft, a_review, creates, published, references, submit

pytestmark = pytest.mark.usefixtures("worker")

PEOPLE = ("owner", "admin", "project_admin", "member", "viewer", "outsider")


@dataclass
class Scene:
    """A project with a published Memory, a Review of its author, an open Draft of the author, and everybody."""

    organization: Organization
    project_id: str
    memory_id: str
    people: dict[str, Client]
    review: Json
    comment: Json
    draft: Json
    import_path: str

    @property
    def review_path(self) -> str:
        return f"/reviews/{self.review['review_id']}"


Act = Callable[[Scene, Client], httpx.Response]


@pytest.fixture(scope="module")
def scene(api: Client, worker: object) -> Scene:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    [memory_id] = published(organization.owner, project_id, creates("known.md"))
    author = a_member(organization, project_id).client
    review = a_review(author, a_draft(author, project_id, creates("a.md")))
    comment = ok(author.post(f"/reviews/{review['review_id']}/comments", {"body": "x"}), 201)
    people = {
        "owner": organization.owner,
        "admin": a_person(organization, "admin").client,
        "project_admin": a_member(organization, project_id, "admin").client,
        "member": a_member(organization, project_id).client,
        "viewer": a_member(organization, project_id, "viewer").client,
        "outsider": a_person(organization).client,
        "author": author,
    }
    draft = a_draft(author, project_id, creates("b.md"))
    import_path = path_of(an_import(author, project_id))
    return Scene(organization, project_id, memory_id, people, review, comment, draft, import_path)


def proposes(scene: Scene, client: Client) -> httpx.Response:
    return client.post("/drafts", {"project_id": scene.project_id})


def opens_an_import(scene: Scene, client: Client) -> httpx.Response:
    return client.post("/imports", {"project_id": scene.project_id})


def stages(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.import_path}/files", {"files": [a_file("a.md")]})


def tries(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.import_path}/start?dry_run=true", {})


def submits(scene: Scene, client: Client) -> httpx.Response:
    return client.post("/reviews", {"project_id": scene.project_id, "title": "T", "drafts": []})


def selects(scene: Scene, client: Client) -> httpx.Response:
    body: Json = {"resource_ids": [scene.memory_id]}
    return client.put(f"/projects/{scene.project_id}/org-selections", body, version=1, headers=WAIT)


def comments(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.review_path}/comments", {"body": "x"})


def resolves(scene: Scene, client: Client) -> httpx.Response:
    return client.patch(f"{scene.review_path}/comments/{scene.comment['comment_id']}", {"resolved": True})


def resubmits(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.review_path}/submissions", {"expected_review_version": 0, "drafts": []})


def withdraws(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.review_path}/withdrawals", {"expected_review_version": 0}, headers=WAIT)


def approves(scene: Scene, client: Client) -> httpx.Response:
    body: Json = {"decision": "approved", "expected_review_version": 0}
    return client.post(f"{scene.review_path}/decisions", body, headers=WAIT)


def rejects(scene: Scene, client: Client) -> httpx.Response:
    body: Json = {"decision": "rejected", "expected_review_version": 0}
    return client.post(f"{scene.review_path}/decisions", body, headers=WAIT)


def merges(scene: Scene, client: Client) -> httpx.Response:
    return client.post(f"{scene.review_path}/merges", {"expected_review_version": 0}, headers=WAIT)


def retitles(scene: Scene, client: Client) -> httpx.Response:
    return client.patch(scene.review_path, {"title": "A Review"}, version=1)


def edits(scene: Scene, client: Client) -> httpx.Response:
    return client.patch(f"/drafts/{scene.draft['draft_id']}", {"title": "x"}, version=9)


def discards(scene: Scene, client: Client) -> httpx.Response:
    return client.delete(f"/drafts/{scene.draft['draft_id']}", version=9)


def reads(path: str) -> Act:
    def act(scene: Scene, client: Client) -> httpx.Response:
        names = {"project": scene.project_id, "review": scene.review["review_id"], "memory": scene.memory_id}
        return client.get(path.format(**names))

    act.__name__ = f"reads {path}"
    return act


# For each act: the status of each person of PEOPLE, and its author's. Commands name a version that is never the
# present one, so that whoever may give them gets 409 or 412, and nothing changes.
TABLE: list[tuple[Act, tuple[int, ...], int]] = [
    (proposes, (201, 201, 201, 201, 403, 404), 201),
    (opens_an_import, (201, 201, 201, 201, 403, 404), 201),
    (stages, (404, 404, 404, 404, 404, 404), 200),
    (tries, (404, 404, 404, 404, 404, 404), 200),
    (submits, (400, 400, 400, 400, 403, 404), 400),
    (selects, (200, 200, 200, 403, 403, 404), 403),
    (comments, (201, 201, 201, 201, 403, 404), 201),
    (resolves, (200, 200, 200, 200, 403, 404), 200),
    (resubmits, (403, 403, 403, 403, 403, 404), 400),
    (withdraws, (409, 409, 403, 403, 403, 404), 409),
    (approves, (409, 409, 403, 403, 403, 404), 403),
    (rejects, (409, 409, 403, 403, 403, 404), 403),
    (merges, (409, 409, 403, 403, 403, 404), 403),
    (retitles, (200, 200, 403, 403, 403, 404), 200),
    (edits, (404, 404, 404, 404, 404, 404), 412),
    (discards, (412, 412, 404, 404, 404, 404), 412),
    (reads("/projects/{project}/commit-state"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/projects/{project}/commits"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/projects/{project}/org-selections"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/reviews/{review}"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/reviews/{review}/mergeability"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/reviews/{review}/diff"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/reviews/{review}/submissions/1"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/reviews/{review}/comments"), (200, 200, 200, 200, 200, 404), 200),
    (reads("/org/memories"), (200, 200, 200, 200, 200, 200), 200),
    (reads("/org/memories/{memory}"), (200, 200, 200, 200, 200, 200), 200),
    (reads("/org/commits"), (200, 200, 200, 200, 200, 200), 200),
    (reads("/org/commit-state"), (200, 200, 200, 200, 200, 200), 200),
]


@pytest.mark.parametrize(("act", "statuses", "of_author"), TABLE, ids=[row[0].__name__ for row in TABLE])
def test_everybody_may_do_what_the_contract_says(
    scene: Scene, act: Act, statuses: tuple[int, ...], of_author: int
) -> None:
    expected = dict(zip((*PEOPLE, "author"), (*statuses, of_author), strict=True))
    assert {name: act(scene, scene.people[name]).status_code for name in expected} == expected


def test_another_organization_sees_nothing(api: Client, scene: Scene) -> None:
    stranger = an_organization(api).owner
    for act, _, _ in TABLE:
        if act.__name__.startswith("reads /org"):
            continue
        problem(act(scene, stranger), 404, "not_found")


def test_an_author_who_became_a_viewer_proposes_nothing_more(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_member(organization, project_id)
    draft = a_draft(person.client, project_id, creates("a.md"))
    review = a_review(person.client, draft)
    other = a_draft(person.client, project_id, creates("b.md"))
    ok(organization.owner.patch(f"/projects/{project_id}/members/{person.user_id}", {"role": "viewer"}))
    problem(submit(person.client, other), 403, "forbidden")
    problem(person.client.delete(f"/drafts/{other['draft_id']}", version=1), 403, "forbidden")
    path = f"/reviews/{review['review_id']}/submissions"
    body: Json = {"expected_review_version": 1, "drafts": references([other])}
    problem(person.client.post(path, body), 403, "forbidden")
    assert ok(person.client.get(f"/drafts/{other['draft_id']}"))["status"] == "open"
