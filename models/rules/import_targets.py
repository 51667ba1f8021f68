"""Which Memory each file of an import stands for: by its id, or by its path (publication.md §6)."""

from collections.abc import Collection, Mapping, Sequence

from models.identifiers import MemoryId
from models.rules.import_plans import Library, StagedFile
from models.rules.paths import path_key
from models.rules.states import MemoryState

Targets = Mapping[str, MemoryId | None]
"""By file; None: no Memory is known there."""


def targets_of(files: Sequence[StagedFile], library: Library) -> Targets:
    """The file's Memory by its id, else the one at its path in the base, else the one that stands there now.

    One that another file names by its id, or that stood in the base where another file still is, is not meant.
    """
    targets: dict[str, MemoryId | None] = {file.file_path: file.memory_id for file in files}
    places = [library.states] if library.base is None else [library.base.states, library.states]
    for states in places:
        at_key = memories_at(states, without=set(targets.values()))
        for file in files:
            if targets[file.file_path] is None:
                targets[file.file_path] = at_key.get(path_key(file.path))
    return targets


def memories_at(
    states: Mapping[MemoryId, MemoryState], *, without: Collection[MemoryId | None] = ()
) -> dict[str, MemoryId]:
    """By path key, who stands there."""
    return {path_key(state.path): memory_id for memory_id, state in states.items() if memory_id not in without}
