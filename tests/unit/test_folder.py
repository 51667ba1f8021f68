import json
import os
import pwd
import shutil
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from canonry.documents.folder import MAX_FILE_BYTES, NOT_UTF8, UNREADABLE, Found, Unreadable, read_folder
from canonry.documents.manifest import MANIFEST
from canonry.documents.overlooking import overlooked
from canonry.failures import CommandFailed
from tests.stack import a_reachable_folder


def write(root: Path, *paths: str, text: str = "Text\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def manifest(root: Path, *also: str) -> None:
    fields = {"format": "canonry-export/1", "scope": "org", "commit_id": "c", "tree_id": "t", "also": [*also]}
    (root / MANIFEST).write_text(json.dumps(fields), encoding="utf-8")


def paths(root: Path) -> list[str]:
    return [item.path for item in read_folder(root) if isinstance(item, Found)]


def unreadable(root: Path) -> dict[str, str]:
    return {item.path: item.code for item in read_folder(root) if isinstance(item, Unreadable)}


@contextmanager
def without_rights() -> Iterator[None]:
    """Root reads everything; nobody does not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


def test_markdown_files_are_found_at_any_depth_in_a_fixed_order(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.MDC", "c/d/e.Md", "c/a.mdc", "notes.txt", "md", "x.md.bak")
    assert paths(tmp_path) == ["a.MDC", "b.md", "c/a.mdc", "c/d/e.Md"]


def test_texts_come_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeffÄ\r\n\r\n".encode())
    assert list(read_folder(tmp_path)) == [Found("a.md", "\ufeffÄ\r\n\r\n")]


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ".a.md", ".github/b.md", "c/.d/e.md", "c/f.md")
    assert paths(tmp_path) == ["c/f.md"]


def test_symlinks_and_what_is_no_file_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "b.md").symlink_to("real/a.md")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "nowhere.md").symlink_to("/nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert paths(tmp_path) == ["real/a.md"]


def test_a_path_is_in_nfc(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "übung/café.md"))
    assert paths(tmp_path) == ["übung/café.md"]


def test_what_git_ignores_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ".git/info/exclude", text="private.md\n")
    write(tmp_path, ".gitignore", text="\ufeff# drafts\n/drafts/\n*.tmp.md\n!keep.tmp.md\n\n[z-a].md\n")
    write(tmp_path, "docs/.gitignore", text="drafts\n!private.md\n")
    write(tmp_path, "a.md", "a.tmp.md", "keep.tmp.md", "private.md", "drafts/a.md", "drafts/keep.tmp.md")
    write(tmp_path, "docs/a.md", "docs/drafts/a.md", "docs/private.md", "docs/x/drafts", "more/drafts/a.md")
    assert paths(tmp_path) == ["a.md", "keep.tmp.md", "docs/a.md", "docs/private.md", "more/drafts/a.md"]


def test_a_folder_in_a_working_tree_is_read_by_the_rules_above_it(tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD", ".git/info/exclude", text="private.md\n")
    write(tmp_path, ".gitignore", text="/docs/drafts/\n")
    write(tmp_path, "docs/a.md", "docs/private.md", "docs/drafts/a.md")
    assert paths(tmp_path / "docs") == ["a.md"]


def test_a_folder_that_is_ignored_itself_is_read_all_the_same(tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD")
    write(tmp_path, ".gitignore", text="/out/\n")
    write(tmp_path, "out/docs/a.md")
    assert paths(tmp_path / "out" / "docs") == ["docs/a.md"[5:]]


# One `.gitignore` a word; `;` stands for its line ends and `_` for a space.
RULES = r"""
foo foo/ /foo foo/*;!foo/a.md foo/**;!foo/a.md **/a.md foo/**/a.md *;!*/;!a.md *.md;!foo/;!a.md foo;!foo/a.md *;!foo;!*/
**/foo/** foo/;!foo a.md_ a.md\_ \#a.md \!a.md [ab].md ?a.md foo/bar bar/a.md !;/ /*;!/foo;/foo/*;!/foo/bar A.MD *.m[!x]
foo/bar/;!bar/ é.md !a.md;a.md ** **/ */bar [z-a].md foo// //foo foo/bar/**;!foo/bar/a.md #a.md _ _foo
"""


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize("rules", [word.replace(";", "\n").replace("_", " ") + "\n" for word in RULES.split()])
def test_the_rules_are_those_of_git(tmp_path: Path, rules: str) -> None:
    names = ["a.md", "b.md", "#a.md", "!a.md", "a.md ", "é.md"]
    write(tmp_path, *(f"{folder}{name}" for folder in ("", "foo/", "foo/bar/", "bar/", "bar/foo/") for name in names))
    write(tmp_path, ".gitignore", text=rules)
    git = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run([*git, "ls-files", "-zo", "--exclude-standard"], check=True, capture_output=True, text=True)
    expected = {path for path in listed.stdout.split("\0") if path.endswith(".md")}
    every = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")]
    assert set(paths(tmp_path)) == expected == {*every} - {*overlooked(every, {"": rules})}


def test_what_cannot_be_taken_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes("Ä".encode("latin-1"))
    (tmp_path / "huge.md").write_text("---\nid: mem_1\n---\n" + "x" * MAX_FILE_BYTES, encoding="utf-8")
    (tmp_path / "wide.md").write_text("Text", encoding="utf-16")
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.md")).write_text("Text\n", encoding="utf-8")
    write(tmp_path, "fine.md")
    assert unreadable(tmp_path) == {
        "huge.md": "too_large",
        "latin.md": NOT_UTF8,
        "wide.md": NOT_UTF8,
        "\udcff.md": NOT_UTF8,
    }
    assert paths(tmp_path) == ["fine.md"]


def test_a_file_that_is_too_large_still_says_whose_it_is(tmp_path: Path) -> None:
    write(tmp_path, "huge.md", text="---\nid: mem_1\n---\n" + "x" * MAX_FILE_BYTES)
    (found,) = read_folder(tmp_path)
    assert isinstance(found, Unreadable)
    assert found.memory_id == "mem_1"


def test_what_nobody_may_read_is_told_and_the_rest_goes_on() -> None:
    root = a_reachable_folder()
    try:
        root.chmod(0o755)
        write(root, "a.md", "closed/b.md", "z.md")
        (root / "a.md").chmod(0)
        (root / "closed").chmod(0)
        with without_rights():
            found = [(item.path, getattr(item, "code", None)) for item in read_folder(root)]
        assert found == [("a.md", UNREADABLE), ("z.md", None), ("closed", UNREADABLE)]
    finally:
        (root / "closed").chmod(0o755)
        shutil.rmtree(root)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Path.exists, "does not exist"),
        (lambda path: path.write_text("x"), "is not a folder"),
        (lambda path: path.symlink_to("/nowhere"), "does not exist"),
    ],
    ids=["missing", "file", "dangling"],
)
def test_a_path_that_is_no_folder_is_refused(tmp_path: Path, make: Callable[[Path], object], sentence: str) -> None:
    make(tmp_path / "x")
    with pytest.raises(CommandFailed, match=sentence):
        read_folder(tmp_path / "x")


def test_a_manifest_names_what_nobody_would_find(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "Makefile", ".github/b.md", "c.txt")
    manifest(tmp_path, "Makefile", ".github/b.md", "a.md", "gone.txt")
    assert paths(tmp_path) == ["a.md", "Makefile", ".github/b.md"]


def test_an_exported_folder_is_not_read_by_the_rules_around_it(tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD")
    write(tmp_path, ".gitignore", text="*.md\n")
    write(tmp_path, "out/a.md")
    manifest(tmp_path / "out")
    assert paths(tmp_path / "out") == ["a.md"]


def test_a_manifest_leads_out_of_its_folder_by_no_way(tmp_path: Path) -> None:
    write(tmp_path, "secret.txt", "out/sub/x.txt")
    (tmp_path / "out" / "link").symlink_to("..")
    (tmp_path / "out" / "direct").symlink_to("../secret.txt")
    manifest(
        tmp_path / "out",
        "../secret.txt",
        str(tmp_path / "secret.txt"),
        "link/secret.txt",
        "direct",
        "sub",
        "",
        ".",
        "\0",
        "x/../sub/x.txt",
    )
    assert paths(tmp_path / "out") == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "other"}', "<<<<<<< ours\n"])
def test_a_manifest_that_is_not_one_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(CommandFailed, match="export"):
        read_folder(tmp_path)
