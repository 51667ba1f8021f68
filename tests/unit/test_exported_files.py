import errno
import os
import pwd
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canonry.documents.folder import Found, read_folder
from canonry.documents.front_matter import read_document
from canonry.documents.manifest import MANIFEST
from canonry.exporting.authors import author_line
from canonry.exporting.destination import new_folder, remove_abandoned, require_unused, write_file
from canonry.exporting.files import files_of
from canonry.failures import CommandFailed
from models.schemas.commits import BlobBody, CommitBody, Snapshot, TreeBody, TreeEntry
from tests.stack import a_reachable_folder


def a_snapshot(*paths: str) -> Snapshot:
    """A snapshot whose files hold their own paths."""
    nothing = dict.fromkeys(("project_id", "parent_commit_id", "review_id", "org_commit_id", "selection_revision"))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    commit = CommitBody(
        commit_id="c",
        scope="org",
        org_id="o",
        version=1,
        tree_id="t",
        message="m",
        created_by="u",
        created_at=at,
        **nothing,
    )
    entries = [
        TreeEntry(id=f"mem_{number}", type="memory", source="org", path=path, description=path, blob_id=path)
        for number, path in enumerate(paths)
    ]
    blobs = [BlobBody(blob_id=path, content=f"{path}\n") for path in paths]
    return Snapshot(commit=commit, tree=TreeBody(tree_id="t", entries=entries), blobs=blobs, project_org_selection=None)


@pytest.mark.parametrize(
    "paths",
    [
        ("../a.md",), ("/etc/a.md",), ("a/../../b.md",), ("a\\b.md",), ("a//b.md",), ("a\nb.md",), ("",), ("con.md",),
        ("a.md", "A.md"), ("a", "a/b.md"), ("e\u0301.md",),
    ],
)  # fmt: skip
def test_paths_that_must_not_be_written_are_refused_before_the_first_file(paths: tuple[str, ...]) -> None:
    with pytest.raises(CommandFailed):
        files_of(a_snapshot("fine.md", *paths), plain=True)


@pytest.mark.parametrize(
    "path",
    [".git", ".git/config", "docs/.Git/config", "GIT~1/config", MANIFEST, ".CANONRY.json/a.md"],
)
def test_paths_that_mean_something_to_git_or_to_us_are_left_out(path: str) -> None:
    chosen = files_of(a_snapshot("fine.md", path), plain=True)
    assert [file.path for file in chosen.files] == ["fine.md", MANIFEST]
    assert [(left.memory_id, left.path) for left in chosen.left_out] == [("mem_1", path)]


@pytest.mark.parametrize("path", [".gitignore", ".github/x.md", "git", "docs/x.git", "x/.canonry.json"])
def test_paths_that_only_look_like_those_are_written(path: str) -> None:
    assert files_of(a_snapshot(path), plain=True).left_out == []


def test_every_file_is_found_again_whatever_its_name(tmp_path: Path) -> None:
    paths = [
        "a.md",
        "b",
        ".c/d.md",
        ".gitignore",
        "e/f.md",
        "e/.gitignore",
        "e/g.txt",
        ".canonry.json.md",
        "x/.canonry.json",
    ]
    for file in files_of(a_snapshot(*paths), plain=False).files:
        write_file(tmp_path, file.path, file.data)
    found = {item.path: read_document(item.text) for item in read_folder(tmp_path) if isinstance(item, Found)}
    assert {path: document.body for path, document in found.items()} == {path: f"{path}\n" for path in paths}
    assert {document.description for document in found.values()} == set(paths)


def test_what_an_exported_gitignore_hides_is_found_again(tmp_path: Path) -> None:
    snapshot = a_snapshot(".gitignore", "docs/.gitignore", "a.md", "docs/b.md")
    for blob in snapshot.blobs[:2]:
        blob.content = "*\n"
    for file in files_of(snapshot, plain=True).files:
        write_file(tmp_path, file.path, file.data)
    assert {item.path for item in read_folder(tmp_path)} == {".gitignore", "docs/.gitignore", "a.md", "docs/b.md"}


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "out"
    assert [path.name for path in tmp_path.iterdir() if path.name != "out"] == []


