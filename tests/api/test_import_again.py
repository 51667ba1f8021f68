"""An exported folder that is edited and imported again and again (docs/how-to/import-a-folder.md)."""

import re
from pathlib import Path

import pytest
from dulwich.repo import Repo

from canonry.documents.manifest import MANIFEST
from tests.client import Client, Json, Organization, a_member, a_project, items, ok
from tests.export_command import export, manifest
from tests.import_command import a_folder, import_folder
from tests.proposals import a_place, all_items, creates, merge, published, updates

pytestmark = pytest.mark.usefixtures("worker")

NOTES = {"deploy.md": "# Deploy\n\nTag it.\n", "rollback.md": "---\ndescription: How back\n---\n# Roll back\n"}


@pytest.fixture
def place(api: Client) -> tuple[Organization, str]:
    """An organization and its only project."""
    return a_place(api)


@pytest.fixture
def folder(place: tuple[Organization, str], tmp_path: Path) -> Path:
    """An export of the organization, which has published two notes."""
    import_folder(place[0].owner, a_folder(tmp_path / "notes", NOTES), "--merge")
    export(place[0].owner, tmp_path / "out")
    return tmp_path / "out"


def edit(folder: Path, line: str) -> None:
    file = folder / "deploy.md"
    file.write_bytes(file.read_bytes() + f"{line}\n".encode())


def body_of(client: Client, path: str) -> str:
    (memory,) = [each for each in all_items(client, "/org/memories", limit=200) if each["path"] == path]
    return str(ok(client.get(f"/org/memories/{memory['memory_id']}"))["content"])


def id_of(client: Client, path: str) -> str:
    (memory,) = [each for each in all_items(client, "/org/memories", limit=200) if each["path"] == path]
    return str(memory["memory_id"])


def current(client: Client) -> Json:
    latest = ok(client.get("/org/commit-state"))["latest"]
    assert isinstance(latest, dict)
    return latest


def compared(output: str) -> str | None:
    found = re.search(r"^Compared with commit ([0-9a-f]{12}) that this folder was imported as\.$", output, re.MULTILINE)
    return None if found is None else found[1]


def test_the_same_file_is_edited_and_merged_again_and_again(place: tuple[Organization, str], folder: Path) -> None:
    owner = place[0].owner
    edit(folder, "One.")
    first = import_folder(owner, folder, "--merge")
    for line in ("Two.", "Three."):
        edit(folder, line)
        before = current(owner)

        done = import_folder(owner, folder, "--merge")

        assert compared(done.stdout) == str(before["commit_id"])[:12]
        assert (manifest(folder).commit_id, manifest(folder).tree_id) == (before["commit_id"], before["tree_id"])
    assert "that this folder was exported from." in first.stdout
    assert body_of(owner, "deploy.md") == "# Deploy\n\nTag it.\nOne.\nTwo.\nThree.\n"


def test_an_export_of_a_project_is_compared_with_the_project_as_it_is_now(
    place: tuple[Organization, str], folder: Path, tmp_path: Path
) -> None:
    owner = place[0].owner
    export(owner, tmp_path / "project", "--project", place[1])
    edit(tmp_path / "project", "One.")
    import_folder(owner, tmp_path / "project", "--merge")
    edit(tmp_path / "project", "Two.")

    done = import_folder(owner, tmp_path / "project", "--merge")

    assert compared(done.stdout) == manifest(tmp_path / "project").commit_id[:12]
    assert manifest(tmp_path / "project").scope == "project"
    assert body_of(owner, "deploy.md").endswith("One.\nTwo.\n")


def test_a_merge_by_somebody_else_is_known_as_well(place: tuple[Organization, str], folder: Path) -> None:
    organization, project_id = place
    member = a_member(organization, project_id).client
    edit(folder, "One.")
    import_folder(member, folder)
    (review,) = items(organization.owner.get("/reviews", status="open"))
    ok(merge(organization.owner, review))
    edit(folder, "Two.")

    done = import_folder(member, folder)

    assert compared(done.stdout) == str(current(organization.owner)["commit_id"])[:12]
    (review,) = items(organization.owner.get("/reviews", status="open"))
    ok(merge(organization.owner, review))
    assert body_of(organization.owner, "deploy.md").endswith("One.\nTwo.\n")


