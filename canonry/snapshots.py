"""Versions as they came over the wire, and every hash of them recomputed."""

import re
from collections.abc import Iterable
from typing import TypeVar

from canonry.failures import CommandFailed
from canonry.refusals import Refused
from canonry.remote import Remote
from models.errors import NotFound
from models.rules.hashes import CommitFields, blob_id, commit_id, entry_digest, selection_body, tree_id_of_entries
from models.schemas.commits import BlobBody, CommitBody, Delta, Snapshot, TreeBody

_COMMIT_ID = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")


def fetch_commit(remote: Remote, wanted: str) -> CommitBody:
    """A commit without its tree: what the delta from itself says.

    Raises:
        CommandFailed: there is no such commit, or what came is not it.
    """
    commit = _fetched(remote, wanted, "/delta", Delta, base=wanted).commit
    if not wanted == commit.commit_id == commit_id(CommitFields.of(dict(commit))):
        raise _is_another(remote, wanted, f"the commit {commit.commit_id} has another hash")
    return commit


def fetch_snapshot(remote: Remote, wanted: str) -> Snapshot:
    """A whole version, of which every hash is that of what came.

    Args:
        remote: the server.
        wanted: the commit's id.

    Raises:
        CommandFailed: there is no such commit, or what came is not it.
    """
    snapshot = _fetched(remote, wanted, "", Snapshot)
    wrong = _what_differs(snapshot, wanted, snapshot.blobs)
    if wrong is not None:
        raise _is_another(remote, wanted, wrong)
    return snapshot


def fetch_next(remote: Remote, known: Snapshot, wanted: str) -> Snapshot:
    """Another version of the chain of one that is known, by what differs; checked as a whole one is.

    Raises:
        CommandFailed: there is no such commit in the chain, or what came does not make it of the known one.
    """
    delta = _fetched(remote, wanted, "/delta", Delta, base=known.commit.commit_id)
    snapshot = applied(known, delta)
    wrong = _what_differs(snapshot, wanted, delta.blobs)
    if wrong is not None:
        raise _is_another(remote, wanted, wrong)
    return snapshot


def applied(known: Snapshot, delta: Delta) -> Snapshot:
    """The version that a delta makes of its base, without the texts that only the base has."""
    entries = {entry.id: entry for entry in known.tree.entries}
    for entry_id in delta.removed:
        entries.pop(entry_id, None)
    entries |= {entry.id: entry for entry in delta.upserted}
    used = {entry.blob_id for entry in entries.values()}
    texts = {blob.blob_id: blob for blob in [*known.blobs, *delta.blobs] if blob.blob_id in used}
    return Snapshot(
        commit=delta.commit,
        tree=TreeBody(tree_id=delta.tree_id, entries=[entries[each] for each in sorted(entries)]),
        blobs=list(texts.values()),
        project_org_selection=delta.project_org_selection,
    )


def _fetched(remote: Remote, wanted: str, what: str, shape: type[T], **query: str) -> T:
    missing = CommandFailed(f"There is no commit {wanted} for this token.")
    if not _COMMIT_ID.fullmatch(wanted):
        raise missing
    try:
        return remote.get(f"/commits/{wanted}{what}", shape, **query)
    except Refused as refusal:
        if refusal.code == NotFound.code:
            raise missing from refusal
        raise


def _is_another(remote: Remote, wanted: str, wrong: str) -> CommandFailed:
    return CommandFailed(f"What {remote.url} sent is not commit {wanted}: {wrong}.")


def _what_differs(snapshot: Snapshot, wanted: str, came: Iterable[BlobBody]) -> str | None:
    """From the texts that came up: their ids, the tree of them, and the commit of the tree with who, when and why."""
    commit, tree = snapshot.commit, snapshot.tree
    for blob in came:
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
