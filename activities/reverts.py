"""Reverts: a Draft on a commit that takes back what that commit did (publication.md §5).

It is a Draft like any other: what was published since the commit is reconciled with it as with any that is behind.
"""

from collections.abc import Sequence

from activities.accepting import ProposedOperation
from activities.drafting import open_draft, require_proposer
from models.errors import OperationInvalid
from models.identifiers import CommitId, ProjectId
from models.rules.bodies import MAX_TITLE_CHARACTERS
from models.rules.expression import express
from models.rules.folding import DraftOperation
from models.rules.limits import MAX_DRAFT_OPERATIONS
from models.store.commit_changes import changes_of
from models.store.commits import require_organization_commit
from models.store.draft_views import read_contents
from models.store.locks import DraftRow
from models.store.transaction import Transaction


def revert(tx: Transaction, *, project_id: ProjectId, commit_id: CommitId) -> DraftRow:
    """Open a Draft whose base is a commit, and whose result is its parent's state of what it touched.

    What the commit created is deleted, what it deleted is restored, what it changed is changed back. Reverting the
    first commit deletes all that it created.

    Raises:
        NotFound: unknown project, or no such commit of the organization.
        Forbidden, ProjectArchived: the actor does not propose in the project.
        OperationInvalid: more operations than a Draft holds (`rule` `too_many`).
        MemoryNotSelected: the project does not select a Memory that would be changed or deleted.
    """
    require_proposer(tx, project_id)
    commit = require_organization_commit(tx.connection, tx.org_id, commit_id)
    return open_draft(
        tx,
        project_id,
        title=_title(commit["message"]),
        base=(commit_id, commit["version"]),
        operations=_with_texts(tx, _undoing(tx, commit["version"])),
    )


def _title(message: str) -> str:
    """`Revert "…"`: the commit's message, cut where both would be too long."""
    start, end = 'Revert "', '"'
    return start + message[: MAX_TITLE_CHARACTERS - len(start) - len(end)] + end


def _undoing(tx: Transaction, version: int) -> list[DraftOperation]:
    changes = changes_of(tx.connection, tx.org_id, version, limit=MAX_DRAFT_OPERATIONS)
    operations = [] if changes is None else express(changes.before, current=changes.after, created=())
    if changes is None or len(operations) > MAX_DRAFT_OPERATIONS:
        raise OperationInvalid(
            f"Undoing this commit takes more than the {MAX_DRAFT_OPERATIONS} operations that a Draft holds.",
            field="commit_id",
            rule="too_many",
        )
    return operations


def _with_texts(tx: Transaction, operations: Sequence[DraftOperation]) -> list[ProposedOperation]:
    blob_ids = {operation.body.blob_id for operation in operations if operation.body is not None}
    texts = read_contents(tx.connection, tx.org_id, blob_ids)
    return [
        ProposedOperation(
            operation.action,
            memory_id=operation.memory_id,
            path=operation.path,
            new_path=operation.new_path,
            content=None if operation.body is None else texts[operation.body.blob_id],
            description=operation.description,
        )
        for operation in operations
    ]
