"""A Draft's own commands: compare it with Current, and bring it up to date (publication.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from activities.confirming import ConfirmedDrafts, Named, evaluate_confirmed, read_confirmations
from activities.named_drafts import changed_draft
from activities.next_submissions import add_submission
from activities.rebasing import apply_confirmed
from activities.requests import RebaseRequest, ReconcileRequest, unpack
from activities.scene import Scene, archived, lock_scene, refuse
from models.errors import (
    CandidateStale,
    DraftAlreadyCurrent,
    DraftClosed,
    NotFound,
    PathCollision,
    Problem,
)
from models.identifiers import DraftId
from models.schemas.drafts import DraftBody
from models.schemas.reconciliation import CandidateBody
from models.store.access import require_project
from models.store.candidate_views import proposed_bodies
from models.store.candidates import keep_proposal, read_candidates
from models.store.coordination import stranded
from models.store.draft_views import draft_body
from models.store.drafts import read_draft
from models.store.locks import (
    DraftRow,
    OrganizationRefRow,
    ProjectRow,
    lock_coordination,
    lock_drafts,
    lock_project,
)
from models.store.operations import StoredOperation
from models.store.proposals import Evaluated, propose
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class _Setting:
    """A Draft of the actor, locked, and the Drafts that it is compared with Current among, in order.

    Those of its Review when it is submitted (`scene`); itself when it is open, after those that were named.
    """

    ref: OrganizationRefRow
    project: ProjectRow
    draft: DraftRow
    drafts: Sequence[DraftRow]
    scene: Scene | None


def reconcile(tx: Transaction, operation: StoredOperation) -> CandidateBody:
    """Make a Draft's candidate, or find the one that was made for the same; no Draft changes."""
    request = ReconcileRequest.model_validate(operation.request)
    setting = _lock_setting(tx, request.draft_id)
    confirmed = _evaluate(tx, setting, [])
    evaluated = confirmed.evaluated
    problems = _draft_problems(setting, request.expected_draft_version)
    if _is_up_to_date(tx, setting, evaluated):
        problems.append(DraftAlreadyCurrent("The Draft's base is the current Ref.", draft_id=request.draft_id))
    refuse(problems)
    proposal = propose(tx.connection, evaluated, [request.draft_id], tx.now)
    keep_proposal(tx, proposal)
    return proposed_bodies(tx.connection, tx.org_id, proposal)[0]


def _is_up_to_date(tx: Transaction, setting: _Setting, evaluated: Evaluated) -> bool:
    draft_id = setting.draft.draft_id
    if setting.draft.base_version != setting.ref.version or draft_id in evaluated.evaluation.needs_reconciliation:
        return False
    return not stranded(tx.connection, tx.org_id, [draft_id])


def rebase(tx: Transaction, operation: StoredOperation) -> DraftBody:
    """Apply a confirmed candidate to a Draft; of a submitted one, the Review gets another submission."""
    request = RebaseRequest.model_validate(operation.request)
    setting = _lock_setting(tx, request.draft_id, after=_made_after(tx, request))
    named = Named(request.draft_id, request.candidate_id, unpack(request.resolved_state))
    confirmed = _evaluate(tx, setting, [named])
    problems = [*_draft_problems(setting, request.expected_draft_version), *confirmed.problems]
    if confirmed.outrun:
        problems.append(CandidateStale("What the candidate was made from has changed.", draft_id=request.draft_id))
    if setting.scene is not None:
        problems.extend(_taken_paths(confirmed, request.draft_id))
    refuse(problems)
    drafts = apply_confirmed(tx, setting.ref, confirmed)
    if setting.scene is not None:
        add_submission(tx, setting.scene, drafts)
    return draft_body(tx.connection, drafts[setting.drafts.index(setting.draft)])


def _lock_setting(tx: Transaction, draft_id: DraftId, *, after: Sequence[DraftId] = ()) -> _Setting:
    """Lock a Draft of the actor with all that its reconciliation meets.

    Raises:
        NotFound: the actor has no such Draft, or is no longer in its project.
        Forbidden: the actor does not propose there any more.
    """
    ref = lock_coordination(tx.connection, tx.org_id)
    known = read_draft(tx.connection, tx.org_id, draft_id)
    if known is None or known.author_id != tx.actor_id:
        raise NotFound("There is no such Draft.", field="draft_id")
    if known.status == "submitted" and known.review_id is not None:
        scene = lock_scene(tx, known.review_id)
        scene.access.require_write()
        return _Setting(scene.ref, scene.project, scene.drafts[draft_id], scene.member_drafts, scene)
    project = lock_project(tx.connection, tx.org_id, known.project_id)
    require_project(tx.connection, tx.org_id, tx.actor_id, known.project_id).require_write()
    locked = lock_drafts(tx.connection, tx.org_id, [draft_id, *after])
    drafts = [locked[one] for one in [*after, draft_id] if one in locked]
    return _Setting(ref, project, locked[draft_id], drafts, None)


def _made_after(tx: Transaction, request: RebaseRequest) -> list[DraftId]:
    """The Drafts that a candidate was made after; none where it was asked for of an open Draft alone.

    An open Draft is rebased onto what they make of it now, whatever became of them: one that has moved in any way, was
    submitted or discarded, has another version, and makes the candidate stale.
    """
    candidate = read_candidates(tx.connection, tx.org_id, [request.candidate_id]).get(request.candidate_id)
    if candidate is None or candidate.draft_id != request.draft_id:
        raise NotFound("The Draft has no such candidate.", field="candidate_id")
    return [sibling.draft_id for sibling in candidate.made_for.siblings]


def _evaluate(tx: Transaction, setting: _Setting, named: Sequence[Named]) -> ConfirmedDrafts:
    return evaluate_confirmed(
        tx,
        setting.ref,
        setting.project.project_id,
        setting.drafts,
        read_confirmations(tx, named),
        are_a_review=setting.scene is not None,
        alone=setting.scene is None,
    )


def _draft_problems(setting: _Setting, expected_version: int) -> list[Problem]:
    draft = setting.draft
    problems: list[Problem] = []
    if draft.status in ("merged", "discarded"):
        problems.append(DraftClosed(f"The Draft is {draft.status}.", draft_id=draft.draft_id))
    problems.extend(archived(setting.project))
    if draft.version != expected_version:
        problems.append(changed_draft(draft, expected_version))
    return problems


def _taken_paths(confirmed: ConfirmedDrafts, draft_id: DraftId) -> list[Problem]:
    """Occupied paths in the way of a submitted Draft, as a submission asks for them."""
    return [
        problem
        for problem in confirmed.evaluated.evaluation.blockers
        if isinstance(problem, PathCollision) and problem.context.get("draft_id") == draft_id
    ]
