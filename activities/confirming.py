"""Candidates that a command confirms, and the fresh ones that its refusal brings (publication.md §3, §4)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from activities.requests import ResolvedState
from models.errors import (
    CandidateStale,
    InvalidRequest,
    JsonValue,
    NotFound,
    OperationInvalid,
    Problem,
    ReconciliationRequired,
    ResolutionRequired,
    first_by_precedence,
)
from models.identifiers import BlobId, CandidateId, DraftId, MemoryId, ProjectId
from models.rules.bodies import BODY_FIELD, DESCRIPTION_FIELD, accept_body, accept_description
from models.rules.candidates import binding_of, in_order_among
from models.rules.conflicts import ENGINE
from models.rules.evaluation import Confirmed, Evaluation
from models.rules.hashes import body_of
from models.rules.paths import accept_path
from models.rules.states import MemoryState, State
from models.store.candidate_views import proposed_bodies
from models.store.candidates import CandidateRow, keep_proposal, read_candidates
from models.store.compared import documents_of
from models.store.locks import DraftRow, OrganizationRefRow
from models.store.proposals import Evaluated, Lineup, propose
from models.store.provisional import NOTHING_ELSEWHERE, made_beside
from models.store.review_evaluation import evaluate_drafts
from models.store.transaction import Transaction

FIELDS: Mapping[str, str] = {BODY_FIELD: "content", DESCRIPTION_FIELD: "description"}
"""How a resolved state calls what an operation calls otherwise."""


@dataclass(frozen=True, slots=True)
class Named:
    """A candidate as a request names it for a Draft; `place` is where the request does, as `drafts[2].`."""

    draft_id: DraftId
    candidate_id: CandidateId
    resolved: Sequence[ResolvedState]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A candidate of a Draft that its author confirms, with the states that settle its conflicts.

    `problems` is what keeps it from being applied, whatever has moved meanwhile.
    """

    candidate: CandidateRow
    place: str
    states: Mapping[MemoryId, State] = field(default_factory=dict)
    texts: Mapping[BlobId, str] = field(default_factory=dict)
    problems: Sequence[Problem] = ()


Confirmations = Mapping[DraftId, Confirmation]
"""By Draft."""


def read_confirmations(tx: Transaction, named: Sequence[Named]) -> dict[DraftId, Confirmation]:
    """Find the candidates that are named, and judge the states that are to settle their conflicts.

    Raises:
        NotFound: a Draft has no such candidate (`field`).
    """
    stored = read_candidates(tx.connection, tx.org_id, [one.candidate_id for one in named])
    confirmations: dict[DraftId, Confirmation] = {}
    for one in named:
        candidate = stored.get(one.candidate_id)
        if candidate is None or candidate.draft_id != one.draft_id:
            raise NotFound("The Draft has no such candidate.", field=f"{one.place}candidate_id")
        confirmations.setdefault(one.draft_id, _confirmation(candidate, one))
    return confirmations


def _confirmation(candidate: CandidateRow, named: Named) -> Confirmation:
    states: dict[MemoryId, State] = {}
    texts: dict[BlobId, str] = {}
    problems = list(_miscounted(candidate, named))
    for position, resolved in enumerate(named.resolved):
        try:
            states[resolved.memory_id] = _accepted(resolved, texts)
        except OperationInvalid as problem:
            where = str(problem.context.get("field"))
            problem.context["field"] = f"{named.place}resolved_state[{position}].{FIELDS.get(where, where)}"
            problem.context["draft_id"] = named.draft_id
            problems.append(problem)
    return Confirmation(candidate, named.place, states, texts, problems)


def _miscounted(candidate: CandidateRow, named: Named) -> list[Problem]:
    """Exactly one state for each Memory with a conflict."""
    contested = candidate.contested
    given = [resolved.memory_id for resolved in named.resolved]
    errors = [
        (f"{named.place}resolved_state[{position}].memory_id", "duplicate" if memory_id in contested else "unknown")
        for position, memory_id in enumerate(given)
        if memory_id not in contested or memory_id in given[:position]
    ]
    problems: list[Problem] = [InvalidRequest.of_all(errors)] if errors else []
    problems.extend(
        ResolutionRequired(
            f"The conflict about {memory_id} has no resolved state.",
            memory_id=memory_id,
            draft_id=candidate.draft_id,
            candidate_id=candidate.candidate_id,
        )
        for memory_id in contested
        if memory_id not in given
    )
    return problems


def _accepted(resolved: ResolvedState, texts: dict[BlobId, str]) -> State:
    if not resolved.exists:
        return None
    content = accept_body(resolved.content or "")
    state = MemoryState(
        path=accept_path(resolved.path or ""),
        description=accept_description(resolved.description or ""),
        body=body_of(content),
    )
    texts[state.body.blob_id] = content
    return state


@dataclass(frozen=True, slots=True)
class ConfirmedDrafts:
    """Drafts as they come out with what was confirmed of them, and what that meets.

    Args:
        evaluated: the outcome with the candidates that hold.
        holding: those candidates, in the Drafts' order.
        problems: what keeps confirmed candidates from being applied.
        outrun: the Drafts whose candidate no longer fits, because of what is confirmed of an earlier one.
        asking: the outcome that fresh candidates are made of: nothing is confirmed in it of a Draft that needs one.
    """

    evaluated: Evaluated
    holding: Confirmations
    problems: Sequence[Problem]
    outrun: Sequence[DraftId]
    asking: Evaluated


