"""The next submission of a Review: what it is made of, and what becomes of the approvals (publication.md §3, §4)."""

from collections.abc import Sequence

from activities.recording import record_review
from activities.scene import Scene
from models.identifiers import DraftId
from models.rules.evaluation import Evaluation
from models.store.approvals import drop_approvals
from models.store.drafts import keep_texts
from models.store.events import append_event
from models.store.locks import DraftRow, ReviewRow
from models.store.review_evaluation import evaluate_drafts
from models.store.reviews import ReviewChange, add_to_timeline, change_review
from models.store.submissions import Member, insert_submission
from models.store.transaction import Transaction


def add_submission(tx: Transaction, scene: Scene, drafts: Sequence[DraftRow]) -> None:
    """Submit a Review's Drafts anew after one of them was rebased; an equal result keeps the approvals.

    The others may need reconciliation because of it: then the submission keeps what can be folded, and mergeability
    names them.

    Args:
        tx: the transaction.
        scene: the Review as it was, locked.
        drafts: the same Drafts in the same order, as they are now.
    """
    evaluation = evaluate_drafts(tx.connection, tx.org_id, scene.review.project_id, scene.ref.version, drafts)
    review = replace_submission(tx, scene.review, evaluation)
    store_submission(tx, review, [Member(draft.draft_id, draft.version, draft.title) for draft in drafts], evaluation)
    record_review(tx, review, "rebased", before_hash=scene.review.result_hash)


def take_out_draft(tx: Transaction, scene: Scene, draft_id: DraftId) -> None:
    """Submit what is left of a Review whose Draft was discarded; there is something left.

    What is left may no longer hold on its own (a later Draft built on the discarded one): the submission keeps what
    can be folded, and mergeability names what is missing.
    """
    drafts = [draft for draft in scene.member_drafts if draft.draft_id != draft_id]
    evaluation = evaluate_drafts(tx.connection, tx.org_id, scene.review.project_id, scene.ref.version, drafts)
    add_to_timeline(tx, scene.review.review_id, "draft_discarded", submission=scene.review.submission, reason=draft_id)
    review = replace_submission(tx, scene.review, evaluation)
    members = [Member(draft.draft_id, draft.version, draft.title) for draft in drafts]
    store_submission(tx, review, members, evaluation)
    append_event(
        tx, "review.draft_discarded", "review", review.review_id, project_id=review.project_id, version=review.version
    )


def replace_submission(
    tx: Transaction,
    review: ReviewRow,
    evaluation: Evaluation,
    *,
    title: str | None = None,
    description: str | None = None,
) -> ReviewRow:
    """Step a Review to its next submission: an equal result keeps the approvals, any other drops them."""
    new_hash = evaluation.result_hash(review.project_id)
    keeps = review.status == "approved" and new_hash == review.result_hash
    if new_hash != review.result_hash and drop_approvals(tx, review.review_id):
        add_to_timeline(
            tx,
            review.review_id,
            "approval_dropped",
            submission=review.submission + 1,
            old_hash=review.result_hash,
            new_hash=new_hash,
        )
    change = ReviewChange(
        status="approved" if keeps else "open",
        title=title,
        description=description,
        submission=review.submission + 1,
        result_hash=new_hash,
    )
    return change_review(tx, review.review_id, change)


def store_submission(tx: Transaction, review: ReviewRow, members: Sequence[Member], evaluation: Evaluation) -> None:
    """Fix what a Review's latest submission proposes; every text that it names is a blob from then on."""
    blob_ids = {state.body.blob_id for state in evaluation.states.values() if state is not None}
    keep_texts(tx, blob_ids, [member.draft_id for member in members], evaluation.texts)
    insert_submission(
        tx,
        review.review_id,
        review.submission,
        result_hash=review.result_hash,
        project_id=review.project_id,
        members=members,
        states=evaluation.states,
        bases=evaluation.bases,
        created=evaluation.created,
    )
