"""After a publication: Drafts that fell behind are brought up to date where their result stays equal (§3, §8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine

from activities.recording import tell_drafts
from models.errors import DuplicateId, OperationInvalid, TargetMissing
from models.identifiers import SYSTEM, DraftId, OrganizationId
from models.rules.evaluation import Evaluation
from models.store.candidates import Proposal, keep_proposal
from models.store.commits import organization_ref
from models.store.coordination import stranded
from models.store.drafts import drafts_by_id, move_bases, read_draft
from models.store.locks import DraftRow, lock_coordination, lock_drafts
from models.store.proposals import Evaluated, Lineup, propose
from models.store.provisional import NOTHING_ELSEWHERE, made_beside
from models.store.review_evaluation import evaluate_drafts
from models.store.reviews import read_review
from models.store.submissions import latest_members
from models.store.transaction import Transaction, transaction
from models.store.unreconciled import compared_with, record_reconciled

UNJUDGED = (TargetMissing, DuplicateId, OperationInvalid)
"""A Draft whose operations do not hold comes to nothing that could stay equal, or be proposed."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """Drafts compared with Current in one snapshot: those of a Review, or an open one alone."""

    evaluated: Evaluated
    staying_equal: Sequence[DraftRow]
    proposal: Proposal


def after_publication(engine: Engine, org_id: OrganizationId, draft_id: DraftId) -> None:
    """Compare an unfinished Draft with what was published since its base; the Drafts of a Review are judged together.

    Where the result stays equal only the base moves; any other Draft gets a fresh candidate. What has moved on
    meanwhile is left to the next pass, and a second pass finds nothing to do.
    """
    compared = _compare(engine, org_id, draft_id)
    if compared is None:
        return
    if compared.staying_equal and not _move_bases(engine, org_id, compared):
        return
    _keep(engine, org_id, compared)


def _compare(engine: Engine, org_id: OrganizationId, draft_id: DraftId) -> _Pass | None:
    """Evaluate in a snapshot and without a lock: publications go on meanwhile."""
    snapshots = engine.execution_options(isolation_level="REPEATABLE READ")
    with snapshots.connect() as connection:
        draft = read_draft(connection, org_id, draft_id)
        commit_id, version = organization_ref(connection, org_id)
        if draft is None or draft.status not in ("open", "submitted") or compared_with(connection, draft) >= version:
            return None
        drafts = _judged_together(connection, draft)
        lineup = Lineup(
            commit_id=commit_id,
            version=version,
            project_id=draft.project_id,
            drafts=drafts,
            are_a_review=draft.status == "submitted",
            elsewhere=made_beside(connection, drafts) if draft.status == "open" else NOTHING_ELSEWHERE,
        )
        evaluation = evaluate_drafts(connection, org_id, lineup.project_id, version, drafts, elsewhere=lineup.elsewhere)
        evaluated = Evaluated(lineup, evaluation)
        judged = [one for one in drafts if one.draft_id not in _unjudged(evaluation)]
        # Another base alone does not bring up to date what stands on a Draft that is not before it any more.
        behind = evaluation.needs_reconciliation | stranded(connection, org_id, [one.draft_id for one in drafts])
        asking = behind.intersection(one.draft_id for one in judged)
        return _Pass(
            evaluated,
            staying_equal=[one for one in judged if one.draft_id not in asking and one.base_version != version],
            proposal=propose(connection, evaluated, asking, datetime.now(UTC)),
        )


def _judged_together(connection: Connection, draft: DraftRow) -> list[DraftRow]:
    review = None if draft.review_id is None else read_review(connection, draft.org_id, draft.review_id)
    if review is None or draft.status != "submitted":
        return [draft]
    members = [member.draft_id for member in latest_members(connection, review)]
    found = drafts_by_id(connection, draft.org_id, members)
    return [found[member] for member in members]


def _unjudged(evaluation: Evaluation) -> set[str]:
    return {str(problem.context.get("draft_id")) for problem in evaluation.blockers if isinstance(problem, UNJUDGED)}


def _move_bases(engine: Engine, org_id: OrganizationId, compared: _Pass) -> bool:
    """Move bases only: no version, no revision, no submission; false where something else was first."""
    with transaction(engine, org_id=org_id, actor_id=SYSTEM, request_id="") as tx:
        ref = lock_coordination(tx.connection, org_id)
        if ref.version != compared.evaluated.lineup.version or not _are_as_compared(tx, compared.evaluated.drafts):
            return False
        tell_drafts(tx, move_bases(tx, compared.staying_equal, ref), "base_moved", grown_by=0)
    return True


def _keep(engine: Engine, org_id: OrganizationId, compared: _Pass) -> None:
    """Keep the candidates, and note that the Drafts were compared with this version.

    Each is bound to what it was made for: one that a publication outruns before it is kept does no harm.
    """
    moved = {draft.draft_id: compared.evaluated.lineup.version for draft in compared.staying_equal}
    with transaction(engine, org_id=org_id, actor_id=SYSTEM, request_id="") as tx:
        if not _are_as_compared(tx, compared.evaluated.drafts, moved):
            return
        keep_proposal(tx, compared.proposal)
        compared_ids = [draft.draft_id for draft in compared.evaluated.drafts]
        record_reconciled(tx.connection, org_id, compared_ids, compared.evaluated.lineup.version)


def _are_as_compared(tx: Transaction, drafts: Sequence[DraftRow], moved: Mapping[DraftId, int] | None = None) -> bool:
    """Lock Drafts, and tell whether they are what they were, but for bases that were moved."""
    locked = lock_drafts(tx.connection, tx.org_id, [draft.draft_id for draft in drafts])
    bases = moved or {}
    return all(_tuple(locked[draft.draft_id], {}) == _tuple(draft, bases) for draft in drafts)


def _tuple(draft: DraftRow, moved: Mapping[DraftId, int]) -> tuple[int, str, str | None, int]:
    return draft.version, draft.status, draft.review_id, moved.get(draft.draft_id, draft.base_version)
