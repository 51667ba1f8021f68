"""Apply confirmed candidates: a Draft's revision saved, its operations expressed anew, its base moved (§3)."""

from collections.abc import Mapping, Sequence

from activities.confirming import Confirmation, ConfirmedDrafts
from activities.recording import tell_drafts
from models.identifiers import BlobId, MemoryId, new_draft_operation_id
from models.rules.evaluation import Evaluation
from models.rules.expression import express
from models.rules.folding import DraftOperation
from models.rules.states import State
from models.store.audit import record_audit
from models.store.draft_views import read_contents
from models.store.drafts import NewDraftOperation, drafts_by_id, keep_texts
from models.store.locks import DraftRow, OrganizationRefRow
from models.store.proposals import Evaluated
from models.store.rebases import rebase_onto, replace_operations, replace_overlays
from models.store.revisions import save_revision
from models.store.transaction import Transaction


def apply_confirmed(tx: Transaction, ref: OrganizationRefRow, confirmed: ConfirmedDrafts) -> list[DraftRow]:
    """Rebase the locked Drafts whose candidates are confirmed and hold; all of the Drafts as they are then, in order.

    Each grows by a version, and nothing is submitted or published by it.
    """
    drafts = confirmed.evaluated.drafts
    rebased = [draft for draft in drafts if draft.draft_id in confirmed.holding]
    for draft in rebased:
        _express_anew(tx, draft, confirmed)
    _stand_on_siblings(tx, rebased, confirmed)
    rebase_onto(tx, [draft.draft_id for draft in rebased], ref)
    tell_drafts(tx, rebased, "rebased")
    for draft in rebased:
        _record(tx, ref, draft, confirmed.holding[draft.draft_id])
    now = drafts_by_id(tx.connection, tx.org_id, [draft.draft_id for draft in drafts])
    return [now[draft.draft_id] for draft in drafts]


def _express_anew(tx: Transaction, draft: DraftRow, confirmed: ConfirmedDrafts) -> None:
    """Save a Draft as it is, and write what it comes to as operations upon what plays Current for it."""
    confirmation = confirmed.holding[draft.draft_id]
    evaluation = confirmed.evaluated.evaluation
    current = confirmed.evaluated.current_of(draft)
    result = evaluation.results[draft.draft_id]
    created = [memory_id for memory_id in result if evaluation.creates(memory_id)]
    operations = express(result, current=current, created=created)
    save_revision(tx, draft, confirmation.candidate.candidate_id)
    replace_operations(tx, draft.draft_id, _with_texts(tx, operations, evaluation, confirmation))


def _record(tx: Transaction, ref: OrganizationRefRow, draft: DraftRow, confirmation: Confirmation) -> None:
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


def _stand_on_siblings(tx: Transaction, drafts: Sequence[DraftRow], confirmed: ConfirmedDrafts) -> None:
    """Keep what the Drafts before each make of the Memories that it touches: its operations start from there."""
    overlays = {draft.draft_id: _overlay(draft, confirmed.evaluated) for draft in drafts}
    named = {state.body.blob_id for overlay in overlays.values() for state in overlay.values() if state is not None}
    carriers = [draft.draft_id for draft in confirmed.evaluated.drafts]
    keep_texts(tx, named, carriers, _texts(confirmed))
    replace_overlays(tx, overlays)


def _overlay(draft: DraftRow, evaluated: Evaluated) -> dict[MemoryId, State]:
    before = [sibling.draft_id for sibling in evaluated.lineup.before(draft)]
    made = {memory_id for draft_id in before for memory_id in evaluated.evaluation.results[draft_id]}
    return {memory_id: state for memory_id, state in evaluated.current_of(draft).items() if memory_id in made}


def _texts(confirmed: ConfirmedDrafts) -> dict[BlobId, str]:
    texts = dict(confirmed.evaluated.evaluation.texts)
    for confirmation in confirmed.holding.values():
        texts |= confirmation.texts
    return texts
