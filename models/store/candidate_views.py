"""Candidates as they are shown, whole: texts in place of their hashes, and what depends on the present."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, text

from models.errors import NotFound
from models.identifiers import BlobId, CandidateId, DraftId, OrganizationId
from models.schemas.reconciliation import (
    CandidateBody,
)
from models.store.candidates import CandidateRow, Proposal, is_live, live_candidates, read_candidates
from models.store.draft_views import read_contents

APPROVED_RESULT = text("""
    select d.draft_id, r.result_hash
    from drafts d join reviews r on r.org_id = d.org_id and r.review_id = d.review_id
    where d.org_id = :org_id and d.draft_id = any(:draft_ids) and d.status = 'submitted'
      and exists (
          select from review_approvals a
          where a.org_id = r.org_id and a.review_id = r.review_id and a.dropped_at is null
      )
""")


def candidate_body(
    connection: Connection, org_id: OrganizationId, draft_id: DraftId, candidate_id: CandidateId
) -> CandidateBody:
    """A stored candidate of a Draft, whoever asks.

    Raises:
        NotFound: the Draft has no such candidate.
    """
    candidate = read_candidates(connection, org_id, [candidate_id]).get(candidate_id)
    if candidate is None or candidate.draft_id != draft_id:
        raise NotFound("The Draft has no such candidate.", field="candidate_id")
    texts = read_contents(connection, org_id, candidate.blob_ids)
    (body,) = _bodies(connection, org_id, [candidate], texts, stale=not is_live(connection, candidate))
    return body


def live_bodies(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> dict[DraftId, CandidateBody]:
    """For each Draft that has one, the candidate that holds now; few statements for however many."""
    live = [found.candidate_id for found in live_candidates(connection, org_id, draft_ids).values()]
    candidates = [*read_candidates(connection, org_id, live).values()] if live else []
    texts = read_contents(connection, org_id, _named(candidates)) if candidates else {}
    bodies = _bodies(connection, org_id, candidates, texts, stale=False)
    return {candidate.draft_id: body for candidate, body in zip(candidates, bodies, strict=True)}


def proposed_bodies(connection: Connection, org_id: OrganizationId, proposal: Proposal) -> list[CandidateBody]:
    """Candidates that were just made, stored or not, in their order."""
    texts = read_contents(connection, org_id, _named(proposal.candidates), proposal.carriers) | dict(proposal.texts)
    return _bodies(connection, org_id, proposal.candidates, texts, stale=False)


def _named(candidates: Sequence[CandidateRow]) -> set[BlobId]:
    return {blob_id for candidate in candidates for blob_id in candidate.blob_ids}


def _bodies(
    connection: Connection,
    org_id: OrganizationId,
    candidates: Sequence[CandidateRow],
    texts: Mapping[BlobId, str],
    *,
    stale: bool,
) -> list[CandidateBody]:
    draft_ids = [candidate.draft_id for candidate in candidates if candidate.review_hash is not None]
    rows = connection.execute(APPROVED_RESULT, {"org_id": org_id, "draft_ids": draft_ids}) if draft_ids else ()
    approved: dict[DraftId, str] = {row.draft_id: row.result_hash for row in rows}
    return [_body(candidate, texts, approved.get(candidate.draft_id), stale=stale) for candidate in candidates]


def _body(candidate: CandidateRow, texts: Mapping[BlobId, str], approved: str | None, *, stale: bool) -> CandidateBody:
    return CandidateBody(
        candidate_id=candidate.candidate_id,
        draft_id=candidate.draft_id,
        draft_version=candidate.made_for.draft_version,
        base_commit_id=candidate.made_for.base_commit_id,
        current_commit_id=candidate.made_for.current_commit_id,
        reconciliation=candidate.reconciliation,
        memories=[memory.shown(texts) for memory in candidate.memories],
        conflicts=[conflict.shown(texts) for conflict in candidate.conflicts],
        result_hash=candidate.result_hash,
        approval_survives=_approval_survives(candidate, approved),
        engine=candidate.engine,
        stale=stale,
        created_at=candidate.created_at,
    )


def _approval_survives(candidate: CandidateRow, approved: str | None) -> bool | None:
    """Whether the approvals that stand would; None where there are none, or something has to be chosen first."""
    if candidate.review_hash is None or approved is None:
        return None
    return approved == candidate.review_hash
