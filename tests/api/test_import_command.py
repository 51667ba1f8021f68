"""`canonry import` against a server that it knows by URL and token (docs/how-to/import-a-folder.md)."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dulwich.repo import Repo

from tests.client import Client, Json, Organization, a_member, a_project, an_organization, items, ok
from tests.import_command import a_folder, import_folder, one_sentence, run_as
from tests.proposals import a_draft, a_place, all_items, decide, listed, published, reread, resubmit
from tests.up import run

pytestmark = pytest.mark.usefixtures("worker")

NOTES = {"deploy.md": "# Deploy\n\nTag it.\n", "runbooks/rollback.md": "---\ndescription: How back\n---\n# Roll back\n"}


def memories(client: Client) -> dict[str, Json]:
    """The published Memories by path."""
    return {str(memory["path"]): memory for memory in all_items(client, "/org/memories", limit=200)}


def body_of(client: Client, memory: Json) -> str:
    return str(ok(client.get(f"/org/memories/{memory['memory_id']}"))["content"])


def review_of(client: Client, done: subprocess.CompletedProcess[str]) -> Json:
    found = re.search(r"^Review (rev_\w+) is (\w+)", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout
    review = ok(client.get(f"/reviews/{found[1]}"))
    assert review["status"] == found[2]
    return review


def reviews(client: Client) -> list[Json]:
    return items(client.get("/reviews"))


def imports(client: Client) -> list[Json]:
    return items(client.get("/imports"))


@pytest.fixture
def organization(api: Client) -> Organization:
    """An organization whose owner has one project."""
    return a_place(api)[0]


def test_a_folder_becomes_one_open_review_that_the_last_lines_name(organization: Organization, tmp_path: Path) -> None:
    done = import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES))

    review = review_of(organization.owner, done)
    assert (review["status"], review["title"]) == ("open", "Import notes")
    assert "2 created" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: ")
    assert memories(organization.owner) == {}


def test_merge_publishes_paths_bodies_and_descriptions(organization: Organization, tmp_path: Path) -> None:
    done = import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES), "--merge")

    assert review_of(organization.owner, done)["status"] == "merged"
    found = memories(organization.owner)
    assert {path: memory["description"] for path, memory in found.items()} == {
        "deploy.md": "Deploy",
        "runbooks/rollback.md": "How back",
    }
    assert body_of(organization.owner, found["runbooks/rollback.md"]) == "# Roll back\n"


def test_a_prefix_is_put_before_every_path(organization: Organization, tmp_path: Path) -> None:
    import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES), "--prefix", "ops/", "--merge")

    assert [*memories(organization.owner)] == ["ops/deploy.md", "ops/runbooks/rollback.md"]


def test_the_same_folder_again_has_nothing_to_review(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    import_folder(organization.owner, folder, "--merge")

    done = import_folder(organization.owner, folder, "--merge")

    assert "2 unchanged" in done.stdout
    assert "nothing to review" in done.stdout
    assert len(reviews(organization.owner)) == 1


def test_the_same_command_again_goes_on_with_the_review_that_is_open(
    organization: Organization, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(organization.owner, import_folder(organization.owner, folder))

    again = import_folder(organization.owner, folder, "--approve")
    approved = review_of(organization.owner, again)
    merged = review_of(organization.owner, import_folder(organization.owner, folder, "--approve", "--merge"))

    assert "imported before" in again.stdout
    assert [review["status"] for review in (first, approved, merged)] == ["open", "approved", "merged"]
    assert {review["review_id"] for review in (first, approved, merged)} == {first["review_id"]}
    assert len(imports(organization.owner)) == 1


def test_two_commands_at_once_make_one_import(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", {f"{number}.md": f"# Note {number}\n" for number in range(200)})

    server = {"CANONRY_URL": organization.owner.base_url, "CANONRY_TOKEN": str(organization.owner.token)}
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: run("import", str(folder), **server), range(2)))

    assert len({str(review_of(organization.owner, done)["review_id"]) for done in both}) == 1
    assert len(imports(organization.owner)) == 1


def test_a_review_that_was_rejected_is_not_gone_on_with(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(organization.owner, import_folder(organization.owner, folder))
    ok(decide(organization.owner, first, "rejected"))

    second = review_of(organization.owner, import_folder(organization.owner, folder))

    assert second["status"] == "open"
    assert second["review_id"] != first["review_id"]


def test_a_review_that_is_no_longer_what_was_imported_is_withdrawn_and_everything_imported_anew(
    organization: Organization, tmp_path: Path
) -> None:
    owner = organization.owner
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(owner, import_folder(owner, folder))
    drafts = [ok(owner.get(f"/drafts/{each['draft_id']}")) for each in listed(first, "drafts")]
    more = a_draft(owner, str(first["project_id"]), *_creates("more.md"))
    two = ok(resubmit(owner, first, *drafts, more))
    ok(owner.delete(f"/drafts/{drafts[0]['draft_id']}", version=int(str(drafts[0]["version"]))))

    done = import_folder(owner, folder, "--merge")

    assert f"Review {first['review_id']} of an earlier run is withdrawn" in done.stdout
    assert reread(owner, two)["status"] == "withdrawn"
    assert [*memories(owner)] == [*NOTES]


def test_a_review_that_others_stand_in_the_way_of_is_withdrawn_and_the_rest_imported_anew(
    organization: Organization, tmp_path: Path
) -> None:
    owner = organization.owner
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(owner, import_folder(owner, folder))
    published(owner, a_project(owner, "Elsewhere"), *_creates("Deploy.md"))

    done = import_folder(owner, folder, "--project", str(first["project_id"]), "--merge", code=3)

    assert reread(owner, first)["status"] == "withdrawn"
    assert "1 created" in done.stdout
    assert [*memories(owner)] == ["Deploy.md", "runbooks/rollback.md"]


def test_an_open_review_of_another_content_of_the_folder_is_pointed_at(
    organization: Organization, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(organization.owner, import_folder(organization.owner, folder))
    a_folder(folder, {"deploy.md": "# Deploy\n\nTag it, and wait.\n"})

    done = import_folder(organization.owner, folder)

    assert f"Review {first['review_id']} of an earlier import of this folder is still open" in done.stdout
    assert reread(organization.owner, first)["status"] == "open"


def test_only_what_has_changed_is_proposed(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    import_folder(organization.owner, folder, "--merge")
    a_folder(folder, {"deploy.md": "# Deploy\n\nTag it, and wait.\n"})

    done = import_folder(organization.owner, folder, "--merge")

    assert "0 created, 1 updated, 0 renamed, 0 deleted, 1 unchanged." in done.stdout
    assert body_of(organization.owner, memories(organization.owner)["deploy.md"]) == "# Deploy\n\nTag it, and wait.\n"


def test_an_id_in_the_front_matter_follows_the_file(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    import_folder(organization.owner, folder, "--merge")
    memory_id = memories(organization.owner)["deploy.md"]["memory_id"]
    (folder / "deploy.md").unlink()
    a_folder(folder, {"guides/ship.md": f"---\nid: {memory_id}\ndescription: Deploy\n---\n# Deploy\n\nTag it.\n"})

    import_folder(organization.owner, folder, "--merge")

    found = memories(organization.owner)
    assert [*found] == ["guides/ship.md", "runbooks/rollback.md"]
    assert found["guides/ship.md"]["memory_id"] == memory_id


def test_a_mirror_deletes_what_has_no_file_and_renames_what_has_only_moved(
    organization: Organization, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path / "notes", {**NOTES, "old.md": "# Old\n"})
    import_folder(organization.owner, folder, "--merge")
    before = memories(organization.owner)
    (folder / "old.md").unlink()
    (folder / "deploy.md").rename(folder / "ship.md")

    shown = import_folder(organization.owner, folder, "--mirror", "--dry-run").stdout
    import_folder(organization.owner, folder, "--mirror", "--merge")

    assert "rename  deploy.md → ship.md\n" in shown
    assert "delete  old.md\n" in shown
    found = memories(organization.owner)
    assert [*found] == ["runbooks/rollback.md", "ship.md"]
    assert found["ship.md"]["memory_id"] == before["deploy.md"]["memory_id"]


def test_a_dry_run_shows_everything_changes_nothing_and_is_in_nobody_s_way(
    organization: Organization, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path / "notes", {**NOTES, "blank.md": " \n"})

    shown = import_folder(organization.owner, folder, "--dry-run", code=3).stdout

    assert "create  deploy.md\ncreate  runbooks/rollback.md\n" in shown
    assert "  blank.md  operation_invalid  " in shown
    assert (memories(organization.owner), reviews(organization.owner)) == ({}, [])
    assert items(organization.owner.get("/imports")) == []
    done = import_folder(organization.owner, folder, "--merge", code=3)
    assert review_of(organization.owner, done)["status"] == "merged"
    import_folder(organization.owner, folder, "--dry-run", code=3)


def test_a_dry_run_beside_an_open_review_does_not_hide_it(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    first = review_of(organization.owner, import_folder(organization.owner, folder))

    import_folder(organization.owner, folder, "--dry-run")

    again = review_of(organization.owner, import_folder(organization.owner, folder))
    assert again["review_id"] == first["review_id"]


def test_what_cannot_be_taken_is_listed_with_code_and_reason_and_the_rest_goes_on(
    organization: Organization, tmp_path: Path
) -> None:
    bad: dict[str, str | bytes] = {
        "blank.md": "\n",
        "latin.md": b"# caf\xe9\n",
        "large.md": "# Large\n" + "x" * 262_144,
        "con.md": "# A device\n",
        "nul.md": "# Nothing\0\n",
    }

    done = import_folder(organization.owner, a_folder(tmp_path / "notes", {**NOTES, **bad}), "--merge", code=3)

    left_out = dict(re.findall(r"^  (\S+)  (\w+)  \S.*$", done.stdout, re.MULTILINE))
    assert [*left_out] == sorted(bad)
    assert left_out["large.md"] == "too_large"
    assert [*memories(organization.owner)] == [*NOTES]


def test_two_spellings_of_one_path_are_both_left_out(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", {**NOTES, "caf\u00e9.md": "# One\n", "cafe\u0301.md": "# Two\n"})

    done = import_folder(organization.owner, folder, "--merge", code=3)

    assert "  caf\u00e9.md  path_collision  " in done.stdout
    assert [*memories(organization.owner)] == [*NOTES]


def test_a_mirror_does_not_delete_the_memory_of_a_file_that_cannot_be_read(
    organization: Organization, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    import_folder(organization.owner, folder, "--merge")
    a_folder(folder, {"deploy.md": b"\xff\xfe"})

    done = import_folder(organization.owner, folder, "--mirror", "--merge", code=3)

    assert "  deploy.md  " in done.stdout
    assert [*memories(organization.owner)] == [*NOTES]


def test_a_mirror_of_nothing_has_to_be_meant(organization: Organization, tmp_path: Path) -> None:
    import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES), "--merge")
    empty = a_folder(tmp_path / "empty", {"read.txt": "no Markdown\n"})

    refused = import_folder(organization.owner, empty, "--mirror", "--merge", code=1)
    assert "--allow-empty" in one_sentence(refused)
    assert [*memories(organization.owner)] == [*NOTES]

    import_folder(organization.owner, empty, "--mirror", "--allow-empty", "--merge")
    assert memories(organization.owner) == {}


def test_front_matter_that_is_not_valid_is_a_note_and_stays_in_the_body(
    organization: Organization, tmp_path: Path
) -> None:
    text = "---\ndescription: [a\n---\n# Title\n"

    done = import_folder(organization.owner, a_folder(tmp_path / "notes", {"odd.md": text}), "--merge")

    assert re.search(r"^  odd\.md  \w+  \S", done.stdout, re.MULTILINE)
    assert body_of(organization.owner, memories(organization.owner)["odd.md"]) == text


def test_a_revision_is_imported_as_it_was_committed(organization: Organization, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "notes", NOTES)
    repository = Repo.init(folder)
    repository.get_worktree().stage([*NOTES])
    repository.get_worktree().commit(message=b"Notes", author=b"A <a@example.org>", committer=b"A <a@example.org>")
    repository.close()
    a_folder(folder, {"deploy.md": "# Not committed\n", "new.md": "# Not committed\n"})

    done = import_folder(organization.owner, folder, "--revision", "HEAD", "--merge")

    assert review_of(organization.owner, done)["title"] == "Import notes at HEAD"
    found = memories(organization.owner)
    assert [*found] == [*NOTES]
    assert body_of(organization.owner, found["deploy.md"]) == NOTES["deploy.md"]


def test_several_projects_are_listed_until_one_is_named_by_id_slug_or_name(api: Client, tmp_path: Path) -> None:
    organization = an_organization(api)
    handbook = a_project(organization.owner, "Hand Book")
    a_project(organization.owner, "Other")
    folder = a_folder(tmp_path / "notes", NOTES)

    assert "hand-book" in one_sentence(import_folder(organization.owner, folder, code=1))
    for name in (handbook, "hand-book", "HAND book"):
        done = import_folder(organization.owner, folder, "--project", name)
        assert review_of(organization.owner, done)["project_id"] == handbook


def test_the_only_project_that_takes_changes_needs_no_name(api: Client, tmp_path: Path) -> None:
    organization = an_organization(api)
    writes, reads, archived = (a_project(organization.owner) for _ in range(3))
    member = a_member(organization, writes)
    for project_id, role in ((reads, "viewer"), (archived, "member")):
        body: Json = {"user_id": member.user_id, "role": role}
        ok(organization.owner.post(f"/projects/{project_id}/members", body), 201)
    ok(organization.owner.patch(f"/projects/{archived}", {"state": "archived"}, version=1))

    done = import_folder(member.client, a_folder(tmp_path / "notes", NOTES))

    assert review_of(member.client, done)["project_id"] == writes


def test_an_unknown_project_is_made_only_when_that_is_said(api: Client, tmp_path: Path) -> None:
    organization = an_organization(api)
    folder = a_folder(tmp_path / "notes", NOTES)

    for words in ((), ("--project", "Notes")):
        assert "--create-project" in one_sentence(import_folder(organization.owner, folder, *words, code=1))
    assert items(organization.owner.get("/projects")) == []

    for _ in range(2):
        import_folder(organization.owner, folder, "--project", "Notes", "--create-project")
    assert [project["name"] for project in items(organization.owner.get("/projects"))] == ["Notes"]


@pytest.mark.parametrize("wish", ["--approve", "--merge"])
def test_who_may_not_decide_gets_one_sentence_and_an_open_review(api: Client, tmp_path: Path, wish: str) -> None:
    organization, project_id = a_place(api)
    member = a_member(organization, project_id)

    done = import_folder(member.client, a_folder(tmp_path / "notes", NOTES), wish, code=1)

    (review,) = reviews(organization.owner)
    assert review["status"] == "open"
    assert str(review["review_id"]) in one_sentence(done)
    assert "stays open" in one_sentence(done)


def test_a_path_of_another_projects_memory_is_left_out_and_how_to_import_it(api: Client, tmp_path: Path) -> None:
    organization, project_id = a_place(api)
    published(organization.owner, a_project(organization.owner, "Elsewhere"), *_creates("deploy.md"))
    folder = a_folder(tmp_path / "notes", NOTES)
    words = ("--project", project_id, "--merge")

    done = import_folder(organization.owner, folder, *words, code=3)
    again = import_folder(organization.owner, folder, *words, code=3)
    import_folder(organization.owner, folder, *words, "--prefix", "mine")

    assert "  deploy.md  path_collision  deploy.md is another document's path in this organization" in done.stdout
    assert "1 created" in done.stdout
    assert again.stdout.endswith("There is nothing to review: 1 file was left out, and nothing else differs.\n")
    found = memories(organization.owner)
    assert body_of(organization.owner, found["deploy.md"]) == "# Elsewhere\n"
    assert body_of(organization.owner, found["mine/deploy.md"]) == NOTES["deploy.md"]


def test_a_preview_of_a_project_that_is_not_there_yet_knows_what_others_have_published(
    organization: Organization, tmp_path: Path
) -> None:
    owner = organization.owner
    import_folder(owner, a_folder(tmp_path / "notes", NOTES), "--merge")
    run_as(owner, "export", tmp_path / "out")
    edited = tmp_path / "out" / "deploy.md"
    edited.write_text(edited.read_text() + "More.\n")
    words = ("--project", "New", "--create-project")

    plain = import_folder(owner, tmp_path / "notes", *words, "--dry-run", code=3)
    told = import_folder(owner, tmp_path / "out", *words, "--dry-run", code=3)
    done = import_folder(owner, tmp_path / "out", *words, code=3)

    assert set(re.findall(r"^  (\S+)  path_collision  ", plain.stdout, re.MULTILINE)) == {*NOTES}
    assert told.stdout.endswith("it would make the project New; 0 files would be created, 1 unchanged.\n")
    assert "0 created, 0 updated, 0 renamed, 0 deleted, 1 unchanged." in done.stdout
    for each in (told, done):
        assert re.findall(r"^  (\S+  \w+)  ", each.stdout, re.MULTILINE) == ["deploy.md  memory_not_selected"]


def test_more_files_than_a_request_holds_become_several_drafts_of_one_review(
    organization: Organization, tmp_path: Path
) -> None:
    files = {f"notes/{number:04}.md": f"# Note {number}\n" for number in range(1_100)}

    done = import_folder(organization.owner, a_folder(tmp_path / "notes", files), "--merge")

    assert len(listed(review_of(organization.owner, done), "drafts")) > 1
    assert len(memories(organization.owner)) == 1_100


def test_away_from_a_terminal_progress_is_plain_lines_on_standard_error(
    organization: Organization, tmp_path: Path
) -> None:
    done = import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES))

    assert "Sending files: 2 of 2" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stdout + done.stderr


def test_a_token_that_is_not_known_is_one_sentence(organization: Organization, tmp_path: Path) -> None:
    stranger = organization.owner.with_token("cnr_nobody")

    done = import_folder(stranger, a_folder(tmp_path / "notes", NOTES), code=1)

    assert one_sentence(done)


def test_a_server_without_a_token_is_one_sentence(organization: Organization, tmp_path: Path) -> None:
    done = run("import", str(a_folder(tmp_path / "notes", NOTES)), CANONRY_URL=organization.owner.base_url)

    assert (done.returncode, "CANONRY_TOKEN" in one_sentence(done)) == (1, True)


def test_an_export_that_was_not_edited_takes_nothing_back(organization: Organization, tmp_path: Path) -> None:
    owner = organization.owner
    import_folder(owner, a_folder(tmp_path / "notes", NOTES), "--merge")
    run_as(owner, "export", tmp_path / "one")
    run_as(owner, "export", tmp_path / "other")
    edited = tmp_path / "one" / "deploy.md"
    edited.write_text(edited.read_text() + "\nAnd wait.\n")

    done = import_folder(owner, tmp_path / "one", "--merge")
    again = import_folder(owner, tmp_path / "other", "--merge")

    assert "1 updated" in done.stdout
    assert re.search(r"^Compared with commit [0-9a-f]{12} that", again.stdout, re.MULTILINE)
    assert "nothing to review" in again.stdout
    assert body_of(owner, memories(owner)["deploy.md"]).endswith("And wait.\n")


def test_an_export_of_another_organization_is_imported_without_a_base(
    organization: Organization, api: Client, tmp_path: Path
) -> None:
    import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES), "--merge")
    run_as(organization.owner, "export", tmp_path / "snapshot")
    other = a_place(api)[0].owner

    import_folder(other, tmp_path / "snapshot")
    done = import_folder(other, tmp_path / "snapshot", "--merge")

    assert "going on with that" in done.stdout
    assert "Compared with" not in done.stdout
    assert [*memories(other)] == [*NOTES]


def test_a_viewer_is_told_whom_to_ask(api: Client, tmp_path: Path) -> None:
    organization, project_id = a_place(api)
    viewer = a_member(organization, project_id, role="viewer")

    done = import_folder(viewer.client, a_folder(tmp_path / "notes", NOTES), "--project", project_id, code=1)

    assert one_sentence(done).endswith("Ask one of the project's admins to make you a member.")


def test_the_end_says_where_the_review_can_be_read(organization: Organization, tmp_path: Path) -> None:
    done = import_folder(organization.owner, a_folder(tmp_path / "notes", NOTES))

    found = re.search(r"^What it changes: (\S+)$", done.stdout, re.MULTILINE)
    assert found is not None
    path = found[1].removeprefix(f"{organization.owner.base_url}/v1/api")
    assert len(listed(ok(organization.owner.get(path)), "memories")) == 2


def test_a_project_that_would_be_made_is_previewed_without_it(api: Client, tmp_path: Path) -> None:
    organization = an_organization(api)
    folder = a_folder(tmp_path / "notes", {**NOTES, "con.md": "# A device\n", "blank.md": " \n"})

    words = ("--project", "Notes", "--create-project", "--dry-run")
    done = import_folder(organization.owner, folder, *words, code=3)

    assert "create  deploy.md\ncreate  runbooks/rollback.md\n" in done.stdout
    assert set(re.findall(r"^  (\S+)  operation_invalid  ", done.stdout, re.MULTILINE)) == {"blank.md", "con.md"}
    assert done.stdout.endswith("it would make the project Notes; 2 files would be created.\n")
    assert items(organization.owner.get("/projects")) == []


def test_a_project_that_the_token_may_not_see_is_told_with_whom_to_ask(api: Client, tmp_path: Path) -> None:
    organization, project_id = a_place(api)
    a_project(organization.owner, "Hidden")
    member = a_member(organization, project_id)
    folder = a_folder(tmp_path / "notes", NOTES)

    done = import_folder(member.client, folder, "--project", "Hidden", "--create-project", code=1)

    assert one_sentence(done).endswith("this token may not use it; ask its admin to add you.")


def _creates(*paths: str) -> list[Json]:
    return [{"action": "create", "path": path, "content": {"content": "# Elsewhere\n"}} for path in paths]
