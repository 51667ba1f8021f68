"""Candidates made of an evaluation: what a Draft may be brought to, and what has to be chosen (publication.md §3)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Connection

from models.identifiers import CommitId, DraftId, MemoryId, ProjectId, final_id, is_provisional
from models.rules.candidates import MadeFor, Sibling, binding_of, candidate_id_of
from models.rules.conflicts import ENGINE, Conflict
from models.rules.evaluation import Confirmed, Evaluation
from models.rules.hashes import result_hash
from models.rules.states import State
from models.schemas.reconciliation import OtherBody
from models.store.candidates import CandidateRow, Proposal, read_candidates
from models.store.compared import StoredConflict, StoredMemory, documents_of
from models.store.locks import DraftRow
from models.store.provisional import NOTHING_ELSEWHERE, Elsewhere, creators_of
from models.store.upstream_changes import Question, UpstreamChange, last_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """Drafts of one project as they stand, in order, beside the organization's present Ref.

    Args:
        commit_id: the Ref's commit, None before the first.
        version: its version.
        project_id: whose Drafts these are.
        drafts: as they are now, in the order of their Review.
        are_a_review: whether they are the Drafts of a Review that exists.
        elsewhere: what they build on beside each other; nothing of what is submitted.
    """

    commit_id: CommitId | None
    version: int
    project_id: ProjectId
    drafts: Sequence[DraftRow]
    are_a_review: bool
    elsewhere: Elsewhere = NOTHING_ELSEWHERE

    def made_for(self, draft: DraftRow) -> MadeFor:
        """What a candidate of a Draft is made for now."""
        return MadeFor(
            draft_version=draft.version,
            base_commit_id=draft.base_commit_id,
            base_version=draft.base_version,
            current_commit_id=self.commit_id,
            current_version=self.version,
            siblings=tuple(self.before(draft)),
            built_on=tuple(self.built_on(draft)),
        )

    def before(self, draft: DraftRow) -> list[Sibling]:
        """The Drafts before one, at their versions."""
        earlier = self.drafts[: self.drafts.index(draft)]
        return [Sibling(sibling.draft_id, sibling.version) for sibling in earlier]

    def built_on(self, draft: DraftRow) -> list[Sibling]:
        """The Drafts that are not before one, but create what it changes."""
        before = {sibling.draft_id for sibling in self.before(draft)}
        creators = self.elsewhere.built_on.get(draft.draft_id, ())
        return [creator for creator in creators if creator.draft_id not in before]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Drafts, what came of them, and what was confirmed of them for that."""

    lineup: Lineup
    evaluation: Evaluation
    confirmed: Confirmed = field(default_factory=dict)

    @property
    def drafts(self) -> Sequence[DraftRow]:
        """As they were evaluated, in order."""
        return self.lineup.drafts

    def current_of(self, draft: DraftRow) -> dict[MemoryId, State]:
        """What plays Current for the Memories that a Draft touches."""
        comparisons = self.evaluation.reconciliations[draft.draft_id].comparisons
        return {comparison.memory_id: comparison.current for comparison in comparisons}

    @property
    def review_hash(self) -> str | None:
        """What the Review comes to if all is applied; None while something has to be chosen, or there is none."""
        undecided = (
            reconciliation.conflicts and draft_id not in self.confirmed
            for draft_id, reconciliation in self.evaluation.reconciliations.items()
        )
        if not self.lineup.are_a_review or any(undecided):
            return None
        return self.evaluation.result_hash(self.lineup.project_id)


def propose(connection: Connection, evaluated: Evaluated, which: Collection[DraftId], now: datetime) -> Proposal:
    """Make the candidates of some of the Drafts, in the order of their Review; nothing is stored."""
    chosen = [draft for draft in evaluated.drafts if draft.draft_id in which]
    sides = _Sides.of(connection, evaluated, chosen)
    fresh = [_candidate(evaluated, draft, sides, now) for draft in chosen]
    return Proposal(
        _as_known(connection, fresh), evaluated.evaluation.texts, carriers=_carriers(connection, evaluated, chosen)
    )


