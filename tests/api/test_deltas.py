"""Deltas: any two versions of one chain, in either direction (publication.md §5)."""

import itertools

import pytest

from tests.client import Client, a_member, a_person, a_project, an_organization, items, ok, problem, refused_fields
from tests.deltas import commit_id, delta, require_exact, snapshots
from tests.proposals import a_place, creates, deletes, inside, listed, published, renames, select, texts, updates

pytestmark = pytest.mark.usefixtures("worker")


def test_applied_to_any_version_of_its_chain_a_delta_gives_exactly_the_other(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    other = a_project(owner)
    one, two, three = published(owner, project_id, creates("a.md", "1\n", "A"), creates("b.md", "2\n"), creates("c.md"))
    ok(select(owner, other, [one, three]))
    published(owner, project_id, renames(one, "b.md"), renames(two, "a.md"), updates(three, description="Three"))
    published(owner, project_id, deletes(two), creates("d.md", "2\n"))
    published(owner, project_id, renames(one, "a.md"), updates(three, description=""))
    ok(select(owner, other, [one]))
    ok(select(owner, other, []))
    for chain, versions in (("/org", 4), (f"/projects/{project_id}", 4), (f"/projects/{other}", 5)):
        found = snapshots(owner, f"{chain}/commits")
        assert len(found) == versions
        for base, target in itertools.product(found, found):
            require_exact(base, target, delta(owner, commit_id(base), commit_id(target)))


def test_a_delta_has_exactly_what_the_contract_names_and_only_what_differs(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    edited, gone, moved, _ = published(owner, project_id, *(creates(f"{name}.md", f"{name}\n") for name in "abcd"))
    published(owner, project_id, updates(edited, "new\n"), deletes(gone), renames(moved, "z.md"))
    base, target = snapshots(owner, "/org/commits")
    given = delta(owner, commit_id(base), commit_id(target))
    assert set(given) == {
        "base",
        "target",
        "commit",
        "tree_id",
        "upserted",
        "removed",
        "blobs",
        "project_org_selection",
    }
    assert (given["base"], given["target"]) == (commit_id(base), commit_id(target))
    assert (given["commit"], given["tree_id"]) == (target["commit"], inside(target, "tree")["tree_id"])
    entries = {entry["id"]: entry for entry in listed(inside(target, "tree"), "entries")}
    assert given["upserted"] == [entries[each] for each in sorted((edited, moved))]
    assert (texts(given, "removed"), given["project_org_selection"]) == ([gone], None)
    assert [blob["content"] for blob in listed(given, "blobs")] == ["new\n"]


def test_a_text_that_the_base_has_under_another_id_is_not_sent(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    published(owner, project_id, creates("a.md", "same\n"))
    published(owner, project_id, creates("b.md", "same\n"), creates("c.md", "new\n"), creates("d.md", "new\n"))
    for chain in ("/org", f"/projects/{project_id}"):
        base, target = snapshots(owner, f"{chain}/commits")
        contents = [str(blob["content"]) for blob in listed(delta(owner, commit_id(base), commit_id(target)), "blobs")]
        assert [each for each in contents if not each.startswith("[")] == ["new\n"]


def test_of_another_memory_with_a_text_that_the_base_has_only_the_entry_is_sent(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    one, two = published(owner, project_id, creates("a.md", "same\n"), creates("b.md", "same\n"))
    other = a_project(owner)
    ok(select(owner, other, [one]))
    ok(select(owner, other, [two]))
    first, second = snapshots(owner, f"/projects/{other}/commits")[-2:]
    given = delta(owner, commit_id(first), commit_id(second))
    assert [entry["id"] for entry in listed(given, "upserted")] == [two, "project_org_selection"]
    assert [blob["content"] for blob in listed(given, "blobs")] == [f'["{two}"]']


def test_what_was_changed_and_changed_back_is_not_in_it(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md", "one\n"))
    published(owner, project_id, updates(known, "two\n"))
    [passing] = published(owner, project_id, updates(known, "one\n"), creates("passing.md"))
    published(owner, project_id, deletes(passing))
    first, *_, last = snapshots(owner, "/org/commits")
    given = delta(owner, commit_id(first), commit_id(last))
    assert (given["upserted"], given["removed"], given["blobs"]) == ([], [], [])


def test_a_delta_may_be_cached_for_ever_and_is_not_sent_again(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md"))
    published(owner, project_id, updates(known, "new\n"))
    new, old = (str(commit["commit_id"]) for commit in items(owner.get("/org/commits")))
    answer = owner.get(f"/commits/{new}/delta", base=old)
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"
    known_tag = {"If-None-Match": answer.headers["etag"]}
    unchanged = owner.get(f"/commits/{new}/delta", base=old, headers=known_tag)
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["cache-control"] == answer.headers["cache-control"]
    assert owner.get(f"/commits/{old}/delta", base=new, headers=known_tag).status_code == 200
    assert owner.get(f"/commits/{new}", headers=known_tag).status_code == 200


def test_a_state_leads_from_what_the_client_has_to_what_is_current(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md"))
    old = {chain: snapshots(owner, f"{chain}/commits")[0] for chain in ("/org", f"/projects/{project_id}")}
    published(owner, project_id, updates(known, "new\n"))
    for chain, base in old.items():
        state = ok(owner.get(f"{chain}/commit-state", local_commit_id=commit_id(base)))
        head = str(inside(state, "ref")["commit_id"])
        assert (state["incremental_supported"], state["update_available"]) == (True, True)
        assert state["download_url"] == f"/v1/api/commits/{head}/delta?base={commit_id(base)}"
        require_exact(base, snapshots(owner, f"{chain}/commits")[-1], ok(owner.get(str(state["download_url"]))))
        for foreign in ("0" * 64, *(commit_id(each) for each in old.values() if each is not base)):
            whole = ok(owner.get(f"{chain}/commit-state", local_commit_id=foreign))
            assert whole["download_url"] == f"/v1/api/commits/{head}"
        assert ok(owner.get(f"{chain}/commit-state", local_commit_id=head))["download_url"] is None


def test_two_chains_have_no_delta(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    [known] = published(owner, project_id, creates("a.md"))
    other = a_project(owner)
    ok(select(owner, other, [known]))
    chains = ("/org/commits", f"/projects/{project_id}/commits", f"/projects/{other}/commits")
    heads = [str(items(owner.get(chain))[0]["commit_id"]) for chain in chains]
    for base, target in itertools.permutations(heads, 2):
        assert refused_fields(owner.get(f"/commits/{target}/delta", base=base)) == {("base", "other_chain")}


def test_commits_that_are_unknown_or_hidden_are_not_found_on_either_side(api: Client) -> None:
    organization, project_id = a_place(api)
    owner = organization.owner
    published(owner, project_id, creates("a.md"))
    org = str(items(owner.get("/org/commits"))[0]["commit_id"])
    project = str(items(owner.get(f"/projects/{project_id}/commits"))[0]["commit_id"])
    foreign, elsewhere = a_place(api)
    published(foreign.owner, elsewhere, creates("a.md"))
    strange = str(items(foreign.owner.get("/org/commits"))[0]["commit_id"])
    member = a_person(organization).client
    for unknown in ("0" * 64, strange, project):
        problem(member.get(f"/commits/{unknown}/delta", base=org), 404, "not_found")
        problem(member.get(f"/commits/{org}/delta", base=unknown), 404, "not_found")
        problem(member.get(f"/commits/{org}/delta", base=unknown, more="x"), 404, "not_found")
    ok(a_member(organization, project_id, "viewer").client.get(f"/commits/{project}/delta", base=project))
    ok(member.get(f"/commits/{org}/delta", base=org))
    problem(an_organization(api).owner.get(f"/commits/{org}/delta", base=org), 404, "not_found")


def test_a_delta_names_its_base_once(api: Client) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, project_id, creates("a.md"))
    target = items(organization.owner.get("/org/commits"))[0]["commit_id"]
    path = f"/commits/{target}/delta"
    assert refused_fields(organization.owner.get(path)) == {("base", "missing")}
    assert refused_fields(organization.owner.get(path, base="")) == {("base", "too_short")}
    assert refused_fields(organization.owner.get(f"{path}?base={target}&base={target}")) == {("base", "repeated")}
