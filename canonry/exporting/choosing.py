"""Which snapshot is exported."""

from collections.abc import Iterator

from canonry.failures import CommandFailed
from canonry.projects import named, unknown
from canonry.remote import Remote
from canonry.snapshots import fetch_snapshot
from models.schemas.commits import CommitBody, CommitState, Snapshot
from models.schemas.tenancy import ProjectView


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


def history(remote: Remote, last: CommitBody) -> list[CommitBody]:
    """The commits of a chain up to this one, oldest first."""
    owner = "/org" if last.project_id is None else f"/projects/{last.project_id}"
    newest_first: Iterator[CommitBody] = remote.items(f"{owner}/commits", CommitBody)
    return [commit for commit in newest_first if commit.version <= last.version][::-1]


def _project(remote: Remote, wanted: str) -> ProjectView:
    known = list(remote.items("/projects", ProjectView))
    found = named(known, wanted)
    if found is None:
        raise CommandFailed(unknown(known, wanted))
    return found


def _current(remote: Remote, owner: str, name: str) -> str:
    state = remote.get(f"{owner}/commit-state", CommitState)
    if state.latest is None:
        raise CommandFailed(f"{name} has published nothing yet.")
    return state.latest.commit_id
