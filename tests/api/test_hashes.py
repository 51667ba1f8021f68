"""Every id of a snapshot is recomputed by the code that the documentation gives to clients (publication.md §5)."""

import copy

import pytest

from tests.client import Client, Json, a_project, an_organization, items, ok
from tests.hash_reference import verify
from tests.proposals import creates, deletes, inside, listed, published, renames, select, updates

pytestmark = pytest.mark.usefixtures("worker")

TEXT = '# \u00dcber \u4e16\u754c \U0001f600\n\tquotes " and \\ and \u2028 and \x7f\n'


def a_history(owner: Client) -> list[str]:
    """An organization's and its two projects' every commit: creates, edits, renames, deletions, selections."""
    project_id, other = a_project(owner), a_project(owner)
    one, two, three = published(
        owner, project_id, creates("\u00e4/a.md", TEXT, "\u00dcber \u201ealles\u201c"), creates("b.md"), creates("c.md")
    )
    ok(select(owner, other, [one, three]))
    published(owner, project_id, updates(one, "shorter\n"), renames(two, "c.md"), renames(three, "b.md"))
    published(owner, project_id, deletes(three), *(creates(f"many/{number}.md", f"{number}\n") for number in range(60)))
    ok(select(owner, other, []))
    paths = ["/org/commits", f"/projects/{project_id}/commits", f"/projects/{other}/commits"]
    return [str(commit["commit_id"]) for path in paths for commit in items(owner.get(path))]


def test_current_and_past_snapshots_of_every_chain_verify(api: Client) -> None:
    owner = an_organization(api).owner
    commit_ids = a_history(owner)
    assert len(commit_ids) == 3 + 3 + 4
    for commit_id in commit_ids:
        verify(ok(owner.get(f"/commits/{commit_id}")))


def test_a_changed_byte_anywhere_is_noticed(api: Client) -> None:
    owner = an_organization(api).owner
    project_id = a_project(owner)
    published(owner, project_id, creates("a.md", TEXT, "About"))
    state = ok(owner.get(f"/projects/{project_id}/commit-state"))
    snapshot = ok(owner.get(str(state["download_url"])))
    verify(snapshot)
    for change in (_another_text, _another_path, _another_description, _another_author, _another_selection):
        changed = copy.deepcopy(snapshot)
        change(changed)
        with pytest.raises((ValueError, KeyError)):
            verify(changed)


def test_equal_selections_over_equal_content_give_one_tree(api: Client) -> None:
    owner = an_organization(api).owner
    project_id, other = a_project(owner), a_project(owner)
    made = published(owner, project_id, creates("a.md"), creates("b.md"))
    ok(select(owner, other, made[:1]))
    ok(select(owner, other, made))
    trees = {
        inside(ok(owner.get(f"/projects/{project}/commit-state")), "latest")["tree_id"]
        for project in (project_id, other)
    }
    assert len(trees) == 1


def _another_text(snapshot: Json) -> None:
    blob = listed(snapshot, "blobs")[0]
    blob["content"] = str(blob["content"]) + "x"


def _another_path(snapshot: Json) -> None:
    listed(inside(snapshot, "tree"), "entries")[0]["path"] = "A.md"


def _another_description(snapshot: Json) -> None:
    listed(inside(snapshot, "tree"), "entries")[0]["description"] = "about"


def _another_author(snapshot: Json) -> None:
    inside(snapshot, "commit")["created_by"] = "usr_somebody"


def _another_selection(snapshot: Json) -> None:
    inside(snapshot, "project_org_selection")["resource_ids"] = []
