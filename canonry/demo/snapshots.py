"""What a project reads, and every hash of it recomputed from what came over the wire."""

from dataclasses import dataclass

from canonry.failures import CommandFailed
from canonry.remote import Remote
from models.identifiers import CommitId, OrganizationId, ProjectId, ReviewId, TreeId, UserId
from models.rules.hashes import (
    CommitFields,
    blob_id,
    commit_id,
    entry_digest,
    selection_body,
    tree_id_of_entries,
)
from models.schemas.commits import CommitBody, CommitState, Snapshot


@dataclass(frozen=True)
class Reading:
    """A project's current version, whole and checked."""

    snapshot: Snapshot

    @property
    def commit(self) -> CommitBody:
        """The version."""
        return self.snapshot.commit

    @property
    def paths(self) -> dict[str, str]:
        """Where each Memory stands, by id."""
        return {entry.id: entry.path for entry in self.snapshot.tree.entries if entry.path is not None}

    @property
    def texts(self) -> dict[str, str]:
        """Each Memory's text, by id."""
        contents = {blob.blob_id: blob.content for blob in self.snapshot.blobs}
        return {entry.id: contents[entry.blob_id] for entry in self.snapshot.tree.entries if entry.path is not None}

    def at(self, path: str) -> str:
        """The id of the Memory at a path.

        Raises:
            CommandFailed: there is none.
        """
        for memory_id, known in self.paths.items():
            if known == path:
                return memory_id
        raise CommandFailed(
            f"{path} is not there any more; the demonstration needs it. Use another folder: --data DIR."
        )


def read_snapshot(remote: Remote, project_id: str) -> Reading:
    """What the project reads now.

    Raises:
        CommandFailed: it reads nothing yet, or a hash is not that of what it claims to be.
    """
    state = remote.get(f"/projects/{project_id}/commit-state", CommitState)
    if state.latest is None:
        raise CommandFailed(f"The project {project_id} has no version yet.")
    snapshot = remote.get(f"/commits/{state.latest.commit_id}", Snapshot)
    _recompute(snapshot)
    return Reading(snapshot)


def _recompute(snapshot: Snapshot) -> None:
    """Every text's id, the tree's from texts, paths and descriptions, the commit's from the tree and who, when, why."""
    for blob in snapshot.blobs:
        _require_equal(blob.blob_id, blob_id(blob.content))
    missing = {entry.blob_id for entry in snapshot.tree.entries} - {blob.blob_id for blob in snapshot.blobs}
    if missing:
        raise CommandFailed(f"The server left out the text {min(missing)}.")
    entries = {
        entry.id: entry_digest(
            memory_id=entry.id, path=entry.path, description=entry.description, blob_id=entry.blob_id
        )
        for entry in snapshot.tree.entries
    }
    _require_equal(snapshot.tree.tree_id, tree_id_of_entries(entries))
    _require_equal(snapshot.commit.tree_id, snapshot.tree.tree_id)
    _require_equal(snapshot.commit.commit_id, commit_id(_fields(snapshot.commit)))
    if snapshot.project_org_selection is not None:
        listed = blob_id(selection_body(snapshot.project_org_selection.resource_ids))
        _require_equal(next(e.blob_id for e in snapshot.tree.entries if e.path is None), listed)


def _require_equal(claimed: str, computed: str) -> None:
    if claimed != computed:
        raise CommandFailed(f"The server says {claimed}, but its content hashes to {computed}.")


def _fields(commit: CommitBody) -> CommitFields:
    return CommitFields(
        scope=commit.scope,
        org_id=OrganizationId(commit.org_id),
        project_id=None if commit.project_id is None else ProjectId(commit.project_id),
        version=commit.version,
        parent_commit_id=None if commit.parent_commit_id is None else CommitId(commit.parent_commit_id),
        tree_id=TreeId(commit.tree_id),
        message=commit.message,
        review_id=None if commit.review_id is None else ReviewId(commit.review_id),
        created_by=UserId(commit.created_by),
        created_at=commit.created_at,
        org_commit_id=None if commit.org_commit_id is None else CommitId(commit.org_commit_id),
        selection_revision=commit.selection_revision,
    )
