"""Which commit an exported folder is compared with: the one it was exported from, or was imported as since."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel

from canonry.documents.folder import folder_manifest
from canonry.documents.manifest import Manifest, amend_manifest
from canonry.documents.repository import revision_manifest
from canonry.failures import CommandFailed
from canonry.importing.options import ImportOptions
from canonry.importing.survey import Survey
from canonry.importing.taken import is_only_taken, taken_of
from canonry.refusals import Refused
from canonry.remote import Remote
from canonry.snapshots import fetch_next, fetch_snapshot
from models.schemas.commits import CommitBody, CommitState, Snapshot


@dataclass(frozen=True, slots=True)
class Base:
    """The commit to compare with, None where none is known; `imported` says that the folder was imported as it."""

    commit_id: str | None
    imported: bool = False


class _Whose(BaseModel):
    """Of a version, what says to whom it belongs."""

    commit: CommitBody


def find_base(remote: Remote, options: ImportOptions, found: Survey) -> Base:
    """The commit that the manifest names, or the current one where it differs by what was taken of the folder alone.

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
    current = _imported_as(remote, manifest, found) if _stands_for_its_folder(options) else None
    if current is None:
        return Base(manifest.commit_id)
    if not options.dry_run:
        changes = {"commit_id": current.commit_id, "tree_id": current.tree_id}
        amend_manifest(options.path, manifest, changes)
    return Base(current.commit_id, imported=True)


def remember_import(options: ImportOptions, found: Survey, left_out: Collection[str]) -> None:
    """Note in the manifest of an exported folder what was imported of it, file by file.

    Args:
        options: of the import that has ended.
        found: what was in the folder.
        left_out: the paths of files that were not taken.
    """
    if not _stands_for_its_folder(options):
        return
    with suppress(CommandFailed):  # the import has ended well, whatever has become of the manifest meanwhile
        manifest = folder_manifest(options.path)
        if manifest is not None:
            amend_manifest(options.path, manifest, {"taken": {**taken_of(found, left_out, manifest.taken or {})}})


def _stands_for_its_folder(options: ImportOptions) -> bool:
    """Whether the documents go to the paths that they have in the folder, from the files that are there."""
    return options.revision is None and not options.prefix


def exported_version(remote: Remote, commit_id: str) -> Snapshot | None:
    """What a folder was exported from, None where the server does not know it, or not for this token.

    Raises:
        CommandFailed: what came is not it.
    """
    return None if _known(remote, commit_id) is None else fetch_snapshot(remote, commit_id)


def _imported_as(remote: Remote, manifest: Manifest, found: Survey) -> CommitBody | None:
    """The current commit of what was exported, if it is another by now that differs by what was imported alone."""
    if not manifest.taken:
        return None
    known = _known(remote, manifest.commit_id)
    if known is None and manifest.scope == "project":
        return None
    owner = "/org" if known is None or known.project_id is None else f"/projects/{known.project_id}"
    try:
        current = remote.get(f"{owner}/commit-state", CommitState).latest
    except Refused:
        return None
    if current is None or current.commit_id == manifest.commit_id:
        return None
    then = None if known is None else fetch_snapshot(remote, known.commit_id)
    now = fetch_snapshot(remote, current.commit_id) if then is None else fetch_next(remote, then, current.commit_id)
    return current if is_only_taken(then, now, manifest.taken, found) else None


def _known(remote: Remote, commit_id: str) -> CommitBody | None:
    """A commit without its texts; None: another organization's, or of a project that the token does not see."""
    try:
        return remote.get(f"/commits/{commit_id}/delta", _Whose, base=commit_id).commit
    except Refused:
        return None
