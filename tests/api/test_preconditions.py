"""If-Match names the version that was read (publication.md §6)."""

import pytest

from tests.client import Client, a_person, a_project, an_organization, ok, problem, refused_fields


def test_objects_with_a_version_answer_with_their_entity_tag(api: Client) -> None:
    organization = an_organization(api)
    project_id = a_project(organization.owner)
    person = a_person(organization)
    paths = ["/admin/organization", f"/projects/{project_id}", f"/admin/users/{person.user_id}"]
    assert [organization.owner.get(path).headers["etag"] for path in paths] == ['"1"', '"1"', '"1"']


def test_a_change_answers_with_the_next_entity_tag(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    changed = owner.patch(f"/projects/{project_id}", {"description": "d"}, version=1)
    assert (ok(changed)["version"], changed.headers["etag"]) == (2, '"2"')


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_missing_precondition_is_required(api: Client, method: str) -> None:
    owner = an_organization(api).owner
    body = {"name": "x"} if method == "PATCH" else None
    problem(owner.request(method, f"/projects/{a_project(owner)}", body=body), 428, "precondition_required")


def test_the_organization_asks_for_it_too(api: Client) -> None:
    problem(an_organization(api).owner.patch("/admin/organization", {"name": "x"}), 428, "precondition_required")


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_stale_precondition_fails_with_both_versions(api: Client, method: str) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    ok(owner.patch(f"/projects/{project_id}", {"description": "d"}, version=1))
    body = {"name": "x"} if method == "PATCH" else None
    refused = owner.request(method, f"/projects/{project_id}", body=body, headers={"If-Match": '"1"'})
    document = problem(refused, 412, "precondition_failed")
    assert (document["expected"], document["actual"]) == (1, 2)
    assert document["detail"] == "The project has changed since you read it."


@pytest.mark.parametrize("tag", ["1", "*", 'W/"1"', '"1', '"1", "2"', '""', '"one"', '"01"', '"-1"', '"1.0"', "'1'"])
def test_a_precondition_that_is_no_version_is_invalid(api: Client, tag: str) -> None:
    owner = an_organization(api).owner
    refused = owner.patch(f"/projects/{a_project(owner)}", {"name": "x"}, headers={"If-Match": tag})
    assert refused_fields(refused) == {("If-Match", "entity_tag")}


def test_users_are_changed_without_a_precondition_but_a_given_one_is_compared(api: Client) -> None:
    organization = an_organization(api)
    path = f"/admin/users/{a_person(organization).user_id}"
    ok(organization.owner.patch(path, {"name": "A"}))
    problem(organization.owner.patch(path, {"name": "B"}, version=1), 412, "precondition_failed")
    problem(organization.owner.delete(path, version=1), 412, "precondition_failed")
    ok(organization.owner.patch(path, {"name": "B"}, version=2))


def test_of_two_changes_of_one_version_one_is_made(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    ok(owner.patch(f"/projects/{project_id}", {"name": "First"}, version=1))
    problem(owner.patch(f"/projects/{project_id}", {"name": "Second"}, version=1), 412, "precondition_failed")
    assert ok(owner.get(f"/projects/{project_id}"))["name"] == "First"


def test_a_change_of_nothing_keeps_the_version(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner, "Same")
    assert ok(owner.patch(f"/projects/{project_id}", {"name": "Same"}, version=1))["version"] == 1
    assert ok(owner.patch(f"/projects/{project_id}", {}, version=1))["version"] == 1
