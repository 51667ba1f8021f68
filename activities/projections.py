"""Change what a project uses, and move its projection with it, in one transaction (publication.md §5)."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Engine
from temporalio import activity

from activities.boundary import carry_out
from activities.messages import Command, CommandOutcome
from activities.requests import SelectRequest
from activities.scene import archived, refuse
from models.errors import DuplicateId, NotFound, Problem, SelectionInUse, VersionConflict
from models.identifiers import MemoryId, ProjectId
from models.schemas.commits import SelectionBody
from models.store.access import require_project
from models.store.audit import record_audit
from models.store.events import append_project_commits
from models.store.locks import OrganizationRefRow, lock_coordination, lock_project, lock_selection
from models.store.operations import StoredOperation
from models.store.projections import (
    CommitCause,
    ProjectionChange,
    deselect_memories,
    project_refs,
    refresh_projections,
    select_memories,
    selected_ids,
)
from models.store.selections import drafts_targeting, selection_body, unknown_memories
from models.store.transaction import Transaction


class ProjectionActivities:
    """The projections' activity, on one process's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @activity.defn(no_thread_cancel_exception=True)
    def replace_selection(self, command: Command) -> CommandOutcome:
        """Replace a project's selection."""
        return carry_out(self._engine, command, replace_selection)


def replace_selection(tx: Transaction, operation: StoredOperation) -> SelectionBody:
    """Make a project use exactly the named Memories; the same set changes nothing and makes no commit."""
    request = SelectRequest.model_validate(operation.request)
    project_id = operation.project_id
    ref = lock_coordination(tx.connection, tx.org_id)
    project = lock_project(tx.connection, tx.org_id, project_id)
    require_project(tx.connection, tx.org_id, tx.actor_id, project_id).require_manage()
    _require_known(tx, request.resource_ids)
    before = set(selected_ids(tx.connection, tx.org_id, [project_id]).get(project_id, ()))
    wanted = set(request.resource_ids)
    refuse(
        [
            *archived(project),
            *_revision_problems(tx, project_id, request.expected_revision),
            *_duplicates(request.resource_ids),
            *_in_use(tx, project_id, before - wanted),
        ]
    )
    if wanted != before:
        _move(tx, ref, project_id, before=before, wanted=wanted)
    return selection_body(tx.connection, tx.org_id, project_id)


def _move(
    tx: Transaction,
    ref: OrganizationRefRow,
    project_id: ProjectId,
    *,
    before: set[MemoryId],
    wanted: set[MemoryId],
) -> None:
    select_memories(tx, project_id, wanted - before)
    deselect_memories(tx, before - wanted, [project_id])
    change = ProjectionChange(
        present={project_id: wanted - before}, absent={project_id: before - wanted}, reselected=[project_id]
    )
    commits = refresh_projections(tx, change, CommitCause(ref.commit_id, message="", review_id=None))
    append_project_commits(tx, commits)
    record_audit(
        tx,
        "selection.replace",
        "project",
        project_id,
        before_hash=commits[0].fields.parent_commit_id,
        after_hash=commits[0].commit_id,
    )


def _require_known(tx: Transaction, memory_ids: Sequence[MemoryId]) -> None:
    unknown = unknown_memories(tx.connection, tx.org_id, memory_ids)
    if unknown:
        raise NotFound(f"{unknown[0]} is not an active Memory of the organization.", memory_id=unknown[0])


def _revision_problems(tx: Transaction, project_id: ProjectId, expected: int) -> list[Problem]:
    actual = project_refs(tx.connection, tx.org_id, [project_id])[project_id].selection_revision
    if actual == expected:
        return []
    return [VersionConflict("The selection has changed.", expected=expected, actual=actual)]


def _duplicates(memory_ids: Sequence[MemoryId]) -> list[Problem]:
    return [
        DuplicateId(f"{memory_id} stands more than once.", memory_id=memory_id)
        for memory_id, times in Counter(memory_ids).items()
        if times > 1
    ]


def _in_use(tx: Transaction, project_id: ProjectId, removed: set[MemoryId]) -> list[Problem]:
    if not removed:
        return []
    lock_selection(tx.connection, tx.org_id, project_id)
    holder = drafts_targeting(tx.connection, tx.org_id, project_id, removed)
    if holder is None:
        return []
    return [
        SelectionInUse(
            f"A Draft of the project targets {holder['memory_id']}.",
            memory_id=holder["memory_id"],
            draft_id=holder["draft_id"],
            author_id=holder["author_id"],
        )
    ]
