"""What an append accepts: syntax, then targets, then the selection, each asked of all operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from models.errors import MemoryNotSelected, OperationInvalid, TargetMissing
from models.identifiers import MemoryId, is_provisional, new_draft_operation_id, new_provisional_id
from models.rules.bodies import accept_body, accept_description
from models.rules.folding import Action, DraftOperation, apply, fold_what_holds, resolve_path
from models.rules.hashes import body_of
from models.rules.limits import MAX_DRAFT_OPERATIONS
from models.rules.paths import accept_path
from models.rules.restoring import Restoring
from models.rules.states import MemoryState, State
from models.store.archived import last_states
from models.store.draft_bases import standing_at, starting_states
from models.store.draft_views import read_contents
from models.store.drafts import NewDraftOperation, append_operations
from models.store.locks import DraftRow, keep_selection
from models.store.memories import heads
from models.store.projections import selects
from models.store.transaction import Transaction

_PLACING = (Action.CREATE, Action.RESTORE)
"""Whose `path` is where the Memory is to stand, and not who it is."""


@dataclass(frozen=True, slots=True)
class ProposedOperation:
    """An operation as it was sent.

    `update`, `rename` and `delete` name their target by `memory_id` or by `path`; for `create`, `path` is where it
    will stand, and `memory_id`, inside an import only, the final id that it carries. `restore` names its target by
    `memory_id`; what it leaves out is as it was when the target was deleted. Texts are not normalized yet.
    """

    action: Action
    memory_id: MemoryId | None = None
    path: str | None = None
    new_path: str | None = None
    content: str | None = None
    description: str | None = None


def accept_operations(
    tx: Transaction,
    draft: DraftRow,
    existing: Sequence[DraftOperation],
    proposed: Sequence[ProposedOperation],
) -> Sequence[NewDraftOperation]:
    """Store operations after the existing ones of a locked Draft, all of them or none; as they were accepted.

    Raises:
        OperationInvalid: a path or text breaks a rule, the target of a restore is active, or the Draft would hold too
            many (`index`, `field`, `rule`).
        TargetMissing: a target does not exist at that point, or what is to be restored never did (`index`).
        MemoryNotSelected: the project does not select an existing target (`index`).
        DuplicateId: an id that a create carries was a Memory's at the Draft's base, or stands twice (`index`).
    """
    if len(existing) + len(proposed) > MAX_DRAFT_OPERATIONS:
        raise OperationInvalid(
            f"A Draft holds at most {MAX_DRAFT_OPERATIONS} operations.",
            index=MAX_DRAFT_OPERATIONS - len(existing),
            field="operations",
            rule="too_many",
        )
    tidy = [_tidy(index, operation) for index, operation in enumerate(proposed)]
    base = _base(tx, draft, existing, tidy)
    accepted = _with_texts(tx, draft, _resolve(existing, tidy, base))
    _require_selected(tx, draft, base.states, existing, accepted)
    append_operations(tx, draft.draft_id, len(existing), accepted)
    return accepted


def _tidy(index: int, operation: ProposedOperation) -> ProposedOperation:
    """The operation with its paths and texts normalized."""
    try:
        return replace(
            operation,
            path=None if operation.path is None else accept_path(operation.path),
            new_path=None if operation.new_path is None else accept_path(operation.new_path, field="new_path"),
            content=None if operation.content is None else accept_body(operation.content),
            description=None if operation.description is None else accept_description(operation.description),
        )
    except OperationInvalid as problem:
        problem.context["index"] = index
        raise


@dataclass(frozen=True, slots=True)
class _Base:
    """What the operations start from, who stands at the paths they name, and what restores may bring back."""

    states: Mapping[MemoryId, MemoryState]
    at_path: Mapping[str, MemoryId]
    restoring: Restoring


def _base(
    tx: Transaction,
    draft: DraftRow,
    existing: Sequence[DraftOperation],
    proposed: Sequence[ProposedOperation],
) -> _Base:
    paths = {
        operation.path for operation in proposed if operation.action not in _PLACING and operation.path is not None
    }
    at_path = standing_at(tx.connection, draft, paths)
    named = {operation.memory_id for operation in existing}
    named |= {operation.memory_id for operation in proposed if operation.memory_id is not None}
    states = starting_states(tx.connection, draft, named | set(at_path.values()))
    restored = {
        operation.memory_id
        for operation in proposed
        if operation.action is Action.RESTORE and operation.memory_id is not None
    }
    published = last_states(tx.connection, tx.org_id, restored, draft.base_version)
    return _Base(states, at_path, Restoring(states, published))


def _resolve(
    existing: Sequence[DraftOperation], proposed: Sequence[ProposedOperation], base: _Base
) -> list[NewDraftOperation]:
    """Name every target by its id, against the Draft's state so far."""
    states = fold_what_holds(existing, base.states, converging=True)
    in_order = list(existing)
    accepted: list[NewDraftOperation] = []
    for index, operation in enumerate(proposed):
        folded = _folded(operation, _target(index, operation, states, base))
        if folded.action is Action.RESTORE and states.get(folded.memory_id, base.states.get(folded.memory_id)) is None:
            earlier = [each for each in in_order if each.memory_id == folded.memory_id]
            folded = base.restoring.complete(folded, earlier, index)
        apply(states, base.states, folded, index)
        in_order.append(folded)
        accepted.append(NewDraftOperation(new_draft_operation_id(), folded, operation.content))
    return accepted


