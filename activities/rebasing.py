"""Apply confirmed candidates: a Draft's revision saved, its operations expressed anew, its base moved (§3)."""

from collections.abc import Mapping, Sequence

from activities.confirming import Confirmation, ConfirmedDrafts
from activities.recording import tell_drafts
from models.identifiers import BlobId, DraftId, MemoryId, new_draft_operation_id
from models.rules.evaluation import Evaluation
from models.rules.expression import express
from models.rules.folding import DraftOperation
from models.rules.states import State
from models.store.audit import record_audit
from models.store.draft_views import read_contents
from models.store.drafts import NewDraftOperation, drafts_by_id, keep_texts
from models.store.locks import DraftRow, OrganizationRefRow
from models.store.rebases import rebase_onto, replace_operations, replace_overlay
from models.store.revisions import save_revision
from models.store.transaction import Transaction


def apply_confirmed(tx: Transaction, ref: OrganizationRefRow, confirmed: ConfirmedDrafts) -> list[DraftRow]:
    """Rebase the locked Drafts whose candidates are confirmed and hold; all of the Drafts as they are then, in order.

    Each grows by a version, and nothing is submitted or published by it.
    """
    drafts = confirmed.evaluated.drafts
    for draft in drafts:
        if draft.draft_id in confirmed.holding:
            _rebase(tx, ref, draft, confirmed)
    now = drafts_by_id(tx.connection, tx.org_id, [draft.draft_id for draft in drafts])
    return [now[draft.draft_id] for draft in drafts]


def _rebase(tx: Transaction, ref: OrganizationRefRow, draft: DraftRow, confirmed: ConfirmedDrafts) -> None:
    confirmation = confirmed.holding[draft.draft_id]
    evaluation = confirmed.evaluated.evaluation
    current = confirmed.evaluated.current_of(draft)
    result = evaluation.results[draft.draft_id]
    created = [memory_id for memory_id in result if evaluation.creates(memory_id)]
    operations = express(result, current=current, created=created)
    save_revision(tx, draft, confirmation.candidate.candidate_id)
    replace_operations(tx, draft.draft_id, _with_texts(tx, operations, evaluation, confirmation))
    _stand_on_siblings(tx, draft, confirmed, current)
    rebase_onto(tx, draft.draft_id, ref)
    tell_drafts(tx, [draft], "rebased")
    record_audit(
        tx,
        "draft.rebase",
        "draft",
        draft.draft_id,
        before_hash=draft.base_commit_id,
        after_hash=ref.commit_id,
        detail={"candidate_id": confirmation.candidate.candidate_id},
    )


def _with_texts(
    tx: Transaction, operations: Sequence[DraftOperation], evaluation: Evaluation, confirmation: Confirmation
) -> list[NewDraftOperation]:
    """The operations with their texts: those of the candidate are blobs, a resolution brought its own."""
    named = {operation.body.blob_id for operation in operations if operation.body is not None}
    texts: Mapping[BlobId, str] = {
        **read_contents(tx.connection, tx.org_id, named),
        **evaluation.texts,
        **confirmation.texts,
    }
    return [
        NewDraftOperation(
            new_draft_operation_id(), operation, None if operation.body is None else texts[operation.body.blob_id]
        )
        for operation in operations
    ]


def _stand_on_siblings(
    tx: Transaction, draft: DraftRow, confirmed: ConfirmedDrafts, current: Mapping[MemoryId, State]
) -> None:
    """Keep what the Drafts before this one make of the Memories that it touches: its operations start from there."""
    evaluation = confirmed.evaluated.evaluation
    before = [sibling.draft_id for sibling in confirmed.evaluated.lineup.before(draft)]
    made = {memory_id for draft_id in before for memory_id in evaluation.results[draft_id]}
    overlay = {memory_id: state for memory_id, state in current.items() if memory_id in made}
    named = {state.body.blob_id for state in overlay.values() if state is not None}
    keep_texts(tx, named, before, _texts(confirmed, before))
    replace_overlay(tx, draft.draft_id, overlay)


def _texts(confirmed: ConfirmedDrafts, draft_ids: Sequence[DraftId]) -> dict[BlobId, str]:
    texts = dict(confirmed.evaluated.evaluation.texts)
    for draft_id in draft_ids:
        if draft_id in confirmed.holding:
            texts |= confirmed.holding[draft_id].texts
    return texts
