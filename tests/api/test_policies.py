"""Policies over HTTP: who sets them, what they refuse, and what path owners may do (publication.md §4, tenancy.md)."""

import httpx
import pytest
from pydantic import JsonValue

from tests.client import Client, Json, Organization, a_member, a_person, an_organization, ok, problem, refused_fields
from tests.proposals import a_draft, a_place, a_review, creates, decide, listed, merge, reread

pytestmark = pytest.mark.usefixtures("worker")

YEARS_10 = 10 * 366 * 24 * 3_600


def policy(organization: Organization, **changed: JsonValue) -> Json:
    """Change policies of an organization; the answer."""
    version = ok(organization.owner.get("/admin/organization"))["version"]
    assert isinstance(version, int)
    return ok(organization.owner.patch("/admin/organization", changed, version=version))


def owned_by(*users: str, glob: str = "docs/**") -> Json:
    return {"glob": glob, "users": [*users]}


def test_policies_are_changed_one_by_one_and_shown(api: Client) -> None:
    organization = an_organization(api)
    user = a_person(organization).user_id
    changes: Json = {
        "required_approvals": 2,
        "allow_self_approval": False,
        "path_owners": [owned_by(user), owned_by(user, glob="*.md")],
        "review_reminder_after": 60,
        "review_expires_after": 3_600,
    }
    for version, (name, value) in enumerate(changes.items(), 2):
        assert (policy(organization, **{name: value})["version"], version) == (version, version)
    shown = ok(organization.owner.get("/admin/organization"))
    assert shown.items() >= changes.items()
    emptied: Json = {"path_owners": [], "review_reminder_after": None, "review_expires_after": None}
    assert policy(organization, **emptied).items() >= emptied.items()
    same = policy(organization, **emptied)
    assert same["version"] == 7


@pytest.mark.parametrize(
    ("body", "field", "rule"),
    [
        ({"required_approvals": -1}, "required_approvals", "too_small"),
        ({"required_approvals": 101}, "required_approvals", "too_large"),
        ({"required_approvals": None}, "required_approvals", "null"),
        ({"required_approvals": "1"}, "required_approvals", "type"),
        ({"allow_self_approval": None}, "allow_self_approval", "null"),
        ({"allow_self_approval": 1}, "allow_self_approval", "type"),
        ({"review_reminder_after": 0}, "review_reminder_after", "too_small"),
        ({"review_expires_after": YEARS_10 + 1}, "review_expires_after", "too_large"),
        ({"path_owners": None}, "path_owners", "null"),
        ({"path_owners": [{"glob": "/a", "users": ["x"]}]}, "path_owners[0].glob", "absolute"),
        ({"path_owners": [{"glob": "a", "users": []}]}, "path_owners[0].users", "too_short"),
        ({"path_owners": [{"glob": "a", "users": ["x", "x"]}]}, "path_owners[0].users", "repeated"),
        ({"path_owners": [{"glob": "a", "users": ["x"]}, {"glob": "A", "users": ["x"]}]}, "path_owners", "repeated"),
        ({"path_owners": [{"glob": "a", "users": ["x"], "x": 1}]}, "path_owners[0].x", "unknown"),
        ({"path_owners": [{"glob": "a", "users": ["x"]}] * 101}, "path_owners", "too_long"),
    ],
)
def test_a_policy_out_of_its_bounds_is_refused(api: Client, body: Json, field: str, rule: str) -> None:
    refused = an_organization(api).owner.patch("/admin/organization", body, version=1)
    assert refused_fields(refused) == {(field, rule)}


def test_a_path_owner_who_is_nobody_here_is_not_found(api: Client) -> None:
    organization, stranger = an_organization(api), a_person(an_organization(api)).user_id
    refused = organization.owner.patch("/admin/organization", {"path_owners": [owned_by(stranger)]}, version=1)
    assert problem(refused, 404, "not_found")["user_id"] == stranger


def test_a_user_who_is_deleted_leaves_the_policy(api: Client) -> None:
    organization = an_organization(api)
    going, staying = a_person(organization).user_id, a_person(organization).user_id
    policy(organization, path_owners=[owned_by(going, staying)])
    assert organization.owner.delete(f"/admin/users/{going}").status_code == 204
    assert ok(organization.owner.get("/admin/organization"))["path_owners"] == [owned_by(staying)]


def test_own_work_is_refused_at_once_and_before_anything_else_is_looked_at(api: Client) -> None:
    organization, project_id = a_place(api)
    policy(organization, allow_self_approval=False)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    path = f"/reviews/{review['review_id']}"
    for refused in (
        organization.owner.post(f"{path}/decisions", {"decision": "approved", "expected_review_version": 9}),
        organization.owner.post(f"{path}/decisions", {"decision": "approved"}),
        organization.owner.post(f"{path}/merges", {"expected_review_version": 9}),
        organization.owner.post(f"{path}/merges", {"unknown": 1}),
    ):
        problem(refused, 403, "self_approval")
    admin = a_person(organization, "admin").client
    approved = ok(decide(admin, review, "approved"))
    assert ok(merge(organization.owner, approved))["already_published"] is False


def test_approvals_that_are_missing_are_counted(api: Client) -> None:
    organization, project_id = a_place(api)
    policy(organization, required_approvals=2)
    review = a_review(organization.owner, a_draft(organization.owner, project_id, creates("a.md")))
    refused = problem(merge(organization.owner, review), 409, "approvals_missing")
    assert (refused["required"], refused["given"]) == (2, 1)
    mergeability = ok(organization.owner.get(f"/reviews/{review['review_id']}/mergeability"))
    (blocker,) = listed(mergeability, "blockers")
    assert (blocker["code"], blocker["required"], blocker["given"]) == ("approvals_missing", 2, 0)


def test_a_path_owner_finds_reads_and_approves_the_review_and_nothing_else(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = a_person(organization)
    policy(organization, path_owners=[owned_by(owner.user_id)])
    author = a_member(organization, project_id).client
    review = a_review(author, a_draft(author, project_id, creates("docs/a.md")))
    hidden = a_review(author, a_draft(author, project_id, creates("x/a.md")))
    path = f"/reviews/{review['review_id']}"
    assert [item["review_id"] for item in listed(ok(owner.client.get("/reviews")), "items")] == [review["review_id"]]
    for readable in ("", "/diff", "/mergeability", "/submissions/1", "/comments"):
        ok(owner.client.get(f"{path}{readable}"))
        problem(owner.client.get(f"/reviews/{hidden['review_id']}{readable}"), 404, "not_found")
    problem(owner.client.get(f"/projects/{project_id}"), 404, "not_found")
    refusals: list[httpx.Response] = [
        decide(owner.client, review, "rejected"),
        merge(owner.client, review),
        owner.client.post(f"{path}/comments", {"body": "x"}),
        owner.client.post(f"{path}/withdrawals", {"expected_review_version": 1}),
        owner.client.patch(path, {"title": "x"}, version=1),
    ]
    for refused in refusals:
        problem(refused, 403, "forbidden")
    problem(decide(owner.client, hidden, "approved"), 404, "not_found")
    missing = problem(merge(organization.owner, review), 409, "approvals_missing")
    assert missing["globs"] == ["docs/**"]
    approved = ok(decide(owner.client, review, "approved"))
    assert approved["status"] == "approved"
    ok(merge(organization.owner, approved))
    assert reread(owner.client, review)["status"] == "merged"
