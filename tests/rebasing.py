"""Candidates for tests: made, resolved, and confirmed in rebases and submissions, as their activities do it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from activities.requests import ResolvedState, pack
from models.identifiers import CandidateId, MemoryId, ReviewId, UserId, new_review_id
from models.store.locks import DraftRow
from models.store.operations import OperationKind, StoredOperation
from tests.commands import an_operation, carried_out, result_of, review
from tests.rows import Somewhere
from workflows.ids import reconciliation_workflow_id

Candidate = Mapping[str, Any]


def is_to_be(memory_id: str, path: str, content: str, description: str = "") -> ResolvedState:
    """A resolved state of a Memory that stays."""
    return ResolvedState(MemoryId(memory_id), True, path, description, content)


def is_to_go(memory_id: str) -> ResolvedState:
    """A resolved state of a Memory that goes."""
    return ResolvedState(MemoryId(memory_id), False)


def offered(candidate: Candidate, name: str) -> tuple[ResolvedState, ...]:
    """What a candidate offers by a name for every conflict that has it, one state a Memory."""
    states = {
        state["memory_id"]: state
        for conflict in candidate["conflicts"]
        for resolution in conflict["resolutions"]
        if resolution["name"] == name
        for state in resolution["resolved_state"]
    }
    return tuple(ResolvedState(**state) for state in states.values())


def a_reconciliation(place: Somewhere, draft: DraftRow, *, actor: UserId | None = None) -> StoredOperation:
    """A Draft's candidate, asked for."""
    request: dict[str, JsonValue] = {"draft_id": draft.draft_id, "expected_draft_version": draft.version}
    return _of_a_draft(place, OperationKind.RECONCILE, draft, request, actor)


def reconciled(place: Somewhere, draft: DraftRow, *, actor: UserId | None = None) -> StoredOperation:
    return carried_out(place, a_reconciliation(place, draft, actor=actor))


def a_candidate(place: Somewhere, draft: DraftRow) -> dict[str, Any]:
    """A Draft's candidate, made."""
    return result_of(reconciled(place, draft))


def a_rebase(
    place: Somewhere, draft: DraftRow, candidate: Candidate, *resolved: ResolvedState, actor: UserId | None = None
) -> StoredOperation:
    """A rebase, asked for."""
    request: dict[str, JsonValue] = {
        "draft_id": draft.draft_id,
        "candidate_id": candidate["candidate_id"],
        "expected_draft_version": draft.version,
        "resolved_state": pack(resolved) if resolved else None,
    }
    return _of_a_draft(place, OperationKind.REBASE, draft, request, actor)


def _of_a_draft(
    place: Somewhere, kind: OperationKind, draft: DraftRow, request: dict[str, JsonValue], actor: UserId | None
) -> StoredOperation:
    return an_operation(
        place,
        kind,
        request,
        actor=actor or draft.author_id,
        project_id=draft.project_id,
        workflow_id=reconciliation_workflow_id(draft.draft_id),
    )


def rebased(
    place: Somewhere, draft: DraftRow, candidate: Candidate, *resolved: ResolvedState, actor: UserId | None = None
) -> StoredOperation:
    return carried_out(place, a_rebase(place, draft, candidate, *resolved, actor=actor))


@dataclass(frozen=True)
class Confirmed:
    """A Draft as a submission names it, with the candidate that its author confirms."""

    draft: DraftRow
    candidate_id: CandidateId | None = None
    resolved: tuple[ResolvedState, ...] = ()

    def reference(self) -> dict[str, JsonValue]:
        return {
            "draft_id": self.draft.draft_id,
            "expected_draft_version": self.draft.version,
            "candidate_id": self.candidate_id,
            "resolved_state": pack(self.resolved) if self.resolved else None,
        }


def confirmed(draft: DraftRow, candidate: Candidate, *resolved: ResolvedState) -> Confirmed:
    return Confirmed(draft, candidate["candidate_id"], resolved)


def a_submit_of(place: Somewhere, *drafts: Confirmed) -> StoredOperation:
    first = drafts[0].draft
    return an_operation(
        place,
        OperationKind.SUBMIT,
        {"title": "A Review", "drafts": [draft.reference() for draft in drafts]},
        review_id=new_review_id(),
        actor=first.author_id,
        project_id=first.project_id,
    )


def submitted_with(place: Somewhere, *drafts: Confirmed) -> StoredOperation:
    return carried_out(place, a_submit_of(place, *drafts))


def resubmitted_with(place: Somewhere, review_id: ReviewId, *drafts: Confirmed) -> StoredOperation:
    present = review(place, review_id)
    request: dict[str, JsonValue] = {
        "expected_review_version": present.version,
        "drafts": [draft.reference() for draft in drafts],
    }
    operation = an_operation(place, OperationKind.RESUBMIT, request, review_id=review_id, actor=present.author_id)
    return carried_out(place, operation)
