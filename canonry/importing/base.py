"""Which commit an exported folder is compared with: the one it was exported from, or was imported as since."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel

from canonry.documents.folder import folder_manifest
from canonry.documents.manifest import Manifest, amend_manifest
from canonry.documents.repository import revision_manifest
from canonry.failures import CommandFailed
from canonry.importing.options import ImportOptions
from canonry.importing.survey import Survey
from canonry.refusals import Refused
from canonry.remote import Remote
from canonry.snapshots import fetch_snapshot
from models.rules.hashes import content_hash
from models.schemas.commits import CommitBody, CommitState, Snapshot


@dataclass(frozen=True, slots=True)
class Base:
    """The commit to compare with, None where none is known; `imported` says that the folder was imported as it."""

    commit_id: str | None
    imported: bool = False


class _Whose(BaseModel):
    """Of a snapshot, what says to whom it belongs."""

    commit: CommitBody


def find_base(remote: Remote, options: ImportOptions) -> Base:
    """The commit that the manifest names, or the current one where that is exactly what the folder last had.

    Then that is written into the manifest, so that it stays the base when others publish; a dry run writes nothing.

    Raises:
        CommandFailed: the manifest is none, or the server's answers cannot be had or trusted.
    """
    if options.revision is not None:
        manifest = revision_manifest(options.path, options.revision)
    else:
        manifest = folder_manifest(options.path)
    if manifest is None:
        return Base(None)
    current = _imported_as(remote, manifest) if _stands_for_its_folder(options) else None
    if current is None:
        return Base(manifest.commit_id)
    if not options.dry_run:
        changes = {"commit_id": current.commit_id, "tree_id": current.tree_id}
        amend_manifest(options.path, manifest, changes)
    return Base(current.commit_id, imported=True)


def remember_import(options: ImportOptions, found: Survey) -> None:
    """Note in the manifest of an exported folder what was imported of it, all of which was taken."""
    if not _stands_for_its_folder(options):
        return
    with suppress(CommandFailed):  # the import has ended well, whatever has become of the manifest meanwhile
        manifest = folder_manifest(options.path)
        if manifest is not None:
            amend_manifest(options.path, manifest, {"imported": survey_digest(found)})


def survey_digest(found: Survey) -> str:
    """Equal for equal documents: their paths, bodies and descriptions, none being the empty one."""
    return _digest(
        (path, file.content_hash, file.description or "")
        for path, file in found.files.items()
        if file.content_hash is not None
    )


def snapshot_digest(snapshot: Snapshot) -> str:
    """The digest of a survey of exactly these Memories."""
    hashes = {blob.blob_id: content_hash(blob.content) for blob in snapshot.blobs}
    return _digest(
        (entry.path, hashes[entry.blob_id], entry.description)
        for entry in snapshot.tree.entries
        if entry.path is not None
    )


def _digest(documents: Iterable[tuple[str, str, str]]) -> str:
    digest = hashlib.sha256()
    for document in sorted(documents):
        digest.update(json.dumps(document).encode() + b"\n")
    return digest.hexdigest()


def _stands_for_its_folder(options: ImportOptions) -> bool:
    """Whether the documents go to the paths that they have in the folder, from the files that are there."""
    return options.revision is None and not options.prefix


def _imported_as(remote: Remote, manifest: Manifest) -> CommitBody | None:
    """The current commit of what was exported, if it is another by now and holds just what was last imported."""
    if manifest.imported is None:
        return None
    try:
        current = remote.get(f"{_owner(remote, manifest)}/commit-state", CommitState).latest
    except Refused:  # another organization's commit, or a project that the token does not see
        return None
    if current is None or current.commit_id == manifest.commit_id:
        return None
    snapshot = fetch_snapshot(remote, current.commit_id)
    return current if snapshot_digest(snapshot) == manifest.imported else None


def _owner(remote: Remote, manifest: Manifest) -> str:
    if manifest.scope == "org":
        return "/org"
    return f"/projects/{remote.get(f'/commits/{manifest.commit_id}', _Whose).commit.project_id}"
