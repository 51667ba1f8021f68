"""Commits: where each chain stands, its commits, and complete snapshots (publication.md §5)."""

from api.answers import API, Answer, answer, etag
from api.calls import Read
from api.headers import is_not_modified
from api.lookups import find_project
from api.paging import Paging
from api.positions import after_version
from api.routing import Routes
from models.errors import NotFound
from models.identifiers import ProjectId
from models.schemas.commits import NO_COMMIT, CommitBody, CommitState, CommitStateQuery, RefBody, Snapshot
from models.schemas.common import ListQuery, NoParameters, Page
from models.store.chains import Head, organization_head, project_head
from models.store.chains import list_commits as commits_of
from models.store.commits import read_commit
from models.store.snapshots import snapshot_json

FOR_EVER = "private, max-age=31536000, immutable"
NOT_MODIFIED = 304

routes = Routes("commits")


@routes.read("/org/commit-state", answers=CommitState, query=CommitStateQuery, conditional=True)
def get_org_commit_state(call: Read) -> Answer:
    """Where the organization stands, and whether the caller's copy is behind."""
    query = call.query(CommitStateQuery)
    return _state(call, organization_head(call.connection, call.principal.org_id), query)


@routes.read("/projects/{project_id}/commit-state", answers=CommitState, query=CommitStateQuery, conditional=True)
def get_project_commit_state(call: Read, project_id: str) -> Answer:
    """Where a project's projection stands, and whether the caller's copy is behind."""
    access = find_project(call, project_id)
    query = call.query(CommitStateQuery)
    return _state(call, project_head(call.connection, call.principal.org_id, access.project_id), query)


@routes.read("/org/commits", answers=Page[CommitBody], query=ListQuery)
def list_org_commits(call: Read) -> Answer:
    """The organization's commits, newest first."""
    return _page(call, None)


@routes.read("/projects/{project_id}/commits", answers=Page[CommitBody], query=ListQuery)
def list_project_commits(call: Read, project_id: str) -> Answer:
    """A project's commits, newest first."""
    return _page(call, find_project(call, project_id).project_id)


@routes.read("/commits/{commit_id}", answers=Snapshot, conditional=True)
def get_commit(call: Read, commit_id: str) -> Answer:
    """A commit with its whole tree and every text in it; it never changes and may be cached for ever."""
    commit = read_commit(call.connection, call.principal.org_id, commit_id)
    if commit is None:
        raise NotFound("There is no such commit.")
    if commit["project_id"] is not None:
        find_project(call, commit["project_id"], asked_for="commit")
    call.query(NoParameters)
    headers = {"ETag": etag(commit_id), "Cache-Control": FOR_EVER}
    if is_not_modified(call.incoming.headers, commit_id):
        return Answer(NOT_MODIFIED, None, headers)
    return Answer(200, snapshot_json(call.connection, commit), headers)


def _state(call: Read, head: Head, query: CommitStateQuery) -> Answer:
    tag = head.commit_id or NO_COMMIT
    if is_not_modified(call.incoming.headers, tag):
        return Answer(NOT_MODIFIED, None, {"ETag": etag(tag)})
    is_behind = head.commit_id != query.local_commit_id
    state = CommitState(
        ref=RefBody(name="refs/heads/main", commit_id=head.commit_id, updated_at=head.updated_at),
        latest=_commit(call, head),
        update_available=is_behind,
        download_url=f"{API}/commits/{head.commit_id}" if head.commit_id is not None and is_behind else None,
        incremental_supported=False,
    )
    return Answer(200, state.model_dump_json().encode(), {"ETag": etag(tag)})


def _commit(call: Read, head: Head) -> CommitBody | None:
    if head.commit_id is None:
        return None
    commit = read_commit(call.connection, call.principal.org_id, head.commit_id)
    return None if commit is None else CommitBody(**commit)


def _page(call: Read, project_id: ProjectId | None) -> Answer:
    org_id = call.principal.org_id
    paging = Paging(call.query(ListQuery), "commits", org_id, project_id)
    rows = commits_of(call.connection, org_id, project_id, before=after_version(paging), limit=paging.fetch)
    return answer(paging.page(Page[CommitBody], rows, show=lambda row: row, position=lambda row: [str(row.version)]))
