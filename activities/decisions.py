"""Approve, reject and withdraw: decisions bind to exactly what was submitted (publication.md §4)."""

from activities.closing import withdraw_review
from activities.recording import record_review, tell_drafts
from activities.requests import DecideRequest, WithdrawRequest
from activities.scene import Scene, lock_scene, named_review, refuse, review_problems
from models.errors import Forbidden
from models.rules.approvals import Electorate, require_approver
from models.schemas.reviews import ReviewBody
from models.store.access import ADMINISTRATORS
from models.store.approvals import approvals_of, drop_approvals, insert_approval
from models.store.drafts import set_status
from models.store.operations import StoredOperation
from models.store.review_views import review_body
from models.store.reviewers import counted_approvers, electorate_of
from models.store.reviews import ReviewChange, change_review
from models.store.transaction import Transaction


def decide(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Approve or reject a Review's latest submission."""
    request = DecideRequest.model_validate(operation.request)
    scene = lock_scene(tx, named_review(operation))
    if request.decision == "approved":
        _approve(tx, scene, request)
    else:
        _reject(tx, scene, request)
    return review_body(tx.connection, tx.org_id, scene.review.review_id)


def withdraw(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Take a Review back; its Drafts reopen."""
    request = WithdrawRequest.model_validate(operation.request)
    scene = lock_scene(tx, named_review(operation))
    if scene.review.author_id != tx.actor_id and scene.access.org_role not in ADMINISTRATORS:
        raise Forbidden("Only the Review's author, owners and admins withdraw it.")
    refuse(review_problems(scene, expected_version=request.expected_review_version, admits=("open", "approved")))
    withdraw_review(tx, scene.review, scene.member_drafts, closed_reason="withdrawn", reason=request.reason)
    return review_body(tx.connection, tx.org_id, scene.review.review_id)


def _stands(tx: Transaction, scene: Scene) -> bool:
    """Whether the actor has approved exactly this already: the same approval twice is counted once."""
    if scene.review.status not in ("open", "approved"):
        return False
    approvals = approvals_of(tx.connection, tx.org_id, [scene.review.review_id])
    return any(
        approval.actor_id == tx.actor_id and approval.result_hash == scene.review.result_hash
        for approval in approvals.get(scene.review.review_id, ())
    )


def _approve(tx: Transaction, scene: Scene, request: DecideRequest) -> None:
    electorate = electorate_of(tx.connection, scene.review)
    require_approver(electorate, tx.actor_id)
    if _stands(tx, scene):
        _count_again(tx, scene, electorate, request)
        return
    refuse(review_problems(scene, expected_version=request.expected_review_version, admits=("open", "approved")))
    insert_approval(tx, scene.review)
    reached = electorate.suffices(counted_approvers(tx.connection, scene.review, electorate))
    approved = change_review(tx, scene.review.review_id, ReviewChange(status="approved" if reached else None))
    record_review(tx, approved, "approved", reason=request.body)


def _count_again(tx: Transaction, scene: Scene, electorate: Electorate, request: DecideRequest) -> None:
    """Approve an open Review whose approvals have come to suffice, as the policy or somebody's role has changed.

    The approval that stands is of exactly this result, whatever version of the Review the request names.
    """
    counted = counted_approvers(tx.connection, scene.review, electorate)
    if scene.review.status == "approved" or not electorate.suffices(counted):
        return
    refuse(review_problems(scene, expected_version=scene.review.version, admits=("open",)))
    approved = change_review(tx, scene.review.review_id, ReviewChange(status="approved"))
    record_review(tx, approved, "approved", reason=request.body)


def _reject(tx: Transaction, scene: Scene, request: DecideRequest) -> None:
    scene.access.require_administrator()
    refuse(review_problems(scene, expected_version=request.expected_review_version, admits=("open", "approved")))
    drop_approvals(tx, scene.review.review_id)
    set_status(tx, [draft.draft_id for draft in scene.member_drafts], "open")
    rejected = change_review(tx, scene.review.review_id, ReviewChange(status="rejected"))
    tell_drafts(tx, scene.member_drafts, "reopened")
    record_review(tx, rejected, "rejected", reason=request.body)
