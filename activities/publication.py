"""Publish a Review: one commit and one ref step, or nothing at all (publication.md §4)."""

from collections.abc import Collection
from dataclasses import dataclass

from activities.confirming import refuse_or_propose
from activities.recording import record_review, tell_drafts
from activities.requests import MergeRequest
from activities.scene import Scene, lock_scene, named_review, review_problems
from activities.timers import skip_refused_publication
from models.errors import ApprovalInvalidated, Problem, VersionConflict
from models.identifiers import CommitId, MemoryId, ReviewId, UserId, final_id
from models.rules.approvals import Electorate, approvals_missing, require_merger
from models.rules.evaluation import Evaluation
from models.rules.hashes import bucket_of, result_hash
from models.rules.states import State
from models.schemas.reviews import CreatedMemory, MergeResult
from models.store.approvals import insert_approval
from models.store.commits import StoredCommit, advance_organization_ref, organization_commit_fields, write_commits
from models.store.drafts import move_bases, set_status
from models.store.events import append_event, append_project_commits
from models.store.memories import states_at, write_states
from models.store.operations import StoredOperation
from models.store.projections import (
    CommitCause,
    ProjectionChange,
    deselect_memories,
    projects_selecting,
    refresh_projections,
    select_memories,
    selects,
)
from models.store.proposals import Evaluated, Lineup
from models.store.review_evaluation import evaluate_drafts
from models.store.review_views import review_body
from models.store.reviewers import counted_approvers, electorate_of
from models.store.reviews import ReviewChange, change_review
from models.store.transaction import Transaction
from models.store.trees import rehash_organization

CLEAN_UP = (skip_refused_publication,)
"""What else a refused merge changes."""


@dataclass(frozen=True, slots=True)
class _Published:
    """What a merge wrote: nothing but the present Ref when everything had converged."""

    commit_id: CommitId | None
    changed: dict[MemoryId, State]


def publish_review(tx: Transaction, operation: StoredOperation) -> MergeResult:
    """Publish the Review that a merge was accepted for."""
    return publish(tx, named_review(operation), MergeRequest.model_validate(operation.request))


def publish(tx: Transaction, review_id: ReviewId, request: MergeRequest) -> MergeResult:
    """Publish a Review (publication.md §4, the five steps)."""
    scene = lock_scene(tx, review_id)
    scene.access.require_administrator()
    approvers = count_approvers(tx, scene, request)
    evaluation = bring_up_to_date(tx, scene, request, approvers)
    published = write_organization_commit(tx, scene, evaluation)
    require_published_is_approved(tx, scene, evaluation, published)
    return conclude(tx, scene, approvers, evaluation, published)


@dataclass(frozen=True, slots=True)
class Approvers:
    """Whose approvals count for a merge: those that stand, and that of whoever merges directly."""

    electorate: Electorate
    standing: tuple[UserId, ...]
    merging: tuple[UserId, ...]

    @property
    def counted(self) -> tuple[UserId, ...]:
        """All of them."""
        return (*self.standing, *self.merging)


def count_approvers(tx: Transaction, scene: Scene, request: MergeRequest) -> Approvers:
    """Who approves the Review now; a direct merge counts as its actor's approval, a scheduled one approves nothing.

    Raises:
        SelfApproval: the author merges what nobody else approves, and the policy asks for somebody else.
    """
    electorate = electorate_of(tx.connection, scene.review)
    standing = counted_approvers(tx.connection, scene.review, electorate)
    require_merger(electorate, tx.actor_id, standing)
    direct = request.scheduled_for is None and electorate.admits(tx.actor_id) and tx.actor_id not in standing
    return Approvers(electorate, standing, (tx.actor_id,) if direct else ())


def bring_up_to_date(tx: Transaction, scene: Scene, request: MergeRequest, approvers: Approvers) -> Evaluation:
    """Evaluate the Drafts against Current and move bases that fell behind; refuse what is not approved as it stands."""
    drafts, project_id = scene.member_drafts, scene.review.project_id
    lineup = Lineup(
        commit_id=scene.ref.commit_id,
        version=scene.ref.version,
        project_id=project_id,
        drafts=drafts,
        are_a_review=True,
    )
    evaluation = evaluate_drafts(tx.connection, tx.org_id, project_id, scene.ref.version, drafts)
    problems = [
        *_review_problems(scene, request),
        *_ref_problems(scene, request),
        *evaluation.blockers,
        *_approval_problems(scene, request, approvers, evaluation),
    ]
    refuse_or_propose(tx, problems, Evaluated(lineup, evaluation))
    tell_drafts(tx, move_bases(tx, scene.member_drafts, scene.ref), "base_moved", grown_by=0)
    return evaluation


def _review_problems(scene: Scene, request: MergeRequest) -> list[Problem]:
    """What stands in the way of the Review itself; a scheduled merge goes with its time and not with a version."""
    review = scene.review
    scheduled = request.scheduled_for is not None
    expected = review.version if scheduled else request.expected_review_version
    problems = review_problems(scene, expected_version=expected, admits=("open", "approved"))
    if scheduled and review.publish_at != request.scheduled_for:
        detail = "The Review is not to be published then any more."
        problems.append(VersionConflict(detail, expected=request.expected_review_version, actual=review.version))
    return problems


