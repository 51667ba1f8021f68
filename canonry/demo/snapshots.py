"""What a project reads, and every hash of it recomputed from what came over the wire."""

from dataclasses import dataclass

from canonry.failures import CommandFailed
from canonry.remote import Remote
from canonry.snapshots import fetch_snapshot
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
    return Reading(fetch_snapshot(remote, state.latest.commit_id))
