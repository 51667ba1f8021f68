"""Carry an import out: plan, then a Draft for each batch, then one Review of them all (publication.md §6).

Each step is a transaction of its own that finds out whether it has been done. A plan is made at one version of the
organization, and its Drafts stand on it; whoever writes first makes the submission refuse them, and another plan is
made. Until then they are their author's open Drafts like any others.
"""

from collections.abc import Mapping

from activities.accepting import ProposedOperation
from activities.closing import mark_discarded
from activities.drafting import open_draft, require_proposer
from activities.requests import DraftReference, SubmitRequest
from activities.submissions import open_review
from models.errors import (
    DraftClosed,
    DraftEmpty,
    DraftSubmitted,
    DuplicateId,
    MemoryNotSelected,
    PathCollision,
    Problem,
    ReconciliationRequired,
    TargetMissing,
    VersionConflict,
)
from models.identifiers import DraftId, OperationId, ReviewId, new_review_id
from models.rules.batches import cut
from models.rules.bodies import MAX_TITLE_CHARACTERS
from models.rules.folding import Action
from models.schemas.imports import ImportBody
from models.store.commits import organization_ref
from models.store.import_plans import keep_reports, plan_of
from models.store.import_runs import (
    BatchOperation,
    drop_operations,
    file_sizes,
    forget_plan,
    import_drafts,
    insert_import_draft,
    lock_import_of,
    plan_base,
    read_batch,
    set_review,
    store_plan,
)
from models.store.import_views import import_body
from models.store.imports import end_import
from models.store.locks import ImportRow, lock_drafts, lock_import
from models.store.operations import StoredOperation, show_progress
from models.store.transaction import Transaction

MAX_ATTEMPTS = 5
"""Plans that an import makes before it gives way to those who always write first."""

# Somebody else has written since the plan was made, or has touched its Drafts. What the last submission is refused for
# is the outcome of an import, as is at once any other refusal.
OVERTAKEN = (
    DraftClosed,
    DraftSubmitted,
    VersionConflict,
    DraftEmpty,
    MemoryNotSelected,
    DuplicateId,
    ReconciliationRequired,
)

# The two that others' writing shows as `reconciliation_required` where a plan stands on one base.
_OVERTAKEN = (*OVERTAKEN, TargetMissing, PathCollision)

FIRST_VERSION = 1  # of a Draft that nobody has touched since it was made


def make_plan(tx: Transaction, operation: StoredOperation) -> ImportBody | None:
    """Plan what the staged files come to now, unless there is a plan; an import of nothing new ends here.

    The transaction reads one snapshot, which is what the plan's base names.
    """
    row = lock_import_of(tx.connection, tx.org_id, operation.operation_id)
    if row.batches is not None:
        return None
    require_proposer(tx, row.project_id)
    base = organization_ref(tx.connection, tx.org_id)
    plan = plan_of(tx.connection, row)
    keep_reports(tx, row, plan.reports)
    batches = cut(plan.operations, file_sizes(tx.connection, row))
    store_plan(tx, row.import_id, batches, base=base, counts=plan.counts)
    if not batches:
        return _ended(tx, row)
    show_progress(tx, operation.operation_id, "drafts", done=0, total=len(batches))
    return None


def make_draft(tx: Transaction, operation: StoredOperation, batch: int) -> None:
    """Make a Draft of a batch of the plan, unless it is one already; if it does not hold any more, give the plan up."""
    row = lock_import_of(tx.connection, tx.org_id, operation.operation_id)
    drafts = import_drafts(tx.connection, row)
    if row.batches is None or batch >= row.batches or batch in drafts:
        return  # it is done, or of a plan that was given up
    try:
        with tx.connection.begin_nested():
            draft_id = _draft(tx, row, batch, row.batches)
    except _OVERTAKEN as problem:
        _plan_anew(tx, operation, row, problem)
        return
    insert_import_draft(tx, row.import_id, batch, draft_id)
    if (done := len(drafts) + 1) < row.batches:
        show_progress(tx, operation.operation_id, "drafts", done=done, total=row.batches)
    else:
        show_progress(tx, operation.operation_id, "submit", done=0, total=1)


