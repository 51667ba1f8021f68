"""Whether a merge would pass now, and if not, everything in the way (publication.md §4)."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from models.errors import ApprovalInvalidated, Problem, ProjectArchived, ReconciliationRequired
from models.identifiers import DraftId, MemoryId
from models.rules.approvals import approvals_missing
from models.rules.evaluation import Evaluation
from models.rules.states import State
from models.schemas.reviews import ComputedFor, MemoryAtPath, Mergeability
from models.store.candidate_views import live_bodies
from models.store.commits import organization_ref
from models.store.drafts import drafts_by_id
from models.store.locks import ReviewRow
from models.store.review_evaluation import evaluate_drafts
from models.store.reviewers import counted_approvers, electorate_of
from models.store.submissions import latest_members
from models.store.submitted_states import submitted_states


def mergeability(connection: Connection, review: ReviewRow, evaluation: Evaluation | None = None) -> Mergeability:
    """Whether a merge would pass now, whoever may merge; a pure read, complete only under the coordination row.

    Approvals are counted anew, whatever the status says. Whoever merges is one approval, so that none is missing where
    the policy asks for one. Whether an author may merge alone depends on who asks and is no blocker here.
    """
    current, version = organization_ref(connection, review.org_id)
    computed_for = ComputedFor(org_commit_id=current, review_version=review.version)
    if review.status not in ("open", "approved"):
        pairs = submitted_states(connection, review.org_id, review.review_id, review.submission)
        before = {memory_id: base for memory_id, (base, _) in pairs.items()}
        after = {memory_id: result for memory_id, (_, result) in pairs.items()}
        return _mergeability("closed", computed_for, [], review.result_hash, before, after)
    evaluation = evaluation or _evaluation(connection, review, version)
    blockers = [*_archived(connection, review), *evaluation.blockers, *_approvals(connection, review, evaluation)]
    _show_candidates(connection, review, blockers)
    return _mergeability(
        "blocked" if blockers else "mergeable",
        computed_for,
        blockers,
        evaluation.result_hash(review.project_id),
        evaluation.current,
        evaluation.final_states,
    )


def _evaluation(connection: Connection, review: ReviewRow, version: int) -> Evaluation:
    members = latest_members(connection, review)
    drafts = drafts_by_id(connection, review.org_id, [member.draft_id for member in members])
    in_order = [drafts[member.draft_id] for member in members]
    return evaluate_drafts(connection, review.org_id, review.project_id, version, in_order)


def _archived(connection: Connection, review: ReviewRow) -> list[Problem]:
    state = connection.execute(
        text("select state from projects where org_id = :org_id and project_id = :project_id"),
        {"org_id": review.org_id, "project_id": review.project_id},
    ).scalar_one()
    if state == "active":
        return []
    return [ProjectArchived(f"The project is {state}.", project_id=review.project_id)]


def _show_candidates(connection: Connection, review: ReviewRow, blockers: Sequence[Problem]) -> None:
    """Put into what asks for reconciliation the candidate of the Draft that holds now; none is made here."""
    asking = [blocker for blocker in blockers if isinstance(blocker, ReconciliationRequired)]
    draft_ids = [DraftId(str(blocker.context["draft_id"])) for blocker in asking]
    live = live_bodies(connection, review.org_id, draft_ids)
    for blocker, draft_id in zip(asking, draft_ids, strict=True):
        if draft_id in live:
            blocker.context["candidates"] = [live[draft_id].model_dump(mode="json")]


def _approvals(connection: Connection, review: ReviewRow, evaluation: Evaluation) -> list[Problem]:
    problems: list[Problem] = []
    actual = evaluation.result_hash(review.project_id)
    if actual != review.result_hash:
        detail = "The result is not the one that was submitted."
        problems.append(ApprovalInvalidated(detail, expected=review.result_hash, actual=actual))
    electorate = electorate_of(connection, review)
    missing = approvals_missing(electorate, counted_approvers(connection, review, electorate))
    return problems if missing is None else [*problems, missing]


def _mergeability(
    state: str,
    computed_for: ComputedFor,
    blockers: Sequence[Problem],
    result_hash: str,
    before: Mapping[MemoryId, State],
    after: Mapping[MemoryId, State],
) -> Mergeability:
    changed = {memory_id for memory_id in after if after[memory_id] != before.get(memory_id)}
    created = {memory_id for memory_id in changed if before.get(memory_id) is None}
    deleted = {memory_id for memory_id in changed if after[memory_id] is None}
    return Mergeability(
        state=state,
        computed_for=computed_for,
        blockers=[problem.document() for problem in blockers],
        result_hash=result_hash,
        creates=_at_paths(after, created),
        updates=_at_paths(after, changed - created - deleted),
        deletes=_at_paths(before, deleted),
    )


def _at_paths(states: Mapping[MemoryId, State], memory_ids: set[MemoryId]) -> list[MemoryAtPath]:
    return sorted(
        (
            MemoryAtPath(memory_id=memory_id, path=state.path)
            for memory_id in memory_ids
            if (state := states[memory_id]) is not None
        ),
        key=lambda item: item.path,
    )
