"""Commit states, chains and snapshots (publication.md §5)."""

import base64
import json

import pytest

from tests.client import Client, a_member, a_person, a_project, an_organization, items, ok, problem
from tests.proposals import a_place, all_items, creates, deletes, inside, listed, published, select, updates

pytestmark = pytest.mark.usefixtures("worker")


def test_an_empty_chain_has_no_commit_and_nothing_to_download(api: Client) -> None:
    organization, project_id = a_place(api)
    for path in ("/org/commit-state", f"/projects/{project_id}/commit-state"):
        answer = organization.owner.get(path)
        state = ok(answer)
        assert answer.headers["etag"] == '"ref-none"'
        assert state == {
            "ref": {"name": "refs/heads/main", "commit_id": None, "updated_at": inside(state, "ref")["updated_at"]},
            "latest": None,
            "update_available": False,
            "download_url": None,
            "incremental_supported": True,
        }
        assert organization.owner.get(path, headers={"If-None-Match": '"ref-none"'}).status_code == 304


def test_a_state_tells_whether_the_callers_copy_is_behind(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"), title="First")
    for path in ("/org/commit-state", f"/projects/{project_id}/commit-state"):
        answer = organization.owner.get(path)
        state = ok(answer)
        commit_id = inside(state, "ref")["commit_id"]
        assert answer.headers["etag"] == f'"{commit_id}"'
        assert (state["update_available"], state["download_url"]) == (True, f"/v1/api/commits/{commit_id}")
        assert (inside(state, "latest")["commit_id"], inside(state, "latest")["message"]) == (commit_id, "First")
        installed = ok(organization.owner.get(path, local_commit_id=str(commit_id)))
        assert (installed["update_available"], installed["download_url"]) == (False, None)
        behind = ok(organization.owner.get(path, local_commit_id="0" * 64))
        assert (behind["update_available"], behind["download_url"]) == (True, state["download_url"])


def test_an_unchanged_state_is_not_sent_again(api: Client) -> None:
    organization, project_id = a_place(api)
    [known] = published(organization.owner, project_id, creates("a.md"))
    tag = organization.owner.get("/org/commit-state").headers["etag"]
    for given in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        unchanged = organization.owner.get("/org/commit-state", headers={"If-None-Match": given})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
    published(organization.owner, project_id, updates(known, "new\n"))
    assert organization.owner.get("/org/commit-state", headers={"If-None-Match": tag}).status_code == 200


def test_a_commit_has_exactly_the_fields_of_its_id(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"), title="First")
    [review] = items(organization.owner.get("/reviews"))
    [org] = items(organization.owner.get("/org/commits"))
    [project] = items(organization.owner.get(f"/projects/{project_id}/commits"))
    shared = {
        "org_id": organization.organization_id,
        "version": 1,
        "parent_commit_id": None,
        "message": "First",
        "review_id": review["review_id"],
        "created_by": organization.owner_id,
        "created_at": org["created_at"],
    }
    assert org == {
        **shared,
        "commit_id": org["commit_id"],
        "scope": "org",
        "project_id": None,
        "tree_id": org["tree_id"],
        "org_commit_id": None,
        "selection_revision": None,
    }
    assert project == {
        **shared,
        "commit_id": project["commit_id"],
        "scope": "project",
        "project_id": project_id,
        "tree_id": project["tree_id"],
        "org_commit_id": org["commit_id"],
        "selection_revision": 1,
    }


def test_chains_are_listed_newest_first(api: Client) -> None:
    organization, project_id = a_place(api)
    for number in range(5):
        published(organization.owner, project_id, creates(f"{number}.md"))
    for path in ("/org/commits", f"/projects/{project_id}/commits"):
        versions = [commit["version"] for commit in all_items(organization.owner, path, limit=2)]
        assert versions == [5, 4, 3, 2, 1]


def test_a_snapshot_is_complete_and_cacheable_for_ever(api: Client) -> None:
    organization, project_id = a_place(api)
    one, two, twin = published(
        organization.owner,
        project_id,
        creates("a.md", "one\n", "About"),
        creates("b.md", "two\n"),
        creates("c.md", "one\n"),
    )
    [commit] = items(organization.owner.get("/org/commits"))
    answer = organization.owner.get(f"/commits/{commit['commit_id']}")
    snapshot = ok(answer)
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["etag"] == f'"{commit["commit_id"]}"'
    assert (snapshot["commit"], inside(snapshot, "tree")["tree_id"]) == (commit, commit["tree_id"])
    assert snapshot["project_org_selection"] is None
    texts = {blob["blob_id"]: blob["content"] for blob in listed(snapshot, "blobs")}
    assert sorted(str(text) for text in texts.values()) == ["one\n", "two\n"]
    entries = listed(inside(snapshot, "tree"), "entries")
    assert [(entry["id"], texts[entry["blob_id"]]) for entry in entries] == sorted(
        [(one, "one\n"), (two, "two\n"), (twin, "one\n")]
    )
    [first] = [entry for entry in entries if entry["id"] == one]
    assert first == {
        "id": one,
        "type": "memory",
        "source": "org",
        "path": "a.md",
        "description": "About",
        "blob_id": first["blob_id"],
    }
    known = {"If-None-Match": answer.headers["etag"]}
    assert organization.owner.get(f"/commits/{commit['commit_id']}", headers=known).status_code == 304


def test_a_project_snapshot_holds_its_selection_as_an_entry(api: Client) -> None:
    organization, project_id = a_place(api)
    _, two = published(organization.owner, project_id, creates("a.md"), creates("b.md"))
    other = a_project(organization.owner)
    ok(select(organization.owner, other, [two]))
    state = ok(organization.owner.get(f"/projects/{other}/commit-state"))
    snapshot = ok(organization.owner.get(str(state["download_url"])))
    entries = listed(inside(snapshot, "tree"), "entries")
    assert [(entry["id"], entry["type"], entry["source"], entry["path"]) for entry in entries] == [
        (two, "memory", "selected_org", "b.md"),
        ("project_org_selection", "project_org_selection", "config", None),
    ]
    texts = {blob["blob_id"]: blob["content"] for blob in listed(snapshot, "blobs")}
    assert texts[entries[1]["blob_id"]] == f'["{two}"]'
    assert snapshot["project_org_selection"] == {"revision": 1, "resource_ids": [two]}


def test_a_past_snapshot_stays_as_it_was(api: Client) -> None:
    organization, project_id = a_place(api)
    known, gone = published(organization.owner, project_id, creates("a.md", "one\n"), creates("gone.md"))
    urls = [
        str(ok(organization.owner.get(path))["download_url"])
        for path in ("/org/commit-state", f"/projects/{project_id}/commit-state")
    ]
    before = [organization.owner.get(url).content for url in urls]
    published(organization.owner, project_id, updates(known, "two\n"), deletes(gone))
    assert [organization.owner.get(url).content for url in urls] == before


def test_an_empty_tree_is_a_snapshot_too(api: Client) -> None:
    organization, project_id = a_place(api)
    [gone] = published(organization.owner, project_id, creates("gone.md"))
    published(organization.owner, project_id, deletes(gone))
    state = ok(organization.owner.get("/org/commit-state"))
    snapshot = ok(organization.owner.get(str(state["download_url"])))
    assert (inside(snapshot, "tree")["entries"], snapshot["blobs"]) == ([], [])


def test_organization_commits_are_every_members_and_project_commits_its_members(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    org = ok(organization.owner.get("/org/commit-state"))["download_url"]
    project = ok(organization.owner.get(f"/projects/{project_id}/commit-state"))["download_url"]
    member, viewer = a_person(organization).client, a_member(organization, project_id, "viewer").client
    ok(member.get(str(org)))
    ok(viewer.get(str(project)))
    problem(member.get(str(project)), 404, "not_found")
    problem(member.get(f"/projects/{project_id}/commit-state"), 404, "not_found")
    problem(member.get(f"/projects/{project_id}/commits"), 404, "not_found")
    stranger = an_organization(api).owner
    for url in (org, project, "/commits/" + "0" * 64):
        problem(stranger.get(str(url)), 404, "not_found")


def test_a_forged_cursor_is_malformed(api: Client) -> None:
    organization, project_id = a_place(api)
    for number in range(2):
        published(organization.owner, project_id, creates(f"{number}.md"))
    cursor = str(ok(organization.owner.get("/org/commits", limit=1))["next_cursor"])
    problem(organization.owner.get(f"/projects/{project_id}/commits", cursor=cursor), 400, "invalid_request")
    fingerprint, _ = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    for version in ("x", "-1", "9" * 40, "\u0661"):
        forged = base64.urlsafe_b64encode(json.dumps([fingerprint, version]).encode()).decode().rstrip("=")
        problem(organization.owner.get("/org/commits", cursor=forged), 400, "invalid_request")
