"""Commits: where each chain stands, its commits, complete snapshots, and deltas between them (publication.md §5)."""

from collections.abc import Callable
from functools import partial

from api.answers import API, Answer, answer, etag
from api.calls import Later, Read
from api.headers import is_not_modified
from api.lookups import find_commit, find_project
from api.mentions import mentioned_id
from api.paging import Paging
from api.positions import after_version
from api.routing import Routes
from api.streaming import VARIES, Parts, streamed
from models.errors import InvalidRequest
from models.identifiers import ProjectId
from models.schemas.commits import (
    NO_COMMIT,
    CommitBody,
    CommitState,
    CommitStateQuery,
    Delta,
    DeltaQuery,
    RefBody,
    Snapshot,
)
from models.schemas.common import ListQuery, NoParameters, Page
from models.store.chains import Head, organization_head, project_head
from models.store.chains import list_commits as commits_of
from models.store.commits import read_commit
from models.store.deltas import compare, delta_parts
from models.store.snapshots import snapshot_parts

FOR_EVER = "private, max-age=31536000, immutable"
NOT_MODIFIED = 304

routes = Routes("commits")


@routes.read("/org/commit-state", answers=CommitState, query=CommitStateQuery, conditional=True)
def get_org_commit_state(call: Read) -> Answer:
    """Where the organization stands, and whether the caller's copy is behind."""
    query = call.query(CommitStateQuery)
    return _state(call, organization_head(call.connection, call.principal.org_id), query, None)


@routes.read("/projects/{project_id}/commit-state", answers=CommitState, query=CommitStateQuery, conditional=True)
def get_project_commit_state(call: Read, project_id: str) -> Answer:
    """Where a project's projection stands, and whether the caller's copy is behind."""
    access = find_project(call, project_id)
    query = call.query(CommitStateQuery)
    head = project_head(call.connection, call.principal.org_id, access.project_id)
    return _state(call, head, query, access.project_id)


@routes.read("/org/commits", answers=Page[CommitBody], query=ListQuery)
def list_org_commits(call: Read) -> Answer:
    """The organization's commits, newest first."""
    return _page(call, None)


@routes.read("/projects/{project_id}/commits", answers=Page[CommitBody], query=ListQuery)
def list_project_commits(call: Read, project_id: str) -> Answer:
    """A project's commits, newest first."""
    return _page(call, find_project(call, project_id).project_id)


@routes.read("/commits/{commit_id}", answers=Snapshot, conditional=True)
def get_commit(call: Read, commit_id: str) -> Answer | Later:
    """A commit with its whole tree and every text in it; it never changes and may be cached for ever."""
    commit = find_commit(call, commit_id)
    call.query(NoParameters)
    return _for_ever(call, commit_id, lambda: partial(snapshot_parts, commit=commit))


@routes.read("/commits/{commit_id}/delta", answers=Delta, query=DeltaQuery, conditional=True)
def get_commit_delta(call: Read, commit_id: str) -> Answer | Later:
    """What to do to `base` to have this commit: both of one chain, in either order. It may be cached for ever."""
    target = find_commit(call, commit_id)
    named = mentioned_id(call, "base")
    base = None if named is None else find_commit(call, named)
    call.query(DeltaQuery)
    assert base is not None  # noqa: S101  (the query names it)
    if base["project_id"] != target["project_id"]:
        raise InvalidRequest.of("base", "other_chain")
    tag = f"{base['commit_id']}..{commit_id}"
    return _for_ever(call, tag, lambda: partial(delta_parts, delta=compare(call.connection, base, target)))


def _for_ever(call: Read, tag: str, parts: Callable[[], Parts]) -> Answer | Later:
    """What never changes, unless the client has it; only then the parts are asked for."""
    headers = {"ETag": etag(tag), "Cache-Control": FOR_EVER, **VARIES}
    if is_not_modified(call.incoming.headers, tag):
        return Answer(NOT_MODIFIED, None, headers)
    return streamed(call, parts(), headers)


def _state(call: Read, head: Head, query: CommitStateQuery, project_id: ProjectId | None) -> Answer:
    tag = head.commit_id or NO_COMMIT
    if is_not_modified(call.incoming.headers, tag):
        return Answer(NOT_MODIFIED, None, {"ETag": etag(tag)})
    state = CommitState(
        ref=RefBody(name="refs/heads/main", commit_id=head.commit_id, updated_at=head.updated_at),
        latest=_commit(call, head),
        update_available=head.commit_id != query.local_commit_id,
        download_url=_download_url(call, head, query.local_commit_id, project_id),
        incremental_supported=True,
    )
    return Answer(200, state.model_dump_json().encode(), {"ETag": etag(tag)})


def _download_url(call: Read, head: Head, local: str | None, project_id: ProjectId | None) -> str | None:
    """The way from what a client has to the head: nothing, a delta, or the whole where we do not know what it has."""
    if head.commit_id is None or head.commit_id == local:
        return None
    snapshot = f"{API}/commits/{head.commit_id}"
    known = None if local is None else read_commit(call.connection, call.principal.org_id, local)
    is_of_chain = known is not None and known["project_id"] == project_id
    return f"{snapshot}/delta?base={local}" if is_of_chain else snapshot


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