def evaluate_confirmed(
    tx: Transaction,
    ref: OrganizationRefRow,
    project_id: ProjectId,
    drafts: Sequence[DraftRow],
    confirmations: Confirmations,
    *,
    are_a_review: bool,
    alone: bool = False,
) -> ConfirmedDrafts:
    """Evaluate locked Drafts, in order, with those of the confirmed candidates that still hold.

    Args:
        tx: the transaction.
        ref: the coordination row, locked.
        project_id: the Drafts' project.
        drafts: each once, in the order of their Review.
        confirmations: what is confirmed of them.
        are_a_review: whether they are submitted, or about to be, to a Review that exists.
        alone: whether they are looked at before they are submitted.
    """
    lineup = Lineup(
        commit_id=ref.commit_id,
        version=ref.version,
        project_id=project_id,
        drafts=drafts,
        are_a_review=are_a_review,
        elsewhere=made_beside(tx.connection, drafts) if alone else NOTHING_ELSEWHERE,
    )
    unmoved = {
        draft.draft_id: confirmations[draft.draft_id]
        for draft in drafts
        if draft.draft_id in confirmations and _has_not_moved(lineup, draft, confirmations[draft.draft_id].candidate)
    }
    stale = [confirmation for draft_id, confirmation in confirmations.items() if draft_id not in unmoved]
    problems = [problem for confirmation in confirmations.values() for problem in confirmation.problems]
    problems.extend(map(_stale, stale))
    evaluation = _evaluate(tx, lineup, unmoved)
    outrun = evaluation.outrun
    holding = {draft_id: one for draft_id, one in unmoved.items() if draft_id not in outrun}
    evaluated = Evaluated(lineup, evaluation, _states(holding))
    return ConfirmedDrafts(evaluated, holding, problems, outrun, _asking(tx, evaluated, unmoved))


def _has_not_moved(now: Lineup, draft: DraftRow, candidate: CandidateRow) -> bool:
    """Whether Draft, base and Ref are what they were, and the Drafts it was made after still stand before it.

    What it builds on may stand before it as well by now, where all are submitted together.
    """
    made_for, before = candidate.made_for, now.before(draft)
    present = replace(now.made_for(draft), siblings=made_for.siblings, built_on=made_for.built_on)
    return (
        (present, ENGINE) == (made_for, candidate.engine)
        and in_order_among(made_for.siblings, before)
        and {*made_for.built_on} <= {*before, *now.built_on(draft)}
    )


def _stale(confirmation: Confirmation) -> CandidateStale:
    return CandidateStale(
        "What the candidate was made for has moved.",
        draft_id=confirmation.candidate.draft_id,
        candidate_id=confirmation.candidate.candidate_id,
        field=f"{confirmation.place}candidate_id",
    )


def _asking(tx: Transaction, evaluated: Evaluated, confirmations: Confirmations) -> Evaluated:
    """The same without what is confirmed of Drafts that need another confirmation: all that is to be chosen is shown.

    Evaluated again only where there are such, which is where the command is refused.
    """
    evaluation, left = evaluated.evaluation, confirmations
    while again := evaluation.needs_reconciliation & (left.keys() - evaluation.outrun):
        left = {draft_id: one for draft_id, one in left.items() if draft_id not in again}
        evaluation = _evaluate(tx, evaluated.lineup, left)
    holding = {draft_id: one for draft_id, one in left.items() if draft_id not in evaluation.outrun}
    return Evaluated(evaluated.lineup, evaluation, _states(holding))


def _states(confirmations: Confirmations) -> Confirmed:
    return {draft_id: confirmation.states for draft_id, confirmation in confirmations.items()}


def _evaluate(tx: Transaction, lineup: Lineup, confirmations: Confirmations) -> Evaluation:
    def fits(draft_id: DraftId, current: Mapping[MemoryId, State]) -> bool:
        candidate = confirmations[draft_id].candidate
        return binding_of(candidate.made_for, current, documents_of(candidate.conflicts)) == candidate.binding

    return evaluate_drafts(
        tx.connection,
        tx.org_id,
        lineup.project_id,
        lineup.version,
        lineup.drafts,
        confirmed=_states(confirmations),
        fits=fits,
        texts={blob_id: content for one in confirmations.values() for blob_id, content in one.texts.items()},
        elsewhere=lineup.elsewhere,
    )


def refuse_or_propose(
    tx: Transaction, problems: Sequence[Problem], evaluated: Evaluated, outrun: Collection[DraftId] = ()
) -> None:
    """Raise the one of several problems that goes first; do nothing when there is none.

    Where that is `reconciliation_required`, it carries a fresh candidate of every Draft that needs one, and of every
    one whose candidate was `outrun`; they are kept although nothing else of the command is.

    Args:
        tx: the transaction.
        problems: in any order.
        evaluated: what candidates are made of (`ConfirmedDrafts.asking`, where any are confirmed).
        outrun: the Drafts whose candidate no longer fits.
    """
    if outrun:
        detail = "A resolution of an earlier Draft changes what this Draft's candidate was made from."
        problems = [*problems, ReconciliationRequired(detail, draft_id=next(iter(outrun)))]
    problem = first_by_precedence(problems)
    if isinstance(problem, ReconciliationRequired):
        evaluation = evaluated.evaluation
        needed = evaluation.needs_reconciliation.union(evaluation.outrun)
        proposal = propose(tx.connection, evaluated, needed, tx.now)
        tx.kept_if_refused.append(partial(keep_proposal, proposal=proposal))
        bodies = proposed_bodies(tx.connection, tx.org_id, proposal)
        candidates: list[JsonValue] = [body.model_dump(mode="json") for body in bodies]
        raise ReconciliationRequired(problem.detail, **{**problem.context, "candidates": candidates})
    if problem is not None:
        raise problem