def _ref_problems(scene: Scene, request: MergeRequest) -> list[Problem]:
    expected = request.expected_org_commit_id
    if expected is None or expected == (scene.ref.commit_id or "ref-none"):
        return []
    return [VersionConflict("The organization has moved on.", expected=expected, actual=scene.ref.commit_id)]


def _approval_problems(
    scene: Scene, request: MergeRequest, approvers: Approvers, evaluation: Evaluation
) -> list[Problem]:
    actual = evaluation.result_hash(scene.review.project_id)
    problems: list[Problem] = [
        ApprovalInvalidated(f"The result is not the one that was {bound}.", expected=expected, actual=actual)
        for bound, expected in (("approved", scene.review.result_hash), ("expected", request.expected_result_hash))
        if expected not in (None, actual)
    ]
    unattended = request.scheduled_for is not None
    missing = approvals_missing(approvers.electorate, approvers.counted, unattended=unattended)
    return problems if missing is None else [*problems, missing]


def write_organization_commit(tx: Transaction, scene: Scene, evaluation: Evaluation) -> _Published:
    """Write the Memories that change, one Organization Commit, the Ref's step, and the projections.

    Where others have published all of it meanwhile there is no commit, but what it restores is selected all the same.
    """
    changed = evaluation.changed
    if not changed:
        _refresh_projections(tx, scene, changed, evaluation.created, scene.ref.commit_id)
        return _Published(scene.ref.commit_id, changed)
    version = scene.ref.version + 1
    write_states(tx, changed, version)
    commit = StoredCommit.of(
        organization_commit_fields(
            tx,
            version=version,
            parent=scene.ref.commit_id,
            tree_id=rehash_organization(tx, {bucket_of(memory_id) for memory_id in changed}),
            message=scene.review.title,
            review_id=scene.review.review_id,
        )
    )
    write_commits(tx, [commit])
    advance_organization_ref(tx, commit)
    append_event(tx, "commit.published", "commit", commit.commit_id, version=version)
    _refresh_projections(tx, scene, changed, evaluation.created, commit.commit_id)
    return _Published(commit.commit_id, changed)


def _refresh_projections(
    tx: Transaction,
    scene: Scene,
    changed: dict[MemoryId, State],
    created: Collection[MemoryId],
    commit_id: CommitId | None,
) -> None:
    """Select what is created or restored for the originating project, deselect what is deleted, then refresh."""
    project_id = scene.project.project_id
    lacking = set(created) - selects(tx.connection, tx.org_id, project_id, created)
    deleted = [memory_id for memory_id, state in changed.items() if state is None]
    losing = projects_selecting(tx.connection, tx.org_id, deleted)
    if lacking:
        select_memories(tx, project_id, lacking)
    if deleted:
        deselect_memories(tx, deleted)
    present = projects_selecting(tx.connection, tx.org_id, set(changed).difference(deleted))
    if lacking:  # also what others have restored meanwhile as it is restored here: it is new to this project alone
        present.setdefault(project_id, set()).update(lacking)
    change = ProjectionChange(
        present=present,
        absent=losing,
        reselected={*losing, *([project_id] if lacking else [])},
    )
    cause = CommitCause(commit_id, scene.review.title, scene.review.review_id)
    append_project_commits(tx, refresh_projections(tx, change, cause))


def require_published_is_approved(tx: Transaction, scene: Scene, evaluation: Evaluation, published: _Published) -> None:
    """Read back what the commit's rows say: anything but the approved hash rolls everything back."""
    version = scene.ref.version + (1 if published.changed else 0)
    touched = [final_id(memory_id) for memory_id in evaluation.states]
    written = states_at(tx.connection, tx.org_id, touched, version)
    states = {memory_id: written.get(memory_id) for memory_id in touched}
    if result_hash(states, scene.review.project_id, evaluation.created) != scene.review.result_hash:
        raise PublishedDiffers(f"what {scene.review.review_id} wrote is not what was approved")


class PublishedDiffers(Exception):  # noqa: N818  (a fact about our own code, not a refusal)
    """The rows just written do not give the approved hash: a defect, and nothing of it is committed."""


def conclude(
    tx: Transaction, scene: Scene, approvers: Approvers, evaluation: Evaluation, published: _Published
) -> MergeResult:
    """Mark Review and Drafts merged, and record by whom."""
    review = scene.review
    if approvers.merging:
        insert_approval(tx, review)
    set_status(tx, [member.draft_id for member in scene.members], "merged", review_id=review.review_id)
    merged = change_review(tx, review.review_id, ReviewChange(status="merged", merged_commit_id=published.commit_id))
    tell_drafts(tx, scene.member_drafts, "merged")
    record_review(
        tx,
        merged,
        "merged",
        before_hash=scene.ref.commit_id,
        after_hash=published.commit_id,
        detail={"result_hash": review.result_hash},
    )
    return MergeResult(
        review=review_body(tx.connection, tx.org_id, review.review_id),
        commit_id=published.commit_id,
        applied_operation_count=len(published.changed),
        already_published=not published.changed,
        created=_created(evaluation),
    )


def _created(evaluation: Evaluation) -> list[CreatedMemory]:
    return [
        CreatedMemory(
            draft_id=evaluation.first_touched_by[memory_id].draft_id,
            provisional_id=memory_id,
            memory_id=final_id(memory_id),
            path=state.path,
        )
        for memory_id, state in evaluation.states.items()
        if state is not None and evaluation.creates(memory_id)
    ]
