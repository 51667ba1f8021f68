"""A snapshot as files: each Memory at its path, and a manifest of what it all is."""

from collections.abc import Iterator
from dataclasses import dataclass

from canonry.documents.front_matter import render_document
from canonry.documents.manifest import MANIFEST, Manifest
from canonry.documents.overlooking import IGNORE_FILE, overlooked
from canonry.failures import CommandFailed
from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.paths import accept_path, ancestor_keys, path_key
from models.schemas.commits import Snapshot, TreeEntry

# A file there would be a command to git, not a document; the second is how old Windows file systems know the first.
_GIT_FOLDERS = frozenset({".git", "git~1"})


@dataclass(frozen=True, slots=True)
class File:
    """A file to write; `entry` is None for the manifest."""

    path: str
    data: bytes
    entry: TreeEntry | None


def files_of(snapshot: Snapshot, *, plain: bool) -> Iterator[File]:
    """Every file of the snapshot, in order of paths, the manifest last.

    Args:
        snapshot: what is exported.
        plain: bodies alone.

    Raises:
        CommandFailed: a path that may not be written, before the first file.
    """
    entries = sorted((entry for entry in snapshot.tree.entries if entry.path is not None), key=_path)
    _require_writable([_path(entry) for entry in entries])
    return _files(snapshot, entries, plain=plain)


def _files(snapshot: Snapshot, entries: list[TreeEntry], *, plain: bool) -> Iterator[File]:
    texts = {blob.blob_id: blob.content for blob in snapshot.blobs}
    ignore_files: dict[str, str] = {}
    for entry in entries:
        path, text = _path(entry), texts[entry.blob_id]
        if not plain:
            text = render_document(memory_id=MemoryId(entry.id), description=entry.description, body=text)
        folder, _, name = path.rpartition("/")
        if name == IGNORE_FILE:
            ignore_files[folder] = text
        yield File(path, text.encode(), entry)
    manifest = Manifest(
        scope=snapshot.commit.scope,
        commit_id=snapshot.commit.commit_id,
        tree_id=snapshot.commit.tree_id,
        also=overlooked((_path(entry) for entry in entries), ignore_files),
    )
    yield File(MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n", None)


def _path(entry: TreeEntry) -> str:
    return entry.path or ""


def _require_writable(paths: list[str]) -> None:
    """Refuse paths that no disk could hold together, and those that mean something to git or to us.

    A server sends none of the former; what is written by its word is checked all the same.
    """
    keys = {path_key(path) for path in paths}
    for path in paths:
        key = path_key(path)
        if not _is_accepted(path) or len(keys) < len(paths) or not keys.isdisjoint(ancestor_keys(key)):
            raise CommandFailed(f"A path of the snapshot cannot be written: {path!a}.")
        if not _GIT_FOLDERS.isdisjoint(key.split("/")):
            raise CommandFailed(f"{path} would be part of git's own files; rename it before exporting.")
        if key.split("/")[0] == MANIFEST:
            raise CommandFailed(f"{path} has the name of the export's own file; rename it before exporting.")


def _is_accepted(path: str) -> bool:
    try:
        return accept_path(path) == path
    except OperationInvalid:
        return False
