"""Finding what a path names, for whoever asks: 404 for what is not there and for what the caller may not know of."""

from sqlalchemy import RowMapping

from api.calls import Hot, Read
from models.errors import Forbidden, NotFound
from models.identifiers import DraftId, ImportId, ProjectId, ReviewId, SessionId
from models.rules.envelopes import SessionFacts
from models.store.access import ProjectAccess, require_project, require_review
from models.store.commits import read_commit
from models.store.drafts import read_draft
from models.store.imports import read_import
from models.store.locks import DraftRow, ImportRow, ReviewRow
from models.store.reviews import read_review
from models.store.sessions import no_session, read_session_facts


def find_project(
    call: Read, project_id: str, *, include_deleted: bool = False, asked_for: str = "project"
) -> ProjectAccess:
    """What the caller may do in a project.

    What leads to a project names itself as `asked_for`, so that hidden and missing read alike.

    Raises:
        NotFound: there is none, or none that the caller may read.
    """
    who = call.principal
    return require_project(
        call.connection,
        who.org_id,
        who.user_id,
        ProjectId(project_id),
        include_deleted=include_deleted,
        asked_for=asked_for,
    )


def find_commit(call: Read, commit_id: str) -> RowMapping:
    """A commit of the organization, or of a project that the caller may read.

    Raises:
        NotFound: there is none, or none that the caller may read.
    """
    commit = read_commit(call.connection, call.principal.org_id, commit_id)
    if commit is None:
        raise NotFound("There is no such commit.")
    if commit["project_id"] is not None:
        find_project(call, commit["project_id"], asked_for="commit")
    return commit


def find_own_draft(call: Read, draft_id: str) -> tuple[DraftRow, ProjectAccess]:
    """A Draft of the caller, unlocked, and what the caller may do in its project.

    Raises:
        NotFound: there is none, it is somebody else's, or its author has left the project.
    """
    draft = read_draft(call.connection, call.principal.org_id, DraftId(draft_id))
    if draft is None or draft.author_id != call.principal.user_id:
        raise NotFound("There is no such Draft.")
    return draft, find_project(call, draft.project_id, include_deleted=True, asked_for="Draft")


def find_own_import(call: Read, import_id: str) -> tuple[ImportRow, ProjectAccess]:
    """An import of the caller, unlocked, and what the caller may do in its project.

    Raises:
        NotFound: there is none, it is somebody else's, or its author has left the project.
    """
    found = read_import(call.connection, call.principal.org_id, ImportId(import_id))
    if found is None or found.author_id != call.principal.user_id:
        raise NotFound("There is no such import.")
    return found, find_project(call, found.project_id, include_deleted=True, asked_for="import")


def find_review(call: Read, review_id: str) -> tuple[ReviewRow, ProjectAccess]:
    """A Review, unlocked, and what the caller may do in its project; a deleted project's for owners and admins.

    Path owners find the Reviews that touch their paths, whatever their role in the project.

    Raises:
        NotFound: there is none yet, or none that the caller may read.
    """
    review = read_review(call.connection, call.principal.org_id, ReviewId(review_id))
    if review is None:
        raise NotFound("There is no such Review.")
    return review, require_review(call.connection, call.principal.user_id, review)


def require_author_or_administrator(call: Read, review: ReviewRow, access: ProjectAccess) -> None:
    """Raise Forbidden unless the Review's author, an owner or an admin asks."""
    if review.author_id != call.principal.user_id and not access.administers:
        raise Forbidden("Only the Review's author, owners and admins may do this.")


def find_session(call: Hot, session_id: str) -> SessionFacts:
    """A session that the caller may use, and what holds of its acting user now.

    Raises:
        NotFound: there is none, or it is neither the caller's nor opened by the caller.
    """
    facts = read_session_facts(call.connection, call.principal.org_id, SessionId(session_id))
    if facts is None or not facts.is_used_by(call.principal.user_id):
        raise no_session()
    return facts