def test_what_others_have_published_since_is_not_taken_back(place: tuple[Organization, str], folder: Path) -> None:
    owner = place[0].owner
    edit(folder, "One.")
    import_folder(owner, folder, "--merge")
    for path in ("deploy.md", "rollback.md"):
        published(owner, place[1], updates(id_of(owner, path), f"# Theirs, {path}\n"))
    edit(folder, "Two.")

    done = import_folder(owner, folder, "--merge", code=3)

    assert compared(done.stdout) is None
    *_, reported, advice = done.stdout.partition("\nThere is nothing")[0].splitlines()
    assert reported.startswith("  deploy.md  reconciliation_required  ")
    assert advice == "Others have published since: export again and carry your change over."
    assert [body_of(owner, path) for path in NOTES] == ["# Theirs, deploy.md\n", "# Theirs, rollback.md\n"]


def test_the_base_stays_when_others_publish_after_it_was_found(place: tuple[Organization, str], folder: Path) -> None:
    owner = place[0].owner
    edit(folder, "One.")
    import_folder(owner, folder, "--merge")
    edit(folder, "Two.")
    import_folder(owner, folder)
    published(owner, place[1], updates(id_of(owner, "rollback.md"), "# Theirs\n"))
    edit(folder, "Three.")

    import_folder(owner, folder, "--merge")

    assert body_of(owner, "deploy.md").endswith("One.\nTwo.\nThree.\n")
    assert body_of(owner, "rollback.md") == "# Theirs\n"


@pytest.mark.parametrize("words", [("--dry-run",), ("--prefix", "ops")])
def test_what_is_no_import_of_the_folder_as_it_lies_notes_nothing(
    place: tuple[Organization, str], folder: Path, words: tuple[str, ...]
) -> None:
    before = (folder / MANIFEST).read_bytes()

    import_folder(place[0].owner, folder, *words)

    assert (folder / MANIFEST).read_bytes() == before


def test_an_import_of_a_revision_notes_nothing(place: tuple[Organization, str], folder: Path) -> None:
    repository = Repo.init(folder)
    repository.get_worktree().stage([*NOTES, MANIFEST])
    repository.get_worktree().commit(message=b"Notes", author=b"A <a@example.org>", committer=b"A <a@example.org>")
    repository.close()
    before = (folder / MANIFEST).read_bytes()

    import_folder(place[0].owner, folder, "--revision", "HEAD")

    assert (folder / MANIFEST).read_bytes() == before


def test_what_was_taken_is_noted_where_other_files_are_left_out(place: tuple[Organization, str], folder: Path) -> None:
    owner = place[0].owner
    a_folder(folder, {"blank.md": "\n"})
    for line in ("One.", "Two.", "Three."):
        edit(folder, line)

        done = import_folder(owner, folder, "--merge", code=3)

        assert re.findall(r"^  (\S+  \w+)  ", done.stdout, re.MULTILINE) == ["blank.md  operation_invalid"]
    assert body_of(owner, "deploy.md") == "# Deploy\n\nTag it.\nOne.\nTwo.\nThree.\n"


def test_an_export_of_the_organization_is_edited_and_merged_again_and_again_by_a_project_that_selects_some_of_it(
    place: tuple[Organization, str], folder: Path, tmp_path: Path
) -> None:
    owner = place[0].owner
    published(owner, a_project(owner, "Elsewhere"), creates("theirs.md", "# Theirs\n"))
    export(owner, tmp_path / "all")
    for line in ("One.", "Two."):
        edit(tmp_path / "all", line)
        import_folder(owner, tmp_path / "all", "--project", place[1], "--merge")
    a_folder(tmp_path / "all", {"theirs.md": (tmp_path / "all" / "theirs.md").read_bytes() + b"Mine.\n"})

    for line in ("Three.", "Four."):
        edit(tmp_path / "all", line)
        done = import_folder(owner, tmp_path / "all", "--project", place[1], "--merge", code=3)

        assert "1 updated, 0 renamed, 0 deleted, 1 unchanged." in done.stdout
        assert re.findall(r"^  (\S+  \w+)  ", done.stdout, re.MULTILINE) == ["theirs.md  memory_not_selected"]
    assert body_of(owner, "deploy.md") == "# Deploy\n\nTag it.\nOne.\nTwo.\nThree.\nFour.\n"
    assert body_of(owner, "theirs.md") == "# Theirs\n"


def test_a_dry_run_compares_likewise_and_writes_nothing(place: tuple[Organization, str], folder: Path) -> None:
    owner = place[0].owner
    edit(folder, "One.")
    import_folder(owner, folder, "--merge")
    edit(folder, "Two.")
    before = (folder / MANIFEST).read_bytes()

    done = import_folder(owner, folder, "--dry-run")

    assert "update  deploy.md\n" in done.stdout
    assert compared(done.stdout) == str(current(owner)["commit_id"])[:12]
    assert (folder / MANIFEST).read_bytes() == before
