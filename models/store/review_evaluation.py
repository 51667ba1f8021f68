"""Load what a Review's Drafts meet, and ask the rule (`models.rules.review`)."""

from collections.abc import Mapping, Sequence
from functools import partial

from sqlalchemy import Connection

from models.identifiers import BlobId, MemoryId, OrganizationId, ProjectId, final_id, is_provisional
from models.rules.evaluation import Confirmed, Evaluation, Fits, ProposedDraft, Surroundings
from models.rules.paths import path_key
from models.rules.review import NOTHING_CONFIRMED, evaluate, fits_anyhow
from models.rules.states import MemoryState, State
from models.store.draft_bases import read_overlays
from models.store.drafts import fold_operations
from models.store.locks import DraftRow
from models.store.memories import each_at, given_ids, heads, last_changed
from models.store.merge_texts import TextReader, bodies_to_merge
from models.store.projections import selects
from models.store.provisional import NOTHING_ELSEWHERE, Elsewhere
from models.store.standing import free_paths, occupants

NO_TEXTS: Mapping[BlobId, str] = {}


def evaluate_drafts(
    connection: Connection,
    org_id: OrganizationId,
    project_id: ProjectId,
    version: int,
    drafts: Sequence[DraftRow],
    *,
    confirmed: Confirmed = NOTHING_CONFIRMED,
    fits: Fits = fits_anyhow,
    texts: Mapping[BlobId, str] = NO_TEXTS,
    elsewhere: Elsewhere = NOTHING_ELSEWHERE,
) -> Evaluation:
    """Evaluate Drafts, in order, against the organization's `version`, its present one.

    Consistent when the coordination row is locked; otherwise a snapshot that may be past by the time it is read.

    Args:
        connection: any.
        org_id: the organization.
        project_id: the Drafts' project.
        version: the organization's version now.
        drafts: as their rows are now.
        confirmed: by Draft whose candidate is confirmed, the states that resolve its conflicts.
        fits: whether that holds beside what the Drafts before it come to.
        texts: the texts of those states.
        elsewhere: what exists beside them while they are looked at before they are submitted.
    """
    proposed = _proposed(connection, org_id, drafts)
    touched = _existing(proposed)
    current = heads(connection, org_id, touched)
    bases = _bases(connection, org_id, version, proposed, current)
    standing = occupants(connection, org_id, _probed_keys(proposed, [*bases.values(), elsewhere.states], confirmed))
    changed = last_changed(connection, org_id, standing, min(bases, default=version))
    carriers = {*(draft.draft_id for draft in drafts), *elsewhere.creators.values()}
    reader = TextReader(connection, org_id, sorted(carriers), bodies_to_merge(proposed, bases, current))
    return evaluate(
        proposed,
        Surroundings(
            version=version,
            current=current,
            bases=bases,
            selected=selects(connection, org_id, project_id, touched),
            occupants=standing,
            changed_since={
                base: {memory_id for memory_id, latest in changed.items() if latest > base} for base in bases
            },
            read=lambda blob_id: texts[blob_id] if blob_id in texts else reader.read(blob_id),
            free_among=partial(free_paths, connection, org_id, besides=touched),
            each_at=partial(each_at, connection, org_id),
            taken=given_ids(connection, org_id, _created(proposed)),
            elsewhere=elsewhere.states,
            creators=elsewhere.creators,
        ),
        confirmed,
        fits,
    )


def _proposed(connection: Connection, org_id: OrganizationId, drafts: Sequence[DraftRow]) -> list[ProposedDraft]:
    draft_ids = [draft.draft_id for draft in drafts]
    operations = fold_operations(connection, org_id, draft_ids)
    overlays = read_overlays(connection, org_id, draft_ids)
    return [
        ProposedDraft(draft.draft_id, draft.base_version, operations[draft.draft_id], overlays[draft.draft_id])
        for draft in drafts
    ]


def _bases(
    connection: Connection,
    org_id: OrganizationId,
    version: int,
    drafts: Sequence[ProposedDraft],
    current: Mapping[MemoryId, MemoryState],
) -> dict[int, Mapping[MemoryId, MemoryState]]:
    """What was active at each base, of the Memories that the Drafts of that base name."""
    behind = [draft for draft in drafts if draft.base_version != version]
    asked = {(memory_id, draft.base_version) for draft in behind for memory_id in _existing([draft])}
    then = each_at(connection, org_id, asked)
    return {
        base: current if base == version else then.get(base, {}) for base in {draft.base_version for draft in drafts}
    }


def _existing(drafts: Sequence[ProposedDraft]) -> set[MemoryId]:
    named = {operation.memory_id for draft in drafts for operation in draft.operations}
    return {memory_id for memory_id in named if not is_provisional(memory_id)}


def _created(drafts: Sequence[ProposedDraft]) -> set[MemoryId]:
    return {final_id(memory_id) for draft in drafts for memory_id in draft.creates}


def _probed_keys(
    drafts: Sequence[ProposedDraft], found: Sequence[Mapping[MemoryId, MemoryState]], confirmed: Confirmed
) -> list[str]:
    """The keys of every path that may be in the result; one too many costs a probe and decides nothing."""
    named = {
        path for draft in drafts for operation in draft.operations for path in (operation.path, operation.new_path)
    }
    sides: list[Mapping[MemoryId, State]] = [*found, *confirmed.values(), *(draft.overlay for draft in drafts)]
    kept = {state.path for states in sides for state in states.values() if state is not None}
    return sorted({path_key(path) for path in named | kept if path is not None})
