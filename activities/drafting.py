"""Drafts of one author: made, appended to, retitled and discarded, each at once and all or nothing (publication.md §2).

An append locks its Draft, and keeps what it targets selected; whatever it cannot know for sure is asked again at
submission.
"""

from collections.abc import Sequence

from activities.accepting import ProposedOperation, accept_operations
from activities.closing import mark_discarded, withdraw_review
from activities.next_submissions import take_out_draft
from activities.recording import tell_drafts
from activities.scene import Scene, lock_scene
from models.errors import DraftClosed, DraftSubmitted, NotFound, PreconditionFailed, ProjectArchived
from models.identifiers import CommitId, DraftId, ProjectId, new_draft_id
from models.store.access import ADMINISTRATORS, org_role, require_project
from models.store.commits import organization_ref, organization_version_of
from models.store.drafts import drafts_by_id, fold_operations, insert_draft, read_draft, set_draft
from models.store.events import append_event
from models.store.locks import DraftRow, lock_coordination, lock_drafts
from models.store.transaction import Transaction


def create_draft(
    tx: Transaction,
    *,
    project_id: ProjectId,
    title: str,
    base_commit_id: CommitId | None,
    operations: Sequence[ProposedOperation],
) -> DraftRow:
    """Open a Draft on a base, the current Ref when none is named.

    Raises:
        NotFound: unknown project, or a base that is not a commit of the organization or of this project.
        Forbidden, ProjectArchived, OperationInvalid, TargetMissing, MemoryNotSelected: as for an append.
    """
    require_proposer(tx, project_id)
    return open_draft(tx, project_id, title=title, base=_base(tx, project_id, base_commit_id), operations=operations)


def require_proposer(tx: Transaction, project_id: ProjectId) -> None:
    """Refuse an actor who may not propose in the project now.

    Raises:
        NotFound: unknown project.
        Forbidden: the actor is a viewer.
        ProjectArchived: it takes no writes.
    """
    access = require_project(tx.connection, tx.org_id, tx.actor_id, project_id)
    access.require_write()
    access.require_active()


def open_draft(
    tx: Transaction,
    project_id: ProjectId,
    *,
    title: str,
    base: tuple[CommitId | None, int],
    operations: Sequence[ProposedOperation],
) -> DraftRow:
    """The same for an actor who may, on a known commit of the organization and its version."""
    draft = DraftRow(
        org_id=tx.org_id,
        draft_id=new_draft_id(),
        project_id=project_id,
        author_id=tx.actor_id,
        title=title,
        status="open",
        version=1,
        base_commit_id=base[0],
        base_version=base[1],
        review_id=None,
        created_at=tx.now,
        updated_at=tx.now,
    )
    insert_draft(tx, draft)
    accept_operations(tx, draft, (), operations)
    append_event(tx, "draft.created", "draft", draft.draft_id, project_id=project_id, user_id=tx.actor_id, version=1)
    return draft


def _base(tx: Transaction, project_id: ProjectId, commit_id: CommitId | None) -> tuple[CommitId | None, int]:
    if commit_id is None:
        return organization_ref(tx.connection, tx.org_id)
    base = organization_version_of(tx.connection, tx.org_id, project_id, commit_id)
    if base is None:
        raise NotFound("There is no such commit.", field="base_commit_id")
    return base


def append(
    tx: Transaction, draft_id: DraftId, *, expected_version: int, operations: Sequence[ProposedOperation]
) -> DraftRow:
    """Append operations to the actor's open Draft: all of them, or none.

    Raises:
        NotFound: no such Draft of the actor.
        PreconditionFailed: the Draft's version is another.
        DraftClosed, DraftSubmitted, ProjectArchived: it takes no operations.
        OperationInvalid, TargetMissing, MemoryNotSelected: an operation does not hold (`index`).
    """
    draft = lock_own_draft(tx, draft_id, expected_version=expected_version)
    existing = fold_operations(tx.connection, tx.org_id, [draft_id])[draft_id]
    accept_operations(tx, draft, existing, operations)
    set_draft(tx, draft_id)
    return _changed(tx, draft, "appended")