def make_review(tx: Transaction, operation: StoredOperation) -> ImportBody | None:
    """Submit all Drafts as one Review and end the import; if they do not hold any more, give the plan up."""
    row = lock_import_of(tx.connection, tx.org_id, operation.operation_id)
    drafts = import_drafts(tx.connection, row)
    if row.batches is None or len(drafts) < row.batches:
        return None
    try:
        with tx.connection.begin_nested():
            review_id = _submit(tx, row, drafts)
    except _OVERTAKEN as problem:
        _plan_anew(tx, operation, row, problem)
        return None
    set_review(tx, row.import_id, review_id)
    return _ended(tx, row)


def end_failed(tx: Transaction, operation_id: OperationId) -> None:
    """End an import whose operation fails: no text of it stays."""
    end_import(tx, lock_import_of(tx.connection, tx.org_id, operation_id).import_id)


def discard_failed(tx: Transaction, operation_id: OperationId) -> None:
    """Discard what an import whose operation fails has made; a Draft that its author has changed stays."""
    _give_up_plan(tx, lock_import_of(tx.connection, tx.org_id, operation_id))


def _draft(tx: Transaction, row: ImportRow, batch: int, batches: int) -> DraftId:
    require_proposer(tx, row.project_id)
    operations = [_proposed(operation) for operation in read_batch(tx.connection, row, batch)]
    title = _title(row.title, batch, batches)
    base = plan_base(tx.connection, row)
    return open_draft(tx, row.project_id, title=title, base=base, operations=operations).draft_id


def _title(title: str, batch: int, batches: int) -> str:
    """`Import (2 of 3)`: the import's title, cut where both would be too long."""
    if batches == 1:
        return title
    place = f" ({batch + 1} of {batches})"
    return title[: MAX_TITLE_CHARACTERS - len(place)] + place


def _proposed(operation: BatchOperation) -> ProposedOperation:
    renames = operation.action is Action.RENAME
    return ProposedOperation(
        operation.action,
        memory_id=operation.memory_id,
        path=operation.path if operation.action in (Action.CREATE, Action.RESTORE) else None,
        new_path=operation.path if renames else None,
        content=operation.content,
        description=operation.description,
    )


def _submit(tx: Transaction, row: ImportRow, drafts: Mapping[int, DraftId]) -> ReviewId:
    references = [
        DraftReference(draft_id=draft_id, expected_draft_version=FIRST_VERSION) for draft_id in drafts.values()
    ]
    review_id = new_review_id()
    open_review(tx, review_id, row.project_id, SubmitRequest(title=row.title, drafts=tuple(references)))
    return review_id


def _plan_anew(tx: Transaction, operation: StoredOperation, row: ImportRow, problem: Problem) -> None:
    """Give the plan up for another one; after the last attempt, the refusal is the outcome."""
    if row.attempt >= MAX_ATTEMPTS:
        raise problem
    _give_up_plan(tx, row)
    show_progress(tx, operation.operation_id, "plan", done=0, total=1)


def _give_up_plan(tx: Transaction, row: ImportRow) -> None:
    """Discard the Drafts that are as they were made; one that its author has changed or submitted is the author's."""
    drafts = lock_drafts(tx.connection, tx.org_id, import_drafts(tx.connection, row).values())
    untouched = [draft for draft in drafts.values() if draft.status == "open" and draft.version == FIRST_VERSION]
    mark_discarded(tx, untouched)
    forget_plan(tx, row.import_id)


def _ended(tx: Transaction, row: ImportRow) -> ImportBody:
    drop_operations(tx, row.import_id)
    end_import(tx, row.import_id)
    return import_body(tx.connection, lock_import(tx.connection, tx.org_id, row.import_id), concluded=True)
