"""Submit and resubmit: Drafts become a numbered, immutable submission, or nothing happens (publication.md §4)."""

from collections.abc import Sequence

from activities.confirming import (
    ConfirmedDrafts,
    Named,
    evaluate_confirmed,
    read_confirmations,
    refuse_or_propose,
)
from activities.named_drafts import draft_problems, named_drafts
from activities.next_submissions import replace_submission, store_submission
from activities.rebasing import apply_confirmed
from activities.recording import record_review, tell_drafts
from activities.requests import DraftReference, ResubmitRequest, SubmitRequest, unpack
from activities.scene import Scene, archived, lock_scene, named_review, refuse, review_problems
from models.errors import Forbidden, Problem
from models.identifiers import ProjectId, ReviewId
from models.rules.evaluation import Evaluation
from models.schemas.reviews import ReviewBody
from models.store.access import require_project
from models.store.drafts import move_bases, set_status
from models.store.locks import (
    DraftRow,
    OrganizationRefRow,
    ReviewRow,
    lock_coordination,
    lock_drafts,
    lock_project,
)
from models.store.operations import StoredOperation
from models.store.review_evaluation import evaluate_drafts
from models.store.review_views import review_body
from models.store.reviews import insert_review
from models.store.submissions import Member
from models.store.transaction import Transaction


