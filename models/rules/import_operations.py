"""What the aims of an import's files come to: draft operations in order, the changes for people, counts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.errors import OperationInvalid
from models.identifiers import MemoryId
from models.rules.folding import Action
from models.rules.import_plans import (
    ImportCounts,
    ImportPlan,
    ImportReport,
    PlannedChange,
    PlannedOperation,
    StagedFile,
)
from models.rules.limits import MAX_REVIEW_OPERATIONS
from models.rules.states import Body, MemoryState


@dataclass(frozen=True, slots=True)
class Aim:
    """What a file is to become: the next state of `target`, a new Memory, or a deleted one that it restores."""

    file: StagedFile
    body: Body
    target: MemoryId | None = None
    before: MemoryState | None = None
    restores: bool = False

    @property
    def moves(self) -> bool:
        """Whether its Memory stands elsewhere."""
        return self.before is not None and self.before.path != self.file.path

    @property
    def takes_content(self) -> bool:
        """Whether the text is new to its Memory."""
        return self.before is None or self.before.body != self.body

    @property
    def takes_description(self) -> bool:
        """Whether the description is given and new to its Memory; a new Memory takes an empty one, too."""
        given = self.file.description
        if self.restores:
            return given is not None
        return self.before is None or (given is not None and given != self.before.description)


def plan_of_aims(
    aims: Sequence[Aim], deleted: Mapping[MemoryId, MemoryState], reports: Mapping[str, ImportReport], *, settled: int
) -> ImportPlan:
    """The operations: pairs of one Memory, then deletions, moves, updates, restores and creations, each by path.

    Args:
        aims: of the files that are taken, by path.
        deleted: what a mirror deletes.
        reports: by file, why it is left out.
        settled: how many files need nothing, whatever their Memories have become.

    Raises:
        OperationInvalid: more operations than a Review holds (`rule` `too_many`).
    """
    steps = {aim.file.file_path: list(_operations(aim)) for aim in aims}
    deletions = [
        PlannedOperation(Action.DELETE, memory_id)
        for memory_id, _ in sorted(deleted.items(), key=lambda item: item[1].path)
    ]
    pairs = [step for each in steps.values() if len(each) > 1 for step in each]
    single = [each[0] for each in steps.values() if len(each) == 1]
    ordered = {action: [step for step in single if step.action is action] for action in Action}
    one_by_one = (Action.RENAME, Action.UPDATE, Action.RESTORE, Action.CREATE)
    operations = [*pairs, *deletions, *(step for action in one_by_one for step in ordered[action])]
    if len(operations) > MAX_REVIEW_OPERATIONS:
        raise OperationInvalid(
            f"An import makes at most {MAX_REVIEW_OPERATIONS} operations.", field="operations", rule="too_many"
        )
    times = Counter(step.action for step in operations)
    return ImportPlan(
        operations=operations,
        changes=_changes(aims, steps, deleted),
        reports=[reports[file_path] for file_path in sorted(reports)],
        counts=ImportCounts(
            created=times[Action.CREATE] + times[Action.RESTORE],
            updated=times[Action.UPDATE],
            renamed=times[Action.RENAME],
            deleted=times[Action.DELETE],
            unchanged=settled + sum(not each for each in steps.values()),
        ),
    )


def _operations(aim: Aim) -> Iterator[PlannedOperation]:
    file = aim.file
    if aim.before is None:
        yield PlannedOperation(
            Action.RESTORE if aim.restores else Action.CREATE,
            file.memory_id,
            file.path,
            file.file_path,
            takes_content=aim.takes_content,
            takes_description=aim.takes_description,
        )
        return
    if aim.moves:
        yield PlannedOperation(Action.RENAME, aim.target, file.path, file.file_path)
    if aim.takes_content or aim.takes_description:
        yield PlannedOperation(
            Action.UPDATE,
            aim.target,
            file_path=file.file_path,
            takes_content=aim.takes_content,
            takes_description=aim.takes_description,
        )


def _changes(
    aims: Sequence[Aim],
    steps: Mapping[str, Sequence[PlannedOperation]],
    deleted: Mapping[MemoryId, MemoryState],
) -> list[PlannedChange]:
    changes = [PlannedChange(Action.DELETE, state.path, None, memory_id) for memory_id, state in deleted.items()]
    for aim in aims:
        for step in steps[aim.file.file_path]:
            left = aim.before.path if step.action is Action.RENAME and aim.before is not None else None
            changes.append(PlannedChange(step.action, aim.file.path, left, step.memory_id))
    return sorted(changes, key=lambda change: change.path)
