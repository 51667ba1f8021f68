"""Staged files and libraries for the tests of the plan of an import, and what a plan makes of a library."""

from collections.abc import Collection, Mapping, Sequence

from models.identifiers import MemoryId
from models.rules.folding import Action
from models.rules.hashes import body_of
from models.rules.import_plans import ImportPlan, ImportReport, Library, StagedFile
from models.rules.states import MemoryState


def a_file(
    path: str,
    text: str = "text\n",
    *,
    memory_id: str | None = None,
    description: str | None = None,
    prefix: str = "",
) -> StagedFile:
    return StagedFile(
        file_path=path,
        path=f"{prefix}/{path}" if prefix else path,
        memory_id=None if memory_id is None else MemoryId(memory_id),
        description=description,
        body=body_of(text),
    )


def unreadable(path: str, *, memory_id: str | None = None, prefix: str = "") -> StagedFile:
    """A file that was reported when it was staged."""
    return StagedFile(
        file_path=path,
        path=f"{prefix}/{path}" if prefix else path,
        memory_id=None if memory_id is None else MemoryId(memory_id),
        report=ImportReport(path, "operation_invalid", "A body is not blank."),
    )


def a_library(
    states: Mapping[str, MemoryState], *, unselected: Collection[str] = (), archived: Collection[str] = ()
) -> Library:
    """Memories by id, all selected but those that are named."""
    return Library(
        states={MemoryId(memory_id): state for memory_id, state in states.items()},
        selected={MemoryId(memory_id) for memory_id in states if memory_id not in unselected},
        archived={MemoryId(memory_id) for memory_id in archived},
    )


def reported(plan: ImportPlan) -> dict[str, str]:
    """The code of each report by the file's path."""
    assert len({report.path for report in plan.reports}) == len(plan.reports)
    return {report.path: report.code for report in plan.reports}


def changed(plan: ImportPlan) -> list[tuple[str, str, str | None, str | None]]:
    """The changes as tuples: action, path, from path, id."""
    return [(change.action.value, change.path, change.from_path, change.memory_id) for change in plan.changes]


def applied(plan: ImportPlan, files: Sequence[StagedFile], library: Library) -> Library:
    """The library once the plan is published; new Memories get ids of their own and are selected."""
    by_path = {file.file_path: file for file in files}
    states = dict(library.states)
    selected = set(library.selected)
    for number, step in enumerate(plan.operations):
        file = by_path.get(step.file_path or "")
        memory_id = step.memory_id or MemoryId(f"mem_new{number}_{len(library.states)}")
        if step.action in (Action.CREATE, Action.RESTORE):
            assert memory_id not in states
            assert (memory_id in library.archived) is (step.action is Action.RESTORE)
            assert step.path is not None
            assert file is not None
            assert file.body is not None
            states[memory_id] = MemoryState(step.path, file.description or "", file.body)
            selected.add(memory_id)
            continue
        before = states.pop(memory_id)
        selected.discard(memory_id)
        if step.action is Action.DELETE:
            continue
        path = step.path if step.action is Action.RENAME else before.path
        body = file.body if file is not None and step.takes_content else before.body
        described = file is not None and step.takes_description
        description = (file.description if described and file is not None else None) or (
            "" if described else before.description
        )
        assert path is not None
        assert body is not None
        states[memory_id] = MemoryState(path, description, body)
        selected.add(memory_id)
    return Library(states, selected, library.archived)
