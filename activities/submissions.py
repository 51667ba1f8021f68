"""Submit and resubmit: Drafts become a numbered, immutable submission, or nothing happens (publication.md §4)."""

from collections.abc import Sequence

from activities.confirming import (
    ConfirmedDrafts,
    Named,
    evaluate_confirmed,
    read_confirmations,
    refuse_or_propose,
)
from activities.rebasing import apply_confirmed
from activities.recording import record_review, tell_drafts
from activities.requests import DraftReference, ResubmitRequest, SubmitRequest, unpack
from activities.scene import Scene, archived, lock_scene, named_review, refuse, review_problems
from models.errors import (
    DraftClosed,
    DraftSubmitted,
    DuplicateId,
    Forbidden,
    NotFound,
    OperationInvalid,
    Problem,
    VersionConflict,
)
from models.identifiers import DraftId, ProjectId, ReviewId
from models.rules.evaluation import Evaluation
from models.schemas.reviews import ReviewBody
from models.store.access import require_project
from models.store.candidates import keep_texts
from models.store.drafts import move_bases, set_status
from models.store.events import append_event
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
from models.store.reviews import (
    Member,
    ReviewChange,
    add_to_timeline,
    change_review,
    drop_approvals,
    insert_review,
    insert_submission,
)
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
    drafts = _named_drafts(tx, request.drafts, locked)
    problems = [*archived(project), *_draft_problems(request.drafts, drafts, project_id, review_id)]
    confirmed = _confirm(tx, ref, project_id, drafts, request.drafts, are_a_review=False)
    drafts, evaluation = _bring_up_to_date(tx, ref, confirmed, problems)
    review = _new_review(tx, project_id, request, review_id, evaluation)
    insert_review(tx, review)
    _record_submission(tx, ref, review, drafts, evaluation, event="submitted")
    return evaluation


def resubmit(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Add a submission to the author's Review; members left out reopen."""
    request = ResubmitRequest.model_validate(operation.request)
    scene = lock_scene(tx, named_review(operation), others=[item.draft_id for item in request.drafts])
    _require_author(tx, scene)
    drafts = _named_drafts(tx, request.drafts, scene.drafts)
    problems = [
        *review_problems(
            scene, expected_version=request.expected_review_version, admits=("open", "approved", "rejected")
        ),
        *_draft_problems(request.drafts, drafts, scene.review.project_id, scene.review.review_id),
    ]
    confirmed = _confirm(tx, scene.ref, scene.review.project_id, drafts, request.drafts, are_a_review=True)
    drafts, evaluation = _bring_up_to_date(tx, scene.ref, confirmed, problems)
    _reopen_left_out(tx, scene, drafts)
    review = replace_submission(tx, scene.review, evaluation, title=request.title, description=request.description)
    _record_submission(tx, scene.ref, review, drafts, evaluation, event="resubmitted")
    return review_body(tx.connection, tx.org_id, review.review_id, evaluation)


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
    _store_submission(tx, review, [Member(draft.draft_id, draft.version) for draft in drafts], evaluation)
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
    members = [Member(draft.draft_id, draft.version) for draft in drafts]
    _store_submission(tx, review, members, evaluation)
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


def _require_author(tx: Transaction, scene: Scene) -> None:
    if scene.review.author_id != tx.actor_id:
        raise Forbidden("Only the Review's author resubmits it.")
    scene.access.require_write()


def _named_drafts(
    tx: Transaction, references: Sequence[DraftReference], locked: dict[DraftId, DraftRow]
) -> list[DraftRow]:
    for position, reference in enumerate(references):
        draft = locked.get(reference.draft_id)
        if draft is None or draft.author_id != tx.actor_id:
            raise NotFound("There is no such Draft.", field=f"drafts[{position}].draft_id")
    return [locked[reference.draft_id] for reference in references]


def _draft_problems(
    references: Sequence[DraftReference], drafts: Sequence[DraftRow], project_id: ProjectId, review_id: ReviewId
) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[DraftId] = set()
    for position, (reference, draft) in enumerate(zip(references, drafts, strict=True)):
        field = f"drafts[{position}].draft_id"
        if draft.draft_id in seen:
            problems.append(DuplicateId("A Draft stands once in a Review.", field=field, draft_id=draft.draft_id))
        seen.add(draft.draft_id)
        if draft.status in ("merged", "discarded"):
            problems.append(DraftClosed(f"The Draft is {draft.status}.", draft_id=draft.draft_id, field=field))
        if draft.status == "submitted" and draft.review_id != review_id:
            problems.append(DraftSubmitted("The Draft is in another Review.", draft_id=draft.draft_id, field=field))
        if draft.version != reference.expected_draft_version:
            problems.append(
                VersionConflict(
                    "The Draft has changed.",
                    draft_id=draft.draft_id,
                    field=f"drafts[{position}].expected_draft_version",
                    expected=reference.expected_draft_version,
                    actual=draft.version,
                )
            )
        if draft.project_id != project_id:
            problems.append(
                OperationInvalid(
                    "The Drafts of a Review belong to one project.", field=field, rule="other_project", index=position
                )
            )
    return problems


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

    What is submitted is evaluated from what was written, and refused if that meets anything new.
    """
    evaluation = confirmed.evaluated.evaluation
    in_the_way = [*problems, *confirmed.problems, *evaluation.empty, *evaluation.blockers]
    refuse_or_propose(tx, in_the_way, confirmed.evaluated, confirmed.outrun)
    if not confirmed.holding:
        return list(confirmed.evaluated.drafts), evaluation
    drafts = apply_confirmed(tx, ref, confirmed)
    rebased = evaluate_drafts(tx.connection, tx.org_id, confirmed.evaluated.project_id, ref.version, drafts)
    refuse([*rebased.empty, *rebased.blockers])
    return drafts, rebased


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
    members = [Member(draft.draft_id, draft.version + (draft.status == "open")) for draft in drafts]
    _store_submission(tx, review, members, evaluation)
    record_review(tx, review, event)


def _store_submission(tx: Transaction, review: ReviewRow, members: Sequence[Member], evaluation: Evaluation) -> None:
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