def _target(index: int, operation: ProposedOperation, states: Mapping[MemoryId, State], base: _Base) -> MemoryId:
    if operation.action is Action.CREATE:
        return operation.memory_id or new_provisional_id()
    if operation.memory_id is not None:
        return operation.memory_id
    path = operation.path or ""
    memory_id = resolve_path(path, states, base.at_path.get(path))
    if memory_id is None:
        raise TargetMissing(f"Nothing stands at {path} at this point of the Draft.", index=index, path=path)
    return memory_id


def _folded(operation: ProposedOperation, memory_id: MemoryId) -> DraftOperation:
    return DraftOperation(
        action=operation.action,
        memory_id=memory_id,
        path=operation.path if operation.action in _PLACING else None,
        new_path=operation.new_path,
        body=None if operation.content is None else body_of(operation.content),
        description=operation.description,
    )


def _with_texts(tx: Transaction, draft: DraftRow, accepted: Sequence[NewDraftOperation]) -> Sequence[NewDraftOperation]:
    """The operations, each with the text of its body: a restore may bring back one that nobody sent with it."""
    texts = {each.folded.body.blob_id: each.content for each in accepted if each.folded.body and each.content}
    lacking = {each.folded.body.blob_id for each in accepted if each.folded.body and not each.content} - texts.keys()
    if lacking:
        texts |= read_contents(tx.connection, tx.org_id, lacking, [draft.draft_id])
    return [
        replace(each, content=texts[each.folded.body.blob_id]) if each.folded.body and not each.content else each
        for each in accepted
    ]


def _require_selected(
    tx: Transaction,
    draft: DraftRow,
    base: Mapping[MemoryId, MemoryState],
    before: Sequence[DraftOperation],
    accepted: Sequence[NewDraftOperation],
) -> None:
    """Existing Memories must be selected, unless they were deleted upstream since the base: that conflicts later.

    What the Draft has restored is selected when it is merged.
    """
    restored = {operation.memory_id for operation in before if operation.action is Action.RESTORE}
    existing: dict[MemoryId, int] = {}
    for index, operation in enumerate(accepted):
        memory_id = operation.folded.memory_id
        if operation.folded.action is Action.RESTORE:
            restored.add(memory_id)
        elif memory_id in base and memory_id not in restored and not is_provisional(memory_id):
            existing.setdefault(memory_id, index)
    if not existing:
        return
    keep_selection(tx.connection, tx.org_id, draft.project_id)
    unselected = existing.keys() - selects(tx.connection, tx.org_id, draft.project_id, existing)
    unselected &= heads(tx.connection, tx.org_id, unselected).keys()
    for memory_id, index in existing.items():
        if memory_id in unselected:
            raise MemoryNotSelected(f"{memory_id} is not in the project's selection.", index=index, memory_id=memory_id)
