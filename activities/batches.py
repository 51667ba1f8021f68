"""Operations on several Drafts of one author, accepted together or not at all, and each by its name once.

A batch grows the version of each Draft that it adds to by one, however many operations it brings.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from activities.accepting import ProposedOperation, accept_operations
from activities.named_drafts import changed_draft
from activities.recording import tell_drafts
from models.errors import (
    DraftClosed,
    DraftSubmitted,
    DuplicateId,
    Forbidden,
    JsonObject,
    NotFound,
    Problem,
    ProjectArchived,
    first_by_precedence,
)
from models.identifiers import DraftId, ProjectId
from models.store.access import ProjectAccess, require_project
from models.store.drafts import fold_operations, grow_drafts
from models.store.locks import DraftRow, lock_drafts
from models.store.receipts import Receipt, keep_receipts, known_receipts, queue_for_receipts
from models.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class BatchedOperation:
    """An operation at its place in a batch."""

    index: int
    local_operation_id: str
    draft_id: DraftId
    expected_version: int
    operation: ProposedOperation


def append_batch(tx: Transaction, batch: Sequence[BatchedOperation]) -> list[Receipt]:
    """Append what is new in a batch to the actor's open Drafts; what is known is answered as the first time.

    An operation on a Draft that known ones of the same batch were the last to change may also name the version before
    those: a client that lost the answer sends the same again, with what it has done since.

    Raises:
        NotFound: a Draft is not there, or not the actor's.
        Forbidden, DraftClosed, DraftSubmitted, ProjectArchived, VersionConflict: a Draft does not take it.
        OperationInvalid, TargetMissing, MemoryNotSelected: an operation does not hold.
        DuplicateId: a name stands twice. All with `index`, the operation's in the batch.
    """
    queue_for_receipts(tx)
    names = [operation.local_operation_id for operation in batch]
    known = known_receipts(tx.connection, tx.org_id, tx.actor_id, names)
    new = [operation for operation in batch if operation.local_operation_id not in known]
    drafts = _lock_drafts(tx, new, known.values())
    receipts = _accept(tx, new, drafts)
    grow_drafts(tx, drafts.keys())
    tell_drafts(tx, list(drafts.values()), "appended")
    keep_receipts(tx, receipts)
    found = known | {receipt.local_operation_id: receipt for receipt in receipts}
    return [found[name] for name in names]


def _lock_drafts(tx: Transaction, new: Sequence[BatchedOperation], known: Iterable[Receipt]) -> dict[DraftId, DraftRow]:
    """The Drafts that operations are to be added to, locked by id, each fit for all of them."""
    drafts = lock_drafts(tx.connection, tx.org_id, {operation.draft_id for operation in new})
    access = _access(tx, drafts.values())
    repeated = {receipt.draft_id: receipt.version for receipt in known}
    problems: list[Problem] = []
    for operation in new:
        draft = drafts.get(operation.draft_id)
        if draft is None or (allowed := access.get(draft.project_id)) is None or draft.author_id != tx.actor_id:
            field = f"operations[{operation.index}].draft_id"
            problems.append(NotFound("There is no such Draft.", field=field, index=operation.index))
        else:
            problems += _problems(operation, draft, allowed, repeated.get(draft.draft_id))
    _refuse(problems)
    return drafts


def _access(tx: Transaction, drafts: Iterable[DraftRow]) -> dict[ProjectId, ProjectAccess]:
    """What the actor may do in the Drafts' projects; one that may not be read is left out."""
    access: dict[ProjectId, ProjectAccess] = {}
    for project_id in {draft.project_id for draft in drafts}:
        try:
            access[project_id] = require_project(
                tx.connection, tx.org_id, tx.actor_id, project_id, include_deleted=True
            )
        except NotFound:
            continue
    return access


def _problems(
    operation: BatchedOperation, draft: DraftRow, access: ProjectAccess, repeated_version: int | None
) -> list[Problem]:
    """What keeps a Draft from taking an operation; `repeated_version` is what known ones of the batch left it at."""
    where: JsonObject = {"index": operation.index, "draft_id": draft.draft_id}
    found: list[Problem] = []
    if not access.may_write:
        found.append(Forbidden("Viewers do not write to this project.", **where))
    if draft.status in ("merged", "discarded"):
        found.append(DraftClosed(f"The Draft is {draft.status}.", **where))
    if draft.status == "submitted":
        found.append(DraftSubmitted("The Draft is under review.", **where, review_id=draft.review_id))
    if access.state != "active":
        found.append(ProjectArchived(f"The project is {access.state}.", **where, project_id=draft.project_id))
    unchanged_since = draft.version - 1 if repeated_version == draft.version else draft.version
    if not unchanged_since <= operation.expected_version <= draft.version:
        found.append(changed_draft(draft, operation.expected_version, index=operation.index))
    return found


def _accept(tx: Transaction, new: Sequence[BatchedOperation], drafts: Mapping[DraftId, DraftRow]) -> list[Receipt]:
    """Append to each Draft its operations, in order."""
    existing = fold_operations(tx.connection, tx.org_id, drafts.keys())
    receipts: list[Receipt] = []
    problems: list[Problem] = _duplicates(new)
    for draft in drafts.values():
        added = [operation for operation in new if operation.draft_id == draft.draft_id]
        try:
            accepted = accept_operations(
                tx, draft, existing[draft.draft_id], [operation.operation for operation in added]
            )
        except Problem as problem:
            problems.append(_in_batch(problem, added))
            continue
        receipts += [
            Receipt(operation.local_operation_id, made.operation_id, draft.draft_id, draft.version + 1)
            for operation, made in zip(added, accepted, strict=True)
        ]
    _refuse(problems)
    return receipts


def _in_batch(problem: Problem, added: Sequence[BatchedOperation]) -> Problem:
    """A refusal that counts within its Draft's share, made to count within the batch."""
    index = problem.context.get("index")
    if isinstance(index, int) and 0 <= index < len(added):
        problem.context["index"] = added[index].index
    return problem


def _duplicates(new: Sequence[BatchedOperation]) -> list[Problem]:
    seen: Counter[str] = Counter()
    found: list[Problem] = []
    for operation in new:
        seen[operation.local_operation_id] += 1
        if seen[operation.local_operation_id] > 1:
            name = operation.local_operation_id
            found.append(DuplicateId(f"{name} stands twice.", index=operation.index, local_operation_id=name))
    return found


def _refuse(problems: Sequence[Problem]) -> None:
    """Raise the first by precedence, and of equal ones the first in the batch."""
    problem = first_by_precedence(sorted(problems, key=_index))
    if problem is not None:
        raise problem


def _index(problem: Problem) -> int:
    index = problem.context.get("index")
    return index if isinstance(index, int) else 0
