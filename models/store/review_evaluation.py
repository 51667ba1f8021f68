"""Load what a Review's Drafts meet, and ask the rule (`models.rules.review`)."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from models.identifiers import MemoryId, OrganizationId, ProjectId, final_id, is_provisional
from models.rules.evaluation import Evaluation, ProposedDraft, Surroundings
from models.rules.paths import path_key
from models.rules.review import evaluate
from models.rules.states import MemoryState
from models.store.drafts import fold_operations
from models.store.locks import DraftRow
from models.store.memories import changed_since, given_ids, heads, occupants, states_at
from models.store.projections import selects


def evaluate_drafts(
    connection: Connection,
    org_id: OrganizationId,
    project_id: ProjectId,
    version: int,
    drafts: Sequence[DraftRow],
) -> Evaluation:
    """Evaluate Drafts, in order, against the organization's `version`, its present one.

    Consistent when the coordination row is locked; otherwise a snapshot that may be past by the time it is read.
    """
    operations = fold_operations(connection, org_id, [draft.draft_id for draft in drafts])
    proposed = [ProposedDraft(draft.draft_id, draft.base_version, operations[draft.draft_id]) for draft in drafts]
    touched = _existing(proposed)
    current = heads(connection, org_id, touched)
    bases = {
        base: current if base == version else states_at(connection, org_id, touched, base)
        for base in {draft.base_version for draft in proposed}
    }
    standing = occupants(connection, org_id, _probed_keys(proposed, bases))
    return evaluate(
        proposed,
        Surroundings(
            version=version,
            current=current,
            bases=bases,
            selected=selects(connection, org_id, project_id, touched),
            occupants=standing,
            changed_since={
                base: changed_since(connection, org_id, standing, base) for base in bases if base != version
            },
            taken=given_ids(connection, org_id, _created(proposed)),
        ),
    )


def _existing(drafts: Sequence[ProposedDraft]) -> set[MemoryId]:
    named = {operation.memory_id for draft in drafts for operation in draft.operations}
    return {memory_id for memory_id in named if not is_provisional(memory_id)}


def _created(drafts: Sequence[ProposedDraft]) -> set[MemoryId]:
    return {final_id(memory_id) for draft in drafts for memory_id in draft.creates}


def _probed_keys(drafts: Sequence[ProposedDraft], bases: Mapping[int, Mapping[MemoryId, MemoryState]]) -> list[str]:
    """The keys of every path that may be in the result; one too many costs a probe and decides nothing."""
    named = {
        path for draft in drafts for operation in draft.operations for path in (operation.path, operation.new_path)
    }
    kept = {state.path for states in bases.values() for state in states.values()}
    return sorted({path_key(path) for path in named | kept if path is not None})
