"""`canonry export` as a process against a server that it knows by URL and token (docs/how-to/export-a-snapshot.md)."""

import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from canonry.documents.front_matter import read_document
from canonry.documents.manifest import MANIFEST
from tests.client import Client, Json, Organization, a_member, a_person, ok
from tests.export_command import export, files, manifest, refusal
from tests.import_command import import_folder
from tests.proposals import a_place, creates, deletes, inside, published, renames, select, updates

pytestmark = pytest.mark.usefixtures("worker")

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")

# What a reader of Markdown finds, and what only the manifest leads to.
PLAIN = {
    "deploy.md": "# Deploy\n",
    "runbooks/rollback.mdc": "---\ntags: [ops]\n---\n# Roll back\n",
    "Übung/記憶.MD": "---\n",
}
ODD = {
    "Makefile": "all:\n",
    ".github/x.md": "hidden\n",
    ".gitignore": "drafts/\n*.tmp.md\n",
    "drafts/a.md": "ignored\n",
    "b.tmp.md": "ignored too\n",
    "docs/.gitignore": "!b.tmp.md\n/c.md\n",
    "docs/b.tmp.md": "seen again\n",
    "docs/c.md": "---\ndescription: [1]\nid: mem_other\n---\nbody\n",
}


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), "-c", "core.quotePath=false", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def current(client: Client, owner: str = "/org") -> Json:
    return inside(ok(client.get(f"{owner}/commit-state")), "latest")


@pytest.fixture
def place(api: Client) -> tuple[Organization, str]:
    return a_place(api)


def publish(place: tuple[Organization, str], documents: dict[str, str], title: str = "A change") -> list[str]:
    operations = [creates(path, text, f"About {path}") for path, text in documents.items()]
    return published(place[0].owner, place[1], *operations, title=title)


def test_what_is_counted_while_it_is_written_is_the_memories(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, {"a.md": "# A\n", "b.md": "# B\n", ".canonry.json": "{}\n"})
    done = export(place[0].owner, tmp_path / "out", "--project", place[1], code=3)
    assert "Writing Memories: 2 of 2\n" in done.stderr
    assert done.stdout.startswith("2 Memories of version ")


def test_every_memory_is_a_file_with_its_id_and_description(place: tuple[Organization, str], tmp_path: Path) -> None:
    ids = publish(place, PLAIN)
    done = export(place[0].owner, tmp_path / "out")

    commit = current(place[0].owner)
    assert done.stdout == f"3 Memories of version 1 (commit {commit['commit_id']}) in {tmp_path / 'out'}\n"
    written = files(tmp_path / "out")
    assert written.pop(MANIFEST)
    for memory_id, (path, text) in zip(ids, PLAIN.items(), strict=True):
        found = read_document(written.pop(path))
        assert (found.memory_id, found.description, found.body) == (memory_id, f"About {path}", text)
    assert written == {}


def test_plain_files_are_the_bodies(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, PLAIN | ODD)
    export(place[0].owner, tmp_path / "out", "--plain")
    written = files(tmp_path / "out")
    del written[MANIFEST]
    assert written == PLAIN | ODD


def test_the_manifest_says_what_it_is_and_names_what_nobody_would_find(
    place: tuple[Organization, str], tmp_path: Path
) -> None:
    publish(place, PLAIN | ODD)
    export(place[0].owner, tmp_path / "out")
    commit, written = current(place[0].owner), manifest(tmp_path / "out")
    assert (written.scope, written.commit_id, written.tree_id) == ("org", commit["commit_id"], commit["tree_id"])
    assert written.also == [
        ".github/x.md",
        ".gitignore",
        "Makefile",
        "b.tmp.md",
        "docs/.gitignore",
        "docs/c.md",
        "drafts/a.md",
    ]


