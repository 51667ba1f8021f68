"""A history as a git repository, by dulwich: one commit a publication, the same ids whenever it is written."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dulwich.index import index_entry_from_stat
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from canonry.exporting.authors import author_line
from canonry.exporting.destination import write_file
from canonry.exporting.files import File
from models.schemas.commits import CommitBody

MAIN = b"main"
FILE_MODE, FOLDER_MODE = 0o100644, 0o040000
PACK_BYTES = 16 * 1024 * 1024
"""So much is kept in memory before it is written as one pack."""


@dataclass
class _Folder:
    """A folder of a tree in the making."""

    files: dict[bytes, ObjectID] = field(default_factory=dict)
    folders: dict[bytes, "_Folder"] = field(default_factory=dict)


class GitHistory:
    """A new repository with a working tree; commits are added oldest first.

    Args:
        folder: where it is made; an empty one.
        authors: author lines by user id.
    """

    def __init__(self, folder: Path, authors: Mapping[str, bytes]) -> None:
        self._folder = folder
        self._authors = authors
        self._repository = Repo.init(str(folder), default_branch=MAIN)
        self._packed = _Packer(self._repository)
        self._head: ObjectID | None = None
        self._blobs: dict[tuple[str, ...], ObjectID] = {}

    def add(self, commit: CommitBody, files: Iterable[File]) -> None:
        """Add a publication with all of its files."""
        made = Commit()
        made.tree = self._tree(files)
        made.parents = [] if self._head is None else [self._head]
        made.author = made.committer = self._authors.get(commit.created_by) or author_line(commit.created_by)
        made.author_time = made.commit_time = int(commit.created_at.timestamp())
        made.author_timezone = made.commit_timezone = 0
        made.message = f"{commit.message}\n".encode() if commit.message else b""
        self._head = self._packed.add(made)

    def finish(self, files: Iterable[File]) -> None:
        """Write what is left, and check out the last publication, whose files these are."""
        self._packed.write()
        if self._head is not None:
            self._repository.refs[Ref(b"refs/heads/" + MAIN)] = self._head
        index = self._repository.open_index()
        for file in files:
            place = write_file(self._folder, file.path, file.data)
            index[file.path.encode()] = index_entry_from_stat(os.lstat(place), self._blobs[file.identity])
        index.write()

    def close(self) -> None:
        """Give the files back."""
        self._repository.close()

    def _tree(self, files: Iterable[File]) -> ObjectID:
        root, former, self._blobs = _Folder(), self._blobs, {}
        for file in files:
            # Most files are as they were in the publication before.
            blob = former.get(file.identity) or self._packed.add(Blob.from_string(file.data))
            self._blobs[file.identity] = blob
            *above, name = file.path.encode().split(b"/")
            folder = root
            for each in above:
                folder = folder.folders.setdefault(each, _Folder())
            folder.files[name] = blob
        return self._write_folder(root)

    def _write_folder(self, folder: _Folder) -> ObjectID:
        tree = Tree()
        for name, blob in folder.files.items():
            tree.add(name, FILE_MODE, blob)
        for name, below in folder.folders.items():
            tree.add(name, FOLDER_MODE, self._write_folder(below))
        return self._packed.add(tree)


class _Packer:
    """Writes objects as packs, each object once."""

    def __init__(self, repository: Repo) -> None:
        self._repository = repository
        self._known: set[ObjectID] = set()
        self._waiting: list[tuple[ShaFile, str | None]] = []
        self._bytes = 0

    def add(self, item: ShaFile) -> ObjectID:
        """Take an object; its id."""
        if item.id not in self._known:
            self._known.add(item.id)
            self._waiting.append((item, None))
            self._bytes += item.raw_length()
            if self._bytes > PACK_BYTES:
                self.write()
        return item.id

    def write(self) -> None:
        """Write what waits."""
        self._repository.object_store.add_objects(self._waiting)
        self._waiting, self._bytes = [], 0
