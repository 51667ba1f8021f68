"""Candidates as rows: kept under their binding, found again by it, live while what they were made for has not moved."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

import orjson
from sqlalchemy import Connection, RowMapping, text

from models.identifiers import BlobId, CandidateId, DraftId, MemoryId, OrganizationId
from models.rules.candidates import MadeFor, Sibling
from models.rules.conflicts import ENGINE
from models.store.compared import StoredConflict, StoredMemory
from models.store.drafts import keep_texts
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate.

    `review_hash` is what the whole Review would come to with it; None while that has conflicts, or there is none.
    """

    org_id: OrganizationId
    candidate_id: CandidateId
    draft_id: DraftId
    made_for: MadeFor
    binding: str
    reconciliation: str
    memories: list[StoredMemory]
    conflicts: list[StoredConflict]
    result_hash: str | None
    review_hash: str | None
    engine: str
    created_at: datetime

    @property
    def contested(self) -> list[MemoryId]:
        """The Memories with a conflict, each once, in order."""
        return list(dict.fromkeys(conflict.memory_id for conflict in self.conflicts))

    @property
    def blob_ids(self) -> set[BlobId]:
        """Every text that it shows."""
        compared: list[StoredMemory | StoredConflict] = [*self.memories, *self.conflicts]
        return {state.blob_id for each in compared for state in each.states}

    @classmethod
    def of(cls, row: RowMapping) -> "CandidateRow":
        """From a row of the table."""
        own = {field.name: row[field.name] for field in fields(cls) if field.name != "made_for"}
        compared = {
            "memories": [StoredMemory.model_validate(memory) for memory in row["memories"]],
            "conflicts": [StoredConflict.model_validate(conflict) for conflict in row["conflicts"]],
        }
        return cls(**own | compared, made_for=made_for_of(row))


def made_for_of(row: RowMapping) -> MadeFor:
    """What the candidate in a row of the table was made for."""
    values = {field.name: row[field.name] for field in fields(MadeFor)}
    drafts = {name: tuple(Sibling(**draft) for draft in values[name]) for name in ("siblings", "built_on")}
    return MadeFor(**values | drafts)


INSERT = text("""
    insert into reconciliation_candidates as c
        (memories, conflicts, org_id, candidate_id, draft_id, draft_version, base_commit_id, base_version,
         current_commit_id, current_version, siblings, built_on, binding, reconciliation, result_hash, review_hash,
         engine, created_at)
    values (cast(:memories as jsonb), cast(:conflicts as jsonb), :org_id, :candidate_id, :draft_id, :draft_version,
            :base_commit_id, :base_version, :current_commit_id, :current_version, cast(:siblings as jsonb),
            cast(:built_on as jsonb), :binding, :reconciliation, :result_hash, :review_hash, :engine, :created_at)
    on conflict (org_id, candidate_id) do update
    set review_hash = excluded.review_hash where c.review_hash is distinct from excluded.review_hash
""")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Candidates with what it takes to keep them.

    Args:
        candidates: in the Review's Draft order.
        texts: those that merging made.
        carriers: the Drafts whose operations carry the other texts, where they are no blobs yet.
    """

    candidates: Sequence[CandidateRow]
    texts: Mapping[BlobId, str]
    carriers: Collection[DraftId]


def keep_proposal(tx: Transaction, proposal: Proposal) -> None:
    """Store candidates and the texts that they name.

    Those that are there already stay as they were handed out; only what the whole Review comes to may have moved.
    """
    if not proposal.candidates:
        return
    named = {blob_id for candidate in proposal.candidates for blob_id in candidate.blob_ids}
    keep_texts(tx, named, proposal.carriers, proposal.texts)
    tx.connection.execute(INSERT, [_columns(candidate) for candidate in proposal.candidates])


JSON_COLUMNS = ("siblings", "built_on", "memories", "conflicts")


def _columns(candidate: CandidateRow) -> dict[str, object]:
    made_for = {field.name: getattr(candidate.made_for, field.name) for field in fields(MadeFor)}
    own = {field.name: getattr(candidate, field.name) for field in fields(candidate) if field.name != "made_for"}
    compared = {name: [each.model_dump() for each in own[name]] for name in ("memories", "conflicts")}
    values = {**made_for, **own, **compared}
    return values | {name: orjson.dumps(values[name]).decode() for name in JSON_COLUMNS}


def read_candidates(
    connection: Connection, org_id: OrganizationId, candidate_ids: Collection[CandidateId]
) -> dict[CandidateId, CandidateRow]:
    """Candidates by their ids, whosever they are, live or stale."""
    rows = connection.execute(
        text("select * from reconciliation_candidates where org_id = :org_id and candidate_id = any(:candidate_ids)"),
        {"org_id": org_id, "candidate_ids": list(candidate_ids)},
    )
    return {row["candidate_id"]: CandidateRow.of(row) for row in rows.mappings()}


@dataclass(frozen=True, slots=True)
class LiveCandidate:
    """A candidate whose tuple holds now."""

    candidate_id: CandidateId
    reconciliation: str


# A submitted Draft stands after the earlier ones of its Review, an open one after those that it was compared after, and
# on those that create what it changes.
LIVE = text("""
    select c.draft_id, c.candidate_id, c.reconciliation
    from reconciliation_candidates c
    join drafts d on d.org_id = c.org_id and d.draft_id = c.draft_id
    join organization_refs r on r.org_id = c.org_id
    where c.org_id = :org_id and c.draft_id = any(:draft_ids) and c.engine = :engine
      and d.status in ('open', 'submitted')
      and c.draft_version = d.version and c.base_version = d.base_version and c.current_version = r.version
      and case d.status
          when 'submitted' then c.siblings = (
              select coalesce(jsonb_agg(
                         jsonb_build_object('draft_id', e.draft_id, 'draft_version', e.version) order by m.position
                     ), '[]')
              from reviews v
              join review_submission_drafts own
                on own.org_id = v.org_id and own.review_id = v.review_id and own.number = v.submission
               and own.draft_id = d.draft_id
              join review_submission_drafts m
                on m.org_id = v.org_id and m.review_id = v.review_id and m.number = v.submission
               and m.position < own.position
              join drafts e on e.org_id = m.org_id and e.draft_id = m.draft_id
              where v.org_id = d.org_id and v.review_id = d.review_id
          )
          else not exists (
              select from jsonb_to_recordset(c.siblings || c.built_on) as s(draft_id text, draft_version integer)
              left join drafts e on e.org_id = c.org_id and e.draft_id = s.draft_id
              where e.version is distinct from s.draft_version
          )
      end
    order by c.draft_id, jsonb_array_length(c.siblings) desc, c.created_at, c.candidate_id
""")


def live_candidates(
    connection: Connection, org_id: OrganizationId, draft_ids: Collection[DraftId]
) -> dict[DraftId, LiveCandidate]:
    """For each Draft that has one, the candidate whose tuple holds now; one statement for however many.

    Of several, that an open Draft has when it was compared alone and after others, the one made alone.
    """
    if not draft_ids:
        return {}
    rows = connection.execute(LIVE, {"org_id": org_id, "draft_ids": list(draft_ids), "engine": ENGINE})
    return {row.draft_id: LiveCandidate(row.candidate_id, row.reconciliation) for row in rows}


def is_live(connection: Connection, candidate: CandidateRow) -> bool:
    """Whether all that a candidate was made for is as it was."""
    values = {"org_id": candidate.org_id, "draft_ids": [candidate.draft_id], "engine": ENGINE}
    return any(row.candidate_id == candidate.candidate_id for row in connection.execute(LIVE, values))