def test_a_folder_appears_when_it_is_whole(target: Path) -> None:
    with new_folder(target) as new:
        write_file(new, "a/b.md", b"x")
        assert not target.exists()
        assert new.parent == target.parent
    assert (target / "a" / "b.md").read_bytes() == b"x"


@pytest.mark.parametrize("failure", [CommandFailed("no"), KeyboardInterrupt(), ValueError()])
def test_a_failure_leaves_nothing(target: Path, failure: BaseException) -> None:
    def fail() -> None:
        with new_folder(target) as new:
            write_file(new, "a/b.md", b"x")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert not target.exists()


def test_what_a_killed_export_left_is_removed_and_what_another_writes_is_not(tmp_path: Path) -> None:
    target, left, other = tmp_path / "out", tmp_path / "out.new-0123456789ab", tmp_path / "out.new-kept"
    write_file(left, "a/b.md", b"x")
    other.mkdir()
    with new_folder(target) as new:
        assert remove_abandoned(target) == [new]
        assert sorted(tmp_path.iterdir()) == sorted([new, other])
    assert remove_abandoned(target) == []
    assert sorted(tmp_path.iterdir()) == [target, other]


def test_a_link_in_the_place_of_an_unfinished_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "out.new-0123456789ab"
    write_file(elsewhere, "a.md", b"x")
    link.symlink_to(elsewhere)
    assert remove_abandoned(tmp_path / "out") == [link]
    assert (elsewhere / "a.md").exists()


def test_a_full_disk_is_one_sentence(target: Path) -> None:
    with pytest.raises(CommandFailed, match=f"{target} cannot be written: No space left on device"), new_folder(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not target.exists()


def test_a_read_only_folder_is_one_sentence() -> None:
    parent = a_reachable_folder()
    try:
        parent.chmod(0o555)
        euid = os.geteuid()
        if euid == 0:
            os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            with pytest.raises(CommandFailed, match="cannot be written: Permission denied"), new_folder(parent / "out"):
                pass
        finally:
            os.seteuid(euid)
    finally:
        shutil.rmtree(parent)


def test_who_fills_the_target_meanwhile_wins(target: Path) -> None:
    def lose() -> None:
        with new_folder(target) as new:
            write_file(new, "ours.md", b"x")
            write_file(target, "theirs.md", b"y")

    with pytest.raises(CommandFailed, match="cannot be written"):
        lose()
    assert [path.name for path in target.iterdir()] == ["theirs.md"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda target: write_file(target, "x", b""), "is not empty"),
        (Path.touch, "is a file"),
        (lambda target: target.symlink_to("/nowhere/at/all"), "there is no folder"),
    ],
    ids=["full", "file", "nowhere"],
)
def test_what_is_there_is_never_written_over(target: Path, make: Callable[[Path], object], sentence: str) -> None:
    make(target)
    with pytest.raises(CommandFailed, match=sentence):
        require_unused(target)


def test_the_folder_one_is_in_does_not_vanish_under_one(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target.mkdir()
    monkeypatch.chdir(target)
    with pytest.raises(CommandFailed, match="the folder you are in"):
        require_unused(Path())


@pytest.mark.parametrize(
    ("name", "email", "line"),
    [
        ("Olga", "o@example.org", "Olga <o@example.org>"),
        ("Olga", None, "Olga <usr_1>"),
        ("", None, "usr_1 <usr_1>"),
        ("O<l>g\na", "a>b", "Olga <ab>"),
        ("記憶 ", None, "記憶 <usr_1>"),
    ],
)
def test_an_author_line_is_one_that_git_reads(name: str, email: str | None, line: str) -> None:
    assert author_line("usr_1", name, email) == line.encode()
