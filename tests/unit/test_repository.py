import json
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich.objects import Blob, Commit, ShaFile, Tag, Tree
from dulwich.repo import Repo

from canonry.documents.folder import NOT_UTF8, UNREADABLE, Found, Unreadable
from canonry.documents.manifest import MANIFEST
from canonry.documents.repository import read_revision
from canonry.failures import CommandFailed

FILE, SYMLINK, FOLDER, SUBMODULE = 0o100644, 0o120000, 0o040000, 0o160000
Entries = dict[str, "bytes | Entries | tuple[int, bytes]"]


def add(repository: Repo, item: ShaFile) -> bytes:
    repository.object_store.add_object(item)
    return item.id


def tree(repository: Repo, entries: Entries) -> bytes:
    made = Tree()
    for name, value in entries.items():
        if isinstance(value, dict):
            made.add(name.encode(errors="surrogateescape"), FOLDER, tree(repository, value))  # type: ignore[arg-type]
        elif isinstance(value, tuple):
            made.add(name.encode(), *value)  # type: ignore[arg-type]
        else:
            made.add(name.encode(errors="surrogateescape"), FILE, add(repository, Blob.from_string(value)))  # type: ignore[arg-type]
    return add(repository, made)


def commit(repository: Repo, entries: Entries, *, ref: bytes = b"refs/heads/main") -> bytes:
    made = Commit()
    made.tree = tree(repository, entries)
    made.author = made.committer = b"A <a>"
    made.author_time = made.commit_time = 0
    made.author_timezone = made.commit_timezone = 0
    made.message = repr(sorted(entries)).encode()
    repository.refs[ref] = add(repository, made)  # type: ignore[index,assignment]
    return made.id


@pytest.fixture(params=["bare", "working tree"])
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Repo:
    make = Repo.init_bare if request.param == "bare" else Repo.init
    with make(str(tmp_path / "r"), mkdir=True, default_branch=b"main") as made:
        return made


def paths(path: Path | str, revision: str = "HEAD") -> list[str]:
    return [item.path for item in read_revision(Path(path), revision) if isinstance(item, Found)]


def test_a_branch_a_tag_a_commit_and_head_are_revisions(repository: Repo) -> None:
    first = commit(repository, {"a.md": b"One\n"})
    tag = Tag()
    tag.name, tag.object, tag.tagger, tag.tag_time, tag.tag_timezone, tag.message = (
        b"v1",
        (Commit, first),
        b"A <a>",
        0,
        0,
        b"",
    )
    repository.refs[b"refs/tags/v1"] = add(repository, tag)  # type: ignore[index,assignment]
    commit(repository, {"b.md": b"Two\n"})
    commit(repository, {"c.md": b"Three\n"}, ref=b"refs/heads/topic/x")

    for revision in ("v1", "refs/tags/v1", first.decode(), first[:8].decode()):
        assert paths(repository.path, revision) == ["a.md"]
    assert paths(repository.path) == paths(repository.path, "@") == paths(repository.path, "main") == ["b.md"]
    assert paths(repository.path, "topic/x") == ["c.md"]


@pytest.mark.parametrize("revision", ["nothing", "", "0" * 40, "deadbeef", "-x", "a b", "ä", "a//b", "main:a.md", "\0"])
def test_an_unknown_revision_is_refused(repository: Repo, revision: str) -> None:
    commit(repository, {"a.md": b"One\n"})
    with pytest.raises(CommandFailed, match="has no revision"):
        read_revision(Path(repository.path), revision)


def test_a_repository_without_a_commit_has_no_revision(repository: Repo) -> None:
    with pytest.raises(CommandFailed, match="has no revision HEAD"):
        read_revision(Path(repository.path), "HEAD")


def test_files_are_found_as_in_a_folder(repository: Repo) -> None:
    commit(
        repository,
        {
            "b.md": b"B\r\n",
            "a.MDC": b"A\n",
            "notes.txt": b"no\n",
            ".hidden.md": b"no\n",
            ".github": {"c.md": b"no\n"},
            unicodedata.normalize("NFD", "é"): {"z.md": "Ä\n".encode()},
        },
    )
    assert list(read_revision(Path(repository.path), "HEAD")) == [
        Found("a.MDC", "A\n"),
        Found("b.md", "B\r\n"),
        Found("é/z.md", "Ä\n"),
    ]


def test_what_was_committed_is_not_ignored(repository: Repo) -> None:
    commit(repository, {".gitignore": b"*.md\n", "a.md": b"A\n"})
    assert paths(repository.path) == ["a.md"]


def test_symlinks_and_submodules_are_passed_over(repository: Repo) -> None:
    target = add(repository, Blob.from_string(b"b.md"))
    commit(repository, {"a.md": (SYMLINK, target), "b.md": b"B\n", "sub.md": (SUBMODULE, b"1" * 40)})
    assert paths(repository.path) == ["b.md"]


def test_what_cannot_be_taken_is_told_apart(repository: Repo) -> None:
    commit(
        repository,
        {"latin.md": b"\xc4\n", "\udcff.md": b"A\n", "gone.md": (FILE, b"1" * 40), "gone": (FOLDER, b"2" * 40)},
    )
    found = {
        item.path: item.code for item in read_revision(Path(repository.path), "HEAD") if isinstance(item, Unreadable)
    }
    assert found == {"latin.md": NOT_UTF8, "\udcff.md": NOT_UTF8, "gone.md": UNREADABLE, "gone": UNREADABLE}


def test_a_manifest_names_what_nobody_would_find(repository: Repo) -> None:
    also = ["Makefile", ".github/b.md", "a.md", "gone", "link"]
    fields = {"format": "canonry-export/1", "scope": "org", "commit_id": "c", "tree_id": "t", "also": also}
    target = add(repository, Blob.from_string(b"a.md"))
    commit(
        repository,
        {
            "a.md": b"A\n",
            "Makefile": b"all:\n",
            ".github": {"b.md": b"B\n"},
            "link": (SYMLINK, target),
            MANIFEST: json.dumps(fields).encode(),
        },
    )
    assert paths(repository.path) == ["a.md", "Makefile", ".github/b.md"]


def test_a_folder_of_a_working_tree_is_read_alone(tmp_path: Path) -> None:
    with Repo.init(str(tmp_path), default_branch=b"main") as repository:
        commit(repository, {"a.md": b"A\n", "docs": {"b.md": b"B\n", "x": {"c.md": b"C\n"}}})
    (tmp_path / "docs" / "x").mkdir(parents=True)
    (tmp_path / "new").mkdir()
    assert paths(tmp_path / "docs") == ["b.md", "x/c.md"]
    assert paths(tmp_path / "docs" / "x") == ["c.md"]
    with pytest.raises(CommandFailed, match="is no folder at HEAD"):
        read_revision(tmp_path / "new", "HEAD")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Path.exists, "does not exist"),
        (Path.touch, "is not a folder"),
        (Path.mkdir, "is not in a git repository"),
    ],
)
def test_a_path_without_a_repository_is_refused(tmp_path: Path, make: Callable[[Path], object], sentence: str) -> None:
    make(tmp_path / "x")
    with pytest.raises(CommandFailed, match=sentence):
        read_revision(tmp_path / "x", "HEAD")


def test_a_damaged_repository_is_refused(repository: Repo) -> None:
    commit(repository, {"a.md": b"A\n"})
    shutil.rmtree(Path(repository.controldir()) / "objects")
    (Path(repository.controldir()) / "objects").mkdir()
    with pytest.raises(CommandFailed, match="has no revision"):
        read_revision(Path(repository.path), "HEAD")