def retitle(tx: Transaction, draft_id: DraftId, *, expected_version: int, title: str) -> DraftRow:
    """Give the actor's open Draft another title."""
    draft = lock_own_draft(tx, draft_id, expected_version=expected_version)
    set_draft(tx, draft_id, title=title)
    return _changed(tx, draft, "titled")


def lock_own_draft(tx: Transaction, draft_id: DraftId, *, expected_version: int) -> DraftRow:
    """Lock the actor's open Draft at the version the actor read."""
    draft = lock_drafts(tx.connection, tx.org_id, [draft_id]).get(draft_id)
    if draft is None or draft.author_id != tx.actor_id:
        raise NotFound("There is no such Draft.")
    access = require_project(tx.connection, tx.org_id, tx.actor_id, draft.project_id)
    access.require_write()
    require_version(draft, expected_version)
    _require_open(draft)
    access.require_active()
    return draft


def require_version(draft: DraftRow, expected: int) -> None:
    """Refuse a version that is not the Draft's present one."""
    if draft.version != expected:
        raise PreconditionFailed("The Draft has changed.", expected=expected, actual=draft.version)


def _require_open(draft: DraftRow) -> None:
    if draft.status in ("merged", "discarded"):
        raise DraftClosed(f"The Draft is {draft.status}.", draft_id=draft.draft_id)
    if draft.status == "submitted":
        raise DraftSubmitted("The Draft is under review.", draft_id=draft.draft_id, review_id=draft.review_id)


def _changed(tx: Transaction, draft: DraftRow, event: str) -> DraftRow:
    tell_drafts(tx, [draft], event)
    return reread(tx, draft.draft_id)


def reread(tx: Transaction, draft_id: DraftId) -> DraftRow:
    """A Draft as this transaction has left it."""
    return drafts_by_id(tx.connection, tx.org_id, [draft_id])[draft_id]


def discard(tx: Transaction, draft_id: DraftId, *, expected_version: int | None) -> DraftRow:
    """Discard a Draft: the author's own, or anybody's by an owner or admin, who need not have seen it.

    A submitted one leaves its Review in the same transaction; the last one withdraws the Review.

    Args:
        tx: the transaction.
        draft_id: which Draft.
        expected_version: the version that was read; None only for an owner or admin.

    Raises:
        NotFound: no such Draft, or one of somebody else, or in a project that hides it from its author now.
        PreconditionFailed, DraftClosed, ProjectArchived: it cannot be discarded.
    """
    known = read_draft(tx.connection, tx.org_id, draft_id)
    if known is None or not _may_discard(tx, known):
        raise NotFound("There is no such Draft.")
    lock_coordination(tx.connection, tx.org_id)
    access = require_project(tx.connection, tx.org_id, tx.actor_id, known.project_id, include_deleted=True)
    held = read_draft(tx.connection, tx.org_id, draft_id)
    scene: Scene | None = None
    if held is not None and held.status == "submitted" and held.review_id is not None:
        scene = lock_scene(tx, held.review_id)
    draft = scene.drafts[draft_id] if scene else lock_drafts(tx.connection, tx.org_id, [draft_id])[draft_id]
    if expected_version is not None:
        require_version(draft, expected_version)
    if draft.status in ("merged", "discarded"):
        raise DraftClosed(f"The Draft is {draft.status}.", draft_id=draft_id)
    if access.state == "archived":  # what slipped into a project while it was deleted may go
        raise ProjectArchived("The project is archived.", project_id=known.project_id)
    if scene is not None:
        _leave_review(tx, scene, draft_id)
    mark_discarded(tx, [draft])
    return reread(tx, draft_id)


def _may_discard(tx: Transaction, draft: DraftRow) -> bool:
    return draft.author_id == tx.actor_id or org_role(tx.connection, tx.org_id, tx.actor_id) in ADMINISTRATORS


def _leave_review(tx: Transaction, scene: Scene, draft_id: DraftId) -> None:
    if len(scene.members) > 1:
        take_out_draft(tx, scene, draft_id)
    else:
        withdraw_review(tx, scene.review, (), closed_reason="last_draft_discarded")
