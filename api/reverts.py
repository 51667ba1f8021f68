"""Reverts: a Draft that takes back what a commit did (publication.md §5)."""

from activities.reverts import revert
from api.answers import Answer, answer
from api.calls import Write
from api.lookups import find_project
from api.mentions import Mentions
from api.routing import Routes
from models.errors import MemoryNotSelected, NotFound, OperationInvalid, ProjectArchived
from models.identifiers import CommitId, ProjectId
from models.schemas.common import DryRunQuery
from models.schemas.drafts import DraftBody
from models.schemas.reverts import RevertCommit
from models.schemas.trials import DraftTrial
from models.store.commits import require_organization_commit
from models.store.draft_views import draft_body

routes = Routes("commits")


@routes.write(
    "POST",
    "/org/reverts",
    accepts=RevertCommit,
    answers=DraftBody,
    tried=DraftTrial,
    etag=True,
    problems=(NotFound, ProjectArchived, OperationInvalid, MemoryNotSelected),
)
def revert_commit(call: Write) -> Answer:
    """Open a Draft that takes a commit of the organization back; nothing is published by it.

    Its base is that commit, so that what was published since is reconciled with it. Memories that it changes or
    deletes must be in the project's selection; what it restores need not.
    """
    _require_named(call)
    body = call.body(RevertCommit, query=DryRunQuery)
    draft = revert(call.tx, project_id=ProjectId(body.project_id), commit_id=CommitId(body.commit_id))
    shown = draft_body(call.connection, draft)
    if call.dry_run:
        members = {name: getattr(shown, name) for name in DraftTrial.model_fields if name != "dry_run"}
        return answer(DraftTrial(dry_run=True, **members))
    return answer(shown, status=201, version=draft.version)


def _require_named(call: Write) -> None:
    """Find project and commit and ask for the role, before the rest of the body is judged."""
    named = Mentions.of(call)
    project_id, commit_id = named.id("project_id"), named.id("commit_id")
    access = None if project_id is None else find_project(call, project_id)
    if commit_id is not None:
        require_organization_commit(call.connection, call.principal.org_id, CommitId(commit_id))
    if access is not None:
        access.require_write()