def _as_known(connection: Connection, fresh: Sequence[CandidateRow]) -> list[CandidateRow]:
    """Those that were made before are as old as they are."""
    if not fresh:
        return []
    known = read_candidates(connection, fresh[0].org_id, [candidate.candidate_id for candidate in fresh])
    return [
        replace(candidate, created_at=known[candidate.candidate_id].created_at)
        if candidate.candidate_id in known
        else candidate
        for candidate in fresh
    ]


def _carriers(connection: Connection, evaluated: Evaluated, chosen: Sequence[DraftRow]) -> set[DraftId]:
    """The Drafts whose operations carry texts that candidates show: these, and those that create what they change."""
    carriers = {draft.draft_id for draft in evaluated.drafts}
    for draft in chosen:
        touched = [memory_id for memory_id in evaluated.current_of(draft) if is_provisional(memory_id)]
        if touched:
            carriers |= set(creators_of(connection, draft, touched).values())
    return carriers


@dataclass(frozen=True, slots=True)
class _Sides:
    """Who is on the other side of conflicts."""

    authors: Mapping[DraftId, str]
    upstream: Mapping[Question, UpstreamChange]

    @classmethod
    def of(cls, connection: Connection, evaluated: Evaluated, drafts: Sequence[DraftRow]) -> "_Sides":
        """Ask who changed what, in one statement."""
        questions = {
            _question(conflict, draft)
            for draft in drafts
            for conflict in evaluated.evaluation.reconciliations[draft.draft_id].conflicts
            if conflict.other.draft_id is None
        }
        authors = {draft.draft_id: draft.author_id for draft in evaluated.drafts}
        asked = sorted(questions, key=lambda question: (question.memory_id, question.field, question.base_version))
        return cls(authors, last_changes(connection, drafts[0].org_id, asked) if asked else {})

    def named(self, conflict: Conflict, draft: DraftRow) -> OtherBody:
        """The other side on the wire."""
        other = conflict.other
        if other.draft_id is not None:
            # Only Drafts of one author build on each other without standing in one Review.
            author_id = self.authors.get(other.draft_id, draft.author_id)
            return OtherBody(draft_id=other.draft_id, memory_id=other.memory_id, author_id=author_id)
        change = self.upstream[_question(conflict, draft)]
        return OtherBody(commit_id=change.commit_id, memory_id=other.memory_id, author_id=change.author_id)


def _question(conflict: Conflict, draft: DraftRow) -> Question:
    return Question(conflict.other.memory_id, conflict.field, draft.base_version)


def _candidate(evaluated: Evaluated, draft: DraftRow, sides: _Sides, now: datetime) -> CandidateRow:
    reconciliation = evaluated.evaluation.reconciliations[draft.draft_id]
    made_for = evaluated.lineup.made_for(draft)
    conflicts = [StoredConflict.of(conflict, sides.named(conflict, draft)) for conflict in reconciliation.conflicts]
    binding = binding_of(made_for, evaluated.current_of(draft), documents_of(conflicts))
    clean = reconciliation.clean
    return CandidateRow(
        org_id=draft.org_id,
        candidate_id=candidate_id_of(draft.draft_id, binding),
        draft_id=draft.draft_id,
        made_for=made_for,
        binding=binding,
        reconciliation="clean" if clean else "conflicts",
        memories=[StoredMemory.of(comparison) for comparison in reconciliation.comparisons],
        conflicts=conflicts,
        result_hash=_result_hash(evaluated, draft) if clean else None,
        review_hash=evaluated.review_hash,
        engine=ENGINE,
        created_at=now,
    )


def _result_hash(evaluated: Evaluated, draft: DraftRow) -> str:
    """The hash of this Draft's proposed result alone, whatever later Drafts of its Review make of it."""
    evaluation = evaluated.evaluation
    comparisons = evaluation.reconciliations[draft.draft_id].comparisons
    states = {final_id(comparison.memory_id): comparison.proposed for comparison in comparisons}
    so_far = [*(sibling.draft_id for sibling in evaluated.lineup.before(draft)), draft.draft_id]
    introduced = {memory_id for draft_id in so_far for memory_id in evaluation.introduced[draft_id]}
    return result_hash(states, draft.project_id, introduced)
