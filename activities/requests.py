"""What the API stores of a command until it is carried out: ids, versions, short texts, and resolved states."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from models.identifiers import CandidateId, CommitId, DraftId, MemoryId


@dataclass(frozen=True, slots=True)
class ResolvedState:
    """What a Memory with a conflict is to be, as it was sent; no texts where it is to be gone."""

    memory_id: MemoryId
    exists: bool
    path: str | None = None
    description: str | None = None
    content: str | None = None


def pack(states: Sequence[ResolvedState]) -> str:
    """Resolved states as an ASCII text: jsonb holds neither NUL nor lone surrogates, whose refusal comes later."""
    return json.dumps([asdict(state) for state in states])


def unpack(packed: str | None) -> list[ResolvedState]:
    """What `pack` was given; nothing of None."""
    return [] if packed is None else [ResolvedState(**state) for state in json.loads(packed)]


class Request(BaseModel):
    """A stored request; unknown members are a defect of ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DraftReference(Request):
    """A Draft at the version its author saw, and what the author confirms of it; `resolved_state` is packed."""

    draft_id: DraftId
    expected_draft_version: int
    candidate_id: CandidateId | None = None
    resolved_state: str | None = None


class ReconcileRequest(Request):
    """`POST /drafts/{id}/reconciliation-candidates`."""

    draft_id: DraftId
    expected_draft_version: int


class RebaseRequest(Request):
    """`POST /drafts/{id}/rebases`; `resolved_state` is packed."""

    draft_id: DraftId
    candidate_id: CandidateId
    expected_draft_version: int
    resolved_state: str | None = None


class SubmitRequest(Request):
    """`POST /reviews`."""

    title: str
    description: str = ""
    drafts: tuple[DraftReference, ...]
    publish_at: datetime | None = None


class ResubmitRequest(Request):
    """`POST /reviews/{id}/submissions`; None leaves title or description alone."""

    expected_review_version: int
    drafts: tuple[DraftReference, ...]
    title: str | None = None
    description: str | None = None


class DecideRequest(Request):
    """`POST /reviews/{id}/decisions`."""

    decision: str
    expected_review_version: int
    body: str | None = None


class WithdrawRequest(Request):
    """`POST /reviews/{id}/withdrawals`."""

    expected_review_version: int
    reason: str | None = None


class MergeRequest(Request):
    """`POST /reviews/{id}/merges`; `expected_org_commit_id` is what `If-Match` named, `ref-none` where nothing is.

    `scheduled_for` is the `publish_at` that fell due, where nobody but the clock asked; the Review's version does not
    matter then.
    """

    expected_review_version: int
    scheduled_for: datetime | None = None
    expected_result_hash: str | None = None
    expected_org_commit_id: CommitId | None = None


class SelectRequest(Request):
    """`PUT /projects/{id}/org-selections`."""

    expected_revision: int
    resource_ids: tuple[MemoryId, ...]


class ImportRequest(Request):
    """`POST /imports/{id}/start`; the title is the Review's, and what operators see of the operation."""

    title: str
