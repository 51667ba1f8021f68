"""Which snapshot is exported, as the server has it, and whether it is whole."""

import re
from collections.abc import Iterator

from canonry.failures import CommandFailed
from canonry.importing.projects import Project, listed, named
from canonry.remote import Refused, Remote
from models.rules.hashes import blob_id, entry_digest, tree_id_of_entries
from models.schemas.commits import CommitBody, CommitState, Snapshot

_COMMIT_ID = re.compile(r"[0-9a-f]{64}")


def choose_snapshot(remote: Remote, *, project: str | None, commit: str | None) -> Snapshot:
    """The commit that is given, else the current one of the project, else that of the organization.

    Raises:
        CommandFailed: there is none, or it is not the project's.
    """
    if project is None:
        return fetch_snapshot(remote, commit or _current(remote, "/org", "The organization"))
    chosen = _project(remote, project)
    if commit is None:
        commit = _current(remote, f"/projects/{chosen.project_id}", f"The project {chosen.slug}")
    snapshot = fetch_snapshot(remote, commit)
    if snapshot.commit.project_id != chosen.project_id:
        raise CommandFailed(f"Commit {commit} is none of the project {chosen.slug}.")
    return snapshot


def fetch_snapshot(remote: Remote, commit_id: str) -> Snapshot:
    """A whole version; its texts and entries are what the commit says.

    Raises:
        CommandFailed: there is no such commit, or what came is not it.
    """
    missing = CommandFailed(f"There is no commit {commit_id} for this token.")
    if not _COMMIT_ID.fullmatch(commit_id):
        raise missing
    try:
        snapshot = remote.get(f"/commits/{commit_id}", Snapshot)
    except Refused as refusal:
        if refusal.code == "not_found":
            raise missing from refusal
        raise
    if not _is_whole(snapshot, commit_id):
        raise CommandFailed(f"What {remote.url} sent is not commit {commit_id}: a hash differs.")
    return snapshot


def history(remote: Remote, last: CommitBody) -> list[CommitBody]:
    """The commits of a chain up to this one, oldest first."""
    owner = "/org" if last.project_id is None else f"/projects/{last.project_id}"
    newest_first: Iterator[CommitBody] = remote.items(f"{owner}/commits", CommitBody)
    return [commit for commit in newest_first if commit.version <= last.version][::-1]


def _project(remote: Remote, wanted: str) -> Project:
    known = list(remote.items("/projects", Project))
    found = named(known, wanted)
    if found is None:
        raise CommandFailed(f"There is no project {wanted} for this token ({listed(known)}).")
    return found


def _current(remote: Remote, owner: str, name: str) -> str:
    state = remote.get(f"{owner}/commit-state", CommitState)
    if state.latest is None:
        raise CommandFailed(f"{name} has published nothing yet.")
    return state.latest.commit_id


def _is_whole(snapshot: Snapshot, commit_id: str) -> bool:
    if snapshot.commit.commit_id != commit_id or any(blob.blob_id != blob_id(blob.content) for blob in snapshot.blobs):
        return False
    entries = {
        entry.id: entry_digest(
            memory_id=entry.id, path=entry.path, description=entry.description, blob_id=entry.blob_id
        )
        for entry in snapshot.tree.entries
    }
    known = {blob.blob_id for blob in snapshot.blobs}
    return (
        all(entry.blob_id in known for entry in snapshot.tree.entries)
        and tree_id_of_entries(entries) == snapshot.tree.tree_id == snapshot.commit.tree_id
    )
