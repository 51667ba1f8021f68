"""The Markdown files of a git repository at a revision; no git program and no working tree is needed."""

import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from dulwich.errors import (
    ApplyDeltaError,
    ChecksumMismatch,
    FileFormatException,
    NotGitRepository,
    ObjectMissing,
    RefFormatError,
    WrongObjectException,
)
from dulwich.object_store import tree_lookup_path
from dulwich.objects import Blob, ObjectID, SubmoduleEncountered, Tree
from dulwich.objectspec import AmbiguousShortId, parse_commit
from dulwich.repo import Repo, UnsupportedExtension, UnsupportedVersion

from canonry.documents.folder import UNREADABLE, Found, Unreadable, found, require_folder
from canonry.documents.manifest import MANIFEST, Manifest, parse_manifest
from canonry.documents.overlooking import is_hidden, is_markdown
from canonry.failures import CommandFailed

_DAMAGE = (
    *(ApplyDeltaError, ChecksumMismatch, FileFormatException, ObjectMissing, SubmoduleEncountered),
    *(WrongObjectException, AssertionError, KeyError, OSError, ValueError, zlib.error),
)
"""What dulwich raises for an object that is not there or not whole."""


def read_revision(path: Path, revision: str) -> Iterator[Found | Unreadable]:
    """Every `.md` and `.mdc` file at a branch, tag or commit, always in the same order; else as `read_folder`.

    What has been committed is not ignored by git, so `.gitignore` has no say; submodules are passed over.

    Args:
        path: a bare repository, a working tree, or a folder in one: then only this folder, its paths relative to it.
        revision: as git names it: `HEAD` or `@`, a branch, a tag, a commit id or the beginning of one.

    Raises:
        CommandFailed: no repository, no such revision, or no such folder in it; before the first file.
    """
    return _snapshot(path, revision).read()


def revision_manifest(path: Path, revision: str) -> Manifest | None:
    """What the folder at the revision was exported from, None where it was not; raises as `read_revision`."""
    snapshot = _snapshot(path, revision)
    snapshot.close()
    return snapshot.manifest


def _snapshot(path: Path, revision: str) -> "_Snapshot":
    require_folder(path)
    repository = _opened(path)
    try:
        return _Snapshot(repository, _root(repository, path, revision))
    except BaseException:
        repository.close()
        raise


def _opened(path: Path) -> Repo:
    try:
        return Repo.discover(path)
    except NotGitRepository:
        raise CommandFailed(f"{path} is not in a git repository.") from None
    except (UnsupportedExtension, UnsupportedVersion, *_DAMAGE) as error:
        raise CommandFailed(f"The git repository of {path} cannot be read: {error}.") from error


def _root(repository: Repo, path: Path, revision: str) -> ObjectID:
    """The tree of the folder at the revision."""
    try:
        revision = "HEAD" if revision == "@" else revision
        if "" in revision.split("/"):  # no name of git's, and dulwich only warns
            raise KeyError(revision)
        tree: ObjectID = parse_commit(repository, revision).tree
    except AmbiguousShortId:
        raise CommandFailed(f"{revision} is the beginning of several commits in {path}.") from None
    except (RefFormatError, *_DAMAGE):
        raise CommandFailed(f"{path} has no revision {revision}.") from None
    inside = _inside(repository, path)
    if not inside:
        return tree
    try:
        mode, folder = tree_lookup_path(repository.object_store.__getitem__, tree, inside)
    except _DAMAGE:
        mode, folder = 0, tree
    if not stat.S_ISDIR(mode):
        raise CommandFailed(f"{path} is no folder at {revision}.")
    return folder


def _inside(repository: Repo, path: Path) -> bytes:
    """The folder's path in the working tree; empty for the whole, as in a bare repository and within `.git`."""
    top, control, here = (Path(each).resolve() for each in (repository.path, repository.controldir(), path))
    if here == top or here.is_relative_to(control):
        return b""
    return bytes(here.relative_to(top))


class _Snapshot:
    """One folder of a repository at a revision."""

    def __init__(self, repository: Repo, root: ObjectID) -> None:
        self._repository = repository
        self._objects = repository.object_store
        self._root = root
        data = self._file(MANIFEST)
        self.manifest = None if data is None else parse_manifest(data, f"{MANIFEST} of the revision")

    def close(self) -> None:
        """Give the repository back without reading."""
        self._repository.close()

    def read(self) -> Iterator[Found | Unreadable]:
        """Everything, once; the repository is closed at the end."""
        with self._repository:
            listed = set[str]()
            for item in self._walk():
                if isinstance(item, Unreadable):
                    yield item
                    continue
                path, blob = item
                listed.add(path)
                yield self._read(path, blob)
            for path in () if self.manifest is None else self.manifest.also:
                if path not in listed and (also := self._find(path)) is not None:
                    yield self._read(path, also)

    def _walk(self) -> Iterator[tuple[str, ObjectID] | Unreadable]:
        """Paths and blobs of the Markdown files."""
        waiting = [("", self._root)]
        while waiting:
            folder, tree_id = waiting.pop()
            tree = self._tree(tree_id)
            if tree is None:
                yield Unreadable(folder, UNREADABLE, "The folder: it is not in the repository.", is_folder=True)
                continue
            below = []
            for entry in tree.iteritems(name_order=True):
                name = entry.path.decode(errors="surrogateescape")
                path = f"{folder}/{name}" if folder else name
                if is_hidden(name):
                    continue
                if stat.S_ISDIR(entry.mode):
                    below.append((path, entry.sha))
                elif stat.S_ISREG(entry.mode) and is_markdown(name):
                    yield path, entry.sha
            waiting += reversed(below)

    def _read(self, path: str, blob: ObjectID) -> Found | Unreadable:
        data = self._data(blob)
        return found(path, data) if data is not None else Unreadable(path, UNREADABLE, "It is not in the repository.")

    def _file(self, path: str) -> bytes | None:
        blob = self._find(path)
        return None if blob is None else self._data(blob)

    def _find(self, path: str) -> ObjectID | None:
        """The blob of a regular file at this path."""
        try:
            mode, blob = tree_lookup_path(self._objects.__getitem__, self._root, path.encode())
        except _DAMAGE:
            return None
        return blob if stat.S_ISREG(mode) else None

    def _tree(self, tree_id: ObjectID) -> Tree | None:
        try:
            tree = self._objects[tree_id]
        except _DAMAGE:
            return None
        return tree if isinstance(tree, Tree) else None

    def _data(self, blob_id: ObjectID) -> bytes | None:
        try:
            blob = self._objects[blob_id]
        except _DAMAGE:
            return None
        return blob.data if isinstance(blob, Blob) else None