def submit(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Open a Review of Drafts; refused, it leaves every one of them as it was."""
    review_id = named_review(operation)
    evaluation = open_review(tx, review_id, operation.project_id, SubmitRequest.model_validate(operation.request))
    return review_body(tx.connection, tx.org_id, review_id, evaluation)


def open_review(tx: Transaction, review_id: ReviewId, project_id: ProjectId, request: SubmitRequest) -> Evaluation:
    """Submit the actor's Drafts as a new Review.

    Raises:
        NotFound, Forbidden: the actor does not propose in the project, or there is no such Draft of the actor's.
        ProjectArchived: it takes no writes.
        Problem: a Draft is not as it was named, or there is something in the way (`Evaluation.blockers`, `empty`).
    """
    ref = lock_coordination(tx.connection, tx.org_id)
    project = lock_project(tx.connection, tx.org_id, project_id)
    require_project(tx.connection, tx.org_id, tx.actor_id, project_id).require_write()
    locked = lock_drafts(tx.connection, tx.org_id, [reference.draft_id for reference in request.drafts])
    drafts = named_drafts(tx, request.drafts, locked)
    problems = [*archived(project), *draft_problems(request.drafts, drafts, project_id, review_id)]
    confirmed = _confirm(tx, ref, project_id, drafts, request.drafts, are_a_review=False)
    drafts, evaluation = _bring_up_to_date(tx, ref, confirmed, problems)
    review = _new_review(tx, project_id, request, review_id, evaluation)
    insert_review(tx, review)
    _record_submission(tx, ref, review, drafts, evaluation, event="submitted")
    return evaluation


def resubmit(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Add a submission to the author's Review; members left out reopen."""
    return submit_again(tx, named_review(operation), ResubmitRequest.model_validate(operation.request))


def submit_again(tx: Transaction, review_id: ReviewId, request: ResubmitRequest) -> ReviewBody:
    """Submit Drafts of the actor's as the next submission of the actor's Review.

    Raises:
        NotFound, Forbidden: there is no such Review or Draft of the actor's.
        Problem: Review or Draft is not as it was named, or there is something in the way.
    """
    scene = lock_scene(tx, review_id, others=[item.draft_id for item in request.drafts])
    _require_author(tx, scene)
    drafts = named_drafts(tx, request.drafts, scene.drafts)
    problems = [
        *review_problems(
            scene, expected_version=request.expected_review_version, admits=("open", "approved", "rejected")
        ),
        *draft_problems(request.drafts, drafts, scene.review.project_id, scene.review.review_id),
    ]
    confirmed = _confirm(tx, scene.ref, scene.review.project_id, drafts, request.drafts, are_a_review=True)
    drafts, evaluation = _bring_up_to_date(tx, scene.ref, confirmed, problems)
    _reopen_left_out(tx, scene, drafts)
    review = replace_submission(tx, scene.review, evaluation, title=request.title, description=request.description)
    _record_submission(tx, scene.ref, review, drafts, evaluation, event="resubmitted")
    return review_body(tx.connection, tx.org_id, review.review_id, evaluation)


def _require_author(tx: Transaction, scene: Scene) -> None:
    if scene.review.author_id != tx.actor_id:
        raise Forbidden("Only the Review's author resubmits it.")
    scene.access.require_write()


def _confirm(
    tx: Transaction,
    ref: OrganizationRefRow,
    project_id: ProjectId,
    drafts: Sequence[DraftRow],
    references: Sequence[DraftReference],
    *,
    are_a_review: bool,
) -> ConfirmedDrafts:
    """Evaluate the Drafts with the candidates that the request confirms."""
    once = list(dict.fromkeys(drafts))  # one that is named twice is a duplicate, and not an empty one as well
    named = [
        Named(reference.draft_id, reference.candidate_id, unpack(reference.resolved_state), f"drafts[{position}].")
        for position, reference in enumerate(references)
        if reference.candidate_id is not None
    ]
    confirmations = read_confirmations(tx, named)
    return evaluate_confirmed(tx, ref, project_id, once, confirmations, are_a_review=are_a_review)


def _bring_up_to_date(
    tx: Transaction, ref: OrganizationRefRow, confirmed: ConfirmedDrafts, problems: Sequence[Problem]
) -> tuple[list[DraftRow], Evaluation]:
    """Refuse what is in the way, then rebase the Drafts whose candidates are confirmed; all of them as they are then.

    What is submitted is evaluated from what was written, and refused if that meets anything new. Nothing has to be
    chosen then: candidates would be bound to Drafts that the refusal undoes.
    """
    evaluation = confirmed.evaluated.evaluation
    in_the_way = [*problems, *confirmed.problems, *evaluation.empty, *evaluation.blockers]
    refuse_or_propose(tx, in_the_way, confirmed.asking, confirmed.outrun)
    if not confirmed.holding:
        return list(confirmed.evaluated.drafts), evaluation
    drafts = apply_confirmed(tx, ref, confirmed)
    rebased = evaluate_drafts(tx.connection, tx.org_id, confirmed.evaluated.lineup.project_id, ref.version, drafts)
    if rebased.needs_reconciliation:
        raise RebasedDiffers(f"what was confirmed of {sorted(rebased.needs_reconciliation)} does not stand as written")
    refuse([*rebased.empty, *rebased.blockers])
    return drafts, rebased


class RebasedDiffers(Exception):  # noqa: N818  (a fact about our own code, not a refusal)
    """Drafts written as they were confirmed need reconciliation again: a defect, and nothing of it is committed."""


def _new_review(
    tx: Transaction,
    project_id: ProjectId,
    request: SubmitRequest,
    review_id: ReviewId,
    evaluation: Evaluation,
) -> ReviewRow:
    return ReviewRow(
        org_id=tx.org_id,
        review_id=review_id,
        project_id=project_id,
        author_id=tx.actor_id,
        title=request.title,
        description=request.description,
        status="open",
        closed_reason=None,
        version=1,
        submission=1,
        result_hash=evaluation.result_hash(project_id),
        publish_at=request.publish_at,
        merged_commit_id=None,
        created_at=tx.now,
        updated_at=tx.now,
    )


def _reopen_left_out(tx: Transaction, scene: Scene, drafts: Sequence[DraftRow]) -> None:
    kept = {draft.draft_id for draft in drafts}
    left_out = [
        draft
        for draft in scene.member_drafts
        if draft.draft_id not in kept and draft.review_id == scene.review.review_id
    ]
    set_status(tx, [draft.draft_id for draft in left_out], "open")
    tell_drafts(tx, left_out, "reopened")


def _record_submission(
    tx: Transaction,
    ref: OrganizationRefRow,
    review: ReviewRow,
    drafts: Sequence[DraftRow],
    evaluation: Evaluation,
    *,
    event: str,
) -> None:
    """Bring the Drafts up to date, mark them submitted, and fix what was submitted."""
    tell_drafts(tx, move_bases(tx, drafts, ref), "base_moved", grown_by=0)
    newly = [draft for draft in drafts if draft.status == "open"]
    set_status(tx, [draft.draft_id for draft in newly], "submitted", review_id=review.review_id)
    tell_drafts(tx, newly, "submitted")
    members = [Member(draft.draft_id, draft.version + (draft.status == "open"), draft.title) for draft in drafts]
    store_submission(tx, review, members, evaluation)
    record_review(tx, review, event)