@pytest.mark.parametrize("words", [(), ("--git",)], ids=["folder", "git"])
def test_imported_into_an_empty_organization_it_is_the_same_tree(
    api: Client, place: tuple[Organization, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    publish(place, PLAIN | ODD)
    export(place[0].owner, tmp_path / "out", *words)
    other, _ = a_place(api)
    import_folder(other.owner, tmp_path / "out", "--merge")
    assert current(other.owner)["tree_id"] == current(place[0].owner)["tree_id"]
    import_folder(other.owner, tmp_path / "out", "--mirror")
    assert current(other.owner)["version"] == 1


def test_a_repository_imported_at_its_revision_is_the_same_tree(
    api: Client, place: tuple[Organization, str], tmp_path: Path
) -> None:
    publish(place, PLAIN | ODD)
    export(place[0].owner, tmp_path / "out", "--git")
    other, _ = a_place(api)
    import_folder(other.owner, tmp_path / "out", "--revision", "main", "--merge")
    assert current(other.owner)["tree_id"] == current(place[0].owner)["tree_id"]


def test_a_former_commit_is_exported_as_it_was(place: tuple[Organization, str], tmp_path: Path) -> None:
    [first, *_] = publish(place, PLAIN)
    before = str(current(place[0].owner)["commit_id"])
    published(place[0].owner, place[1], deletes(first))
    export(place[0].owner, tmp_path / "now", "--plain")
    export(place[0].owner, tmp_path / "then", "--plain", "--commit", before)
    assert set(files(tmp_path / "then")) - set(files(tmp_path / "now")) == {"deploy.md"}


def test_a_project_s_snapshot_holds_what_it_selects(place: tuple[Organization, str], tmp_path: Path) -> None:
    organization, project_id = place
    ids = publish(place, PLAIN)
    ok(select(organization.owner, project_id, ids[:1]))
    name = str(ok(organization.owner.get(f"/projects/{project_id}"))["name"])
    for number, wanted in enumerate((project_id, name, name.upper())):
        export(organization.owner, tmp_path / str(number), "--project", wanted, "--plain")
        assert set(files(tmp_path / str(number))) == {"deploy.md", MANIFEST}
    assert manifest(tmp_path / "0").commit_id == current(organization.owner, f"/projects/{project_id}")["commit_id"]


def test_a_member_exports_the_project(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, PLAIN)
    viewer = a_member(*place, role="viewer")
    export(viewer.client, tmp_path / "out", "--project", place[1], "--git")
    assert set(files(tmp_path / "out")) == {*PLAIN, MANIFEST}
    refusal(viewer.client, tmp_path / "other", "--commit", "0" * 64)


@needs_git
def test_a_repository_has_a_commit_for_each_publication(place: tuple[Organization, str], tmp_path: Path) -> None:
    organization, project_id = place
    [first, second, _] = publish(place, PLAIN, title="Begin")
    published(
        organization.owner, project_id, renames(first, "ops/deploy.md"), updates(second, "New\n"), title="Move: é"
    )
    published(organization.owner, project_id, deletes(first), title="Drop")
    export(organization.owner, tmp_path / "out", "--git")

    log = git(tmp_path / "out", "log", "--reverse", "--format=%an|%ae|%cn|%at|%B%x00")
    times = [int(_time(commit)) for commit in _commits(organization.owner)]
    expected = [
        f"Olga Owner|{organization.owner_id}|Olga Owner|{at}|{title}"
        for at, title in zip(times, ("Begin", "Move: é", "Drop"), strict=True)
    ]
    assert [entry.strip() for entry in log.split("\0")[:-1]] == expected
    assert git(tmp_path / "out", "fsck", "--strict") == ""
    assert git(tmp_path / "out", "status", "--porcelain", "--branch") == "## main\n"
    assert set(git(tmp_path / "out", "ls-tree", "-r", "--name-only", "HEAD~1").split()) == {
        *(MANIFEST, "ops/deploy.md", "runbooks/rollback.mdc", "Übung/記憶.MD")
    }


@needs_git
def test_exported_again_every_commit_has_the_same_id(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, PLAIN)
    before = str(current(place[0].owner)["commit_id"])
    export(place[0].owner, tmp_path / "a", "--git")
    publish(place, ODD)
    export(place[0].owner, tmp_path / "b", "--git")
    export(place[0].owner, tmp_path / "c", "--git", "--commit", before)
    ids = [
        git(tmp_path / name, "rev-parse", revision)
        for name, revision in (("a", "HEAD"), ("b", "HEAD~1"), ("c", "HEAD"))
    ]
    assert len(set(ids)) == 1


@needs_git
def test_a_repository_of_a_project_tells_of_its_selection_changes(
    place: tuple[Organization, str], tmp_path: Path
) -> None:
    ids = publish(place, PLAIN, title="Begin")
    ok(select(place[0].owner, place[1], ids[1:]))
    export(place[0].owner, tmp_path / "out", "--git", "--project", place[1])
    assert git(tmp_path / "out", "log", "--reverse", "--format=%s").splitlines() == ["Begin", ""]
    assert git(tmp_path / "out", "diff", "--name-status", "HEAD~1").splitlines() == [f"M\t{MANIFEST}", "D\tdeploy.md"]
    assert git(tmp_path / "out", "fsck", "--strict") == ""


def test_who_may_not_know_a_person_gets_the_id(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, PLAIN)
    stranger = a_person(place[0])
    export(stranger.client, tmp_path / "out", "--git")
    assert f"{place[0].owner_id} <{place[0].owner_id}>" in git(tmp_path / "out", "log", "--format=%an <%ae>")


def test_what_is_not_there_is_one_sentence(place: tuple[Organization, str], api: Client, tmp_path: Path) -> None:
    owner, out = place[0].owner, tmp_path / "out"
    assert refusal(owner, out) == "The organization has published nothing yet."
    assert "has published nothing yet" in refusal(owner, out, "--project", place[1])
    publish(place, PLAIN)
    foreign, _ = a_place(api)
    commit = str(current(owner)["commit_id"])
    assert refusal(foreign.owner, out, "--commit", commit) == f"There is no commit {commit} for this token."
    assert refusal(owner, out, "--commit", "../me") == "There is no commit ../me for this token."
    assert "is none of the project" in refusal(owner, out, "--commit", commit, "--project", place[1])
    assert refusal(owner, out, "--project", "nothing").startswith("There is no project nothing for this token (")


@pytest.mark.parametrize(
    "path", [".git/hooks/post-checkout", "docs/.GIT/config", "GIT~1", ".canonry.json", ".Canonry.json/a.md"]
)
def test_a_path_that_means_something_to_git_or_to_us_is_left_out_and_named(
    place: tuple[Organization, str], tmp_path: Path, path: str
) -> None:
    [memory_id, _] = publish(place, {path: "text\n", "fine.md": "fine\n"})
    done = export(place[0].owner, tmp_path / "out", code=3)
    assert done.stdout.startswith("1 Memory of version 1 ")
    *_, last = done.stderr.splitlines()
    assert last.startswith(f"{path} ({memory_id}) is left out: it ")
    assert set(files(tmp_path / "out")) == {"fine.md", MANIFEST}


@needs_git
def test_such_a_path_in_the_past_keeps_nobody_from_the_history(place: tuple[Organization, str], tmp_path: Path) -> None:
    [memory_id, _] = publish(place, {".git/config": "text\n", "fine.md": "fine\n"})
    published(place[0].owner, place[1], updates(memory_id, "more\n"))
    published(place[0].owner, place[1], renames(memory_id, "config.md"))
    done = export(place[0].owner, tmp_path / "out", "--git", code=3)
    named = [line for line in done.stderr.splitlines() if memory_id in line]
    assert named == [f".git/config ({memory_id}) is left out: it would be part of git's own files."]
    assert git(tmp_path / "out", "fsck", "--strict") == ""
    assert git(tmp_path / "out", "status", "--porcelain", "--branch") == "## main\n"
    assert set(git(tmp_path / "out", "ls-tree", "-r", "--name-only", "HEAD").split()) == {
        *("config.md", "fine.md", MANIFEST)
    }
    assert git(tmp_path / "out", "ls-tree", "-r", "--name-only", "HEAD~2").split() == [MANIFEST, "fine.md"]


def test_an_empty_folder_is_filled(place: tuple[Organization, str], tmp_path: Path) -> None:
    publish(place, PLAIN)
    (tmp_path / "out").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("out")
    export(place[0].owner, tmp_path / "link")
    assert set(files(tmp_path / "out")) == {*PLAIN, MANIFEST}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]


def test_an_export_removes_what_a_killed_one_to_the_same_place_left(
    place: tuple[Organization, str], tmp_path: Path
) -> None:
    publish(place, PLAIN)
    (tmp_path / "out.new-0123456789ab" / "half").mkdir(parents=True)
    export(place[0].owner, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _commits(client: Client) -> list[Json]:
    listed = ok(client.get("/org/commits"))["items"]
    assert isinstance(listed, list)
    return [commit for commit in listed if isinstance(commit, dict)][::-1]


def _time(commit: Json) -> float:
    return datetime.fromisoformat(str(commit["created_at"])).timestamp()
