"""Which version is exported."""

from collections.abc import Iterator

from canonry.failures import CommandFailed
from canonry.projects import named, unknown
from canonry.remote import Remote
from canonry.snapshots import fetch_commit
from models.schemas.commits import CommitBody, CommitState
from models.schemas.tenancy import ProjectView


def choose_commit(remote: Remote, *, project: str | None, commit: str | None) -> CommitBody:
    """The commit that is given, else the current one of the project, else that of the organization.

    Raises:
        CommandFailed: there is none, or it is not the project's.
    """
    if project is None:
        return _current(remote, "/org", "The organization") if commit is None else fetch_commit(remote, commit)
    chosen = _project(remote, project)
    if commit is None:
        return _current(remote, f"/projects/{chosen.project_id}", f"The project {chosen.slug}")
    found = fetch_commit(remote, commit)
    if found.project_id != chosen.project_id:
        raise CommandFailed(f"Commit {commit} is none of the project {chosen.slug}.")
    return found


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


def _current(remote: Remote, owner: str, name: str) -> CommitBody:
    state = remote.get(f"{owner}/commit-state", CommitState)
    if state.latest is None:
        raise CommandFailed(f"{name} has published nothing yet.")
    return state.latest
