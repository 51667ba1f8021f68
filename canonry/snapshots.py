"""Versions as they came over the wire, and every hash of them recomputed."""

import re

from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import NotFound
from models.rules.hashes import CommitFields, blob_id, commit_id, entry_digest, selection_body, tree_id_of_entries
from models.schemas.commits import Snapshot

_COMMIT_ID = re.compile(r"[0-9a-f]{64}")


def fetch_snapshot(remote: Remote, wanted: str) -> Snapshot:
    """A whole version, of which every hash is that of what came.

    Args:
        remote: the server.
        wanted: the commit's id.

    Raises:
        CommandFailed: there is no such commit, or what came is not it.
    """
    missing = CommandFailed(f"There is no commit {wanted} for this token.")
    if not _COMMIT_ID.fullmatch(wanted):
        raise missing
    try:
        snapshot = remote.get(f"/commits/{wanted}", Snapshot)
    except Refused as refusal:
        if refusal.code == NotFound.code:
            raise missing from refusal
        raise
    wrong = _what_differs(snapshot, wanted)
    if wrong is not None:
        raise CommandFailed(f"What {remote.url} sent is not commit {wanted}: {wrong}.")
    return snapshot


def _what_differs(snapshot: Snapshot, wanted: str) -> str | None:
    """From the texts up: their ids, the tree of them, and the commit of the tree with who, when and why."""
    commit, tree = snapshot.commit, snapshot.tree
    for blob in snapshot.blobs:
        if blob.blob_id != blob_id(blob.content):
            return f"the text {blob.blob_id} hashes to {blob_id(blob.content)}"
    missing = {entry.blob_id for entry in tree.entries} - {blob.blob_id for blob in snapshot.blobs}
    if missing:
        return f"the text {min(missing)} is left out"
    if not tree.tree_id == commit.tree_id == _tree_id(snapshot):
        return f"the tree {commit.tree_id} hashes to {_tree_id(snapshot)}"
    found = commit_id(CommitFields.of(dict(commit)))
    if not wanted == commit.commit_id == found:
        return f"the commit {commit.commit_id} hashes to {found}"
    return None if _is_selection_told(snapshot) else "its selection is another one"


def _tree_id(snapshot: Snapshot) -> str:
    digests = {
        entry.id: entry_digest(
            memory_id=entry.id, path=entry.path, description=entry.description, blob_id=entry.blob_id
        )
        for entry in snapshot.tree.entries
    }
    return tree_id_of_entries(digests)


def _is_selection_told(snapshot: Snapshot) -> bool:
    """Whether the selection beside the tree is the one in it."""
    stored = [entry.blob_id for entry in snapshot.tree.entries if entry.type == "project_org_selection"]
    told = snapshot.project_org_selection
    return stored == ([] if told is None else [blob_id(selection_body(told.resource_ids))])
