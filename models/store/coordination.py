"""How Drafts stand to Current: computed on read, never stored (publication.md §2)."""

from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import Connection, TextClause, text

from models.identifiers import DraftId, OrganizationId
from models.schemas.drafts import Coordination
from models.store.candidates import LiveCandidate, live_candidates
from models.store.commits import organization_ref
from models.store.locks import DraftRow

CHANGED_UPSTREAM = text("""
    select d.draft_id from drafts d
    where d.org_id = :org_id and d.draft_id = any(:draft_ids) and (
        select true from draft_operations o
        cross join lateral (
            select v.from_version, v.to_version from memory_versions v
            where v.org_id = o.org_id and v.memory_id = o.memory_id order by v.from_version desc limit 1
        ) latest
        where o.org_id = d.org_id and o.draft_id = d.draft_id
          and (latest.from_version > d.base_version or latest.to_version > d.base_version)
        limit 1
    )
""")

# A Draft that was rebased onto what an earlier Draft of its Review makes stands on that only while such a Draft is
# there, or once Current has come to the same.
STRANDED = text("""
    select s.draft_id from draft_base_states s
    left join memory_versions v on v.org_id = s.org_id and v.memory_id = s.memory_id and v.to_version is null
    where s.org_id = :org_id and s.draft_id = any(:draft_ids)
      and (s.path, s.description, s.blob_id) is distinct from (v.path, v.description, v.blob_id)
      and not exists (
          select from drafts d
          join reviews r on r.org_id = d.org_id and r.review_id = d.review_id
          join review_submission_drafts own
            on own.org_id = r.org_id and own.review_id = r.review_id and own.number = r.submission
           and own.draft_id = d.draft_id
          join review_submission_drafts earlier
            on earlier.org_id = r.org_id and earlier.review_id = r.review_id and earlier.number = r.submission
           and earlier.position < own.position
          join draft_operations o on o.org_id = earlier.org_id and o.draft_id = earlier.draft_id
          where d.org_id = s.org_id and d.draft_id = s.draft_id and d.status = 'submitted'
            and o.memory_id = s.memory_id
      )
""")


def coordinate(
    connection: Connection, org_id: OrganizationId, drafts: Sequence[DraftRow]
) -> dict[DraftId, Coordination | None]:
    """How each Draft stands to Current; None for merged and discarded ones. As many statements for a page as for one.

    Behind is one whose base is not the Ref, or that stands on an earlier Draft of a Review which is not before it now.
    """
    coordination: dict[DraftId, Coordination | None] = {draft.draft_id: None for draft in drafts}
    unfinished = [draft for draft in drafts if draft.status in ("open", "submitted")]
    if not unfinished:
        return coordination
    current, version = organization_ref(connection, org_id)
    based_on_it = {draft.draft_id for draft in unfinished if draft.base_version == version}
    behind = {draft.draft_id for draft in unfinished} - based_on_it
    behind |= stranded(connection, org_id, based_on_it)
    changed = _among(connection, CHANGED_UPSTREAM, org_id, behind)
    candidates = live_candidates(connection, org_id, behind)
    for draft_id in (draft.draft_id for draft in unfinished):
        candidate = candidates.get(draft_id)
        coordination[draft_id] = Coordination(
            freshness="behind" if draft_id in behind else "current",
            reconciliation=_reconciliation(candidate) if draft_id in behind else "clean",
            current_commit_id=current,
            candidate_id=None if candidate is None else candidate.candidate_id,
            has_upstream_changes=draft_id in changed,
        )
    return coordination


def stranded(connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]) -> set[DraftId]:
    """Those that stand on what an earlier Draft made, which is not before them now, nor published."""
    return _among(connection, STRANDED, org_id, draft_ids)


def _reconciliation(candidate: LiveCandidate | None) -> Literal["unknown", "clean", "conflicts"]:
    if candidate is None:
        return "unknown"
    return "conflicts" if candidate.reconciliation == "conflicts" else "clean"


def _among(
    connection: Connection, statement: TextClause, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> set[DraftId]:
    """Those of the Drafts of which the statement tells."""
    if not draft_ids:
        return set()
    return set(connection.execute(statement, {"org_id": org_id, "draft_ids": list(draft_ids)}).scalars())
