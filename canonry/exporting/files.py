"""A snapshot as files: each Memory at its path, and a manifest of what it all is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from canonry.documents.front_matter import render_document
from canonry.documents.manifest import MANIFEST, Manifest
from canonry.documents.overlooking import IGNORE_FILE, overlooked
from canonry.failures import CommandFailed
from canonry.wording import printable
from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.paths import accept_path, ancestor_keys, path_key
from models.schemas.commits import CommitBody, Snapshot, TreeEntry

# A file there would be a command to git, not a document; the second is how old Windows file systems know the first.
_GIT_FOLDERS = frozenset({".git", "git~1"})


@dataclass(frozen=True, slots=True)
class File:
    """A file to write, whose text is made when it is asked for; files of equal `identity` have equal texts."""

    path: str
    identity: tuple[str, ...]
    make: Callable[[], str]

    @property
    def data(self) -> bytes:
        """What stands in the file."""
        return self.make().encode()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A Memory that has no file, and why."""

    memory_id: str
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{printable(self.path)} ({self.memory_id}) is left out: {self.reason}."


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a snapshot, in order of paths, the manifest last; of how many Memories, and what is left out."""

    files: Iterator[File]
    memories: int
    left_out: Sequence[LeftOut]


def files_of(snapshot: Snapshot, *, plain: bool) -> Files:
    """Every Memory of the snapshot, those whose paths mean something to git or to us as left out.

    Args:
        snapshot: what is exported.
        plain: bodies alone.

    Raises:
        CommandFailed: paths that no disk could hold, before the first file.
    """
    entries = sorted((entry for entry in snapshot.tree.entries if entry.path is not None), key=_path)
    _require_writable([_path(entry) for entry in entries])
    reasons = {entry.id: reason for entry in entries if (reason := _what_it_would_be(_path(entry)))}
    return Files(
        _files(snapshot, [entry for entry in entries if entry.id not in reasons], plain=plain),
        len(entries) - len(reasons),
        [LeftOut(entry.id, _path(entry), reasons[entry.id]) for entry in entries if entry.id in reasons],
    )


def _files(snapshot: Snapshot, entries: list[TreeEntry], *, plain: bool) -> Iterator[File]:
    texts = {blob.blob_id: blob.content for blob in snapshot.blobs}
    files = [_file(entry, texts[entry.blob_id], plain=plain) for entry in entries]
    yield from files
    yield _manifest(snapshot.commit, files)


def _file(entry: TreeEntry, body: str, *, plain: bool) -> File:
    if plain:
        return File(_path(entry), (entry.blob_id,), lambda: body)
    return File(
        _path(entry),
        (entry.id, entry.description, entry.blob_id),
        lambda: render_document(memory_id=MemoryId(entry.id), description=entry.description, body=body),
    )


def _manifest(commit: CommitBody, files: list[File]) -> File:
    """What leads an import to every document."""
    split = [(file, *file.path.rpartition("/")) for file in files]
    ignore_files = {folder: file.make() for file, folder, _, name in split if name == IGNORE_FILE}
    manifest = Manifest(
        scope=commit.scope,
        commit_id=commit.commit_id,
        tree_id=commit.tree_id,
        also=overlooked((file.path for file in files), ignore_files),
    )
    return File(MANIFEST, (commit.commit_id,), lambda: manifest.model_dump_json(indent=2, exclude_none=True) + "\n")


def _path(entry: TreeEntry) -> str:
    return entry.path or ""


def _require_writable(paths: list[str]) -> None:
    """Refuse paths that no disk could hold together; a server sends none, and is not believed."""
    keys = {path_key(path) for path in paths}
    for path in paths:
        key = path_key(path)
        if not _is_accepted(path) or len(keys) < len(paths) or not keys.isdisjoint(ancestor_keys(key)):
            raise CommandFailed(f"A path of the snapshot cannot be written: {path!a}.")


def _what_it_would_be(path: str) -> str:
    """Why a path is left to others; empty where it is a document's."""
    parts = path_key(path).split("/")
    if parts[0] == MANIFEST:
        return "it has the name of the export's own file"
    if not _GIT_FOLDERS.isdisjoint(parts):
        return "it would be part of git's own files"
    return ""


def _is_accepted(path: str) -> bool:
    try:
        return accept_path(path) == path
    except OperationInvalid:
        return False
