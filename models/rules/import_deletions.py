"""Which Memories a mirror deletes: those of its folder that no file stands for any more (publication.md §6)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from models.identifiers import MemoryId
from models.rules.import_bases import changed_by_others, changed_fields
from models.rules.import_plans import Base, ImportReport, Library, StagedFile
from models.rules.import_targets import Targets, memories_at
from models.rules.paths import path_key
from models.rules.states import Body, MemoryState


def absent(files: Iterable[StagedFile], targets: Targets, library: Library, prefix: str) -> dict[MemoryId, MemoryState]:
    """The selected Memories under the prefix that no file names, by its id or, without one, by its path.

    With a base they are those that it had there: what others have made, selected or moved there since stays.
    """
    folder = f"{path_key(prefix)}/" if prefix else ""
    named = set(targets.values())
    keys = {path_key(file.path) for file in files if file.memory_id is None}
    return {
        memory_id: state
        for memory_id, state in sorted(library.states.items())
        if memory_id in library.selected
        and memory_id not in named
        and path_key(state.path) not in keys
        and (was := _at_base(memory_id, state, library.base)) is not None
        and path_key(was.path).startswith(folder)
    }


def _at_base(memory_id: MemoryId, state: MemoryState, base: Base | None) -> MemoryState | None:
    if base is None:
        return state
    return base.states.get(memory_id) if memory_id in base.exported else None


class Deletions:
    """The Memories that a mirror deletes; a file that is left out spares those that it may stand for."""

    def __init__(self, states: Mapping[MemoryId, MemoryState], library: Library) -> None:
        self.states = dict(states)
        self._base = library.base
        self._at_key = memories_at(states)
        self._saying: dict[Body, list[MemoryId]] = defaultdict(list)
        for memory_id, state in states.items():
            self._saying[self._was(memory_id, state).body].append(memory_id)

    def _was(self, memory_id: MemoryId, state: MemoryState) -> MemoryState:
        return state if self._base is None else self._base.states[memory_id]

    def saying(self, body: Body) -> list[MemoryId]:
        """Those that say, or said in the base, what a new file says."""
        return [memory_id for memory_id in self._saying.get(body, ()) if memory_id in self.states]

    def spare(self, file: StagedFile) -> list[str]:
        """Keep the Memory at the file's path and, of a file without an id, those that say the same; their paths."""
        kept = {self._at_key.get(path_key(file.path))}
        if file.memory_id is None and file.body is not None:
            kept.update(self.saying(file.body))
        return [self.states.pop(memory_id).path for memory_id in kept if memory_id in self.states]

    def spare_changed(self, prefix: str, *, taken: Collection[str]) -> dict[str, ImportReport]:
        """Keep what others have changed since the base, and report it at its path there or, if a file is there, here.

        Args:
            prefix: reports name paths below it.
            taken: the paths of files. One at both paths of a Memory collides with it, and that is reported.
        """
        if self._base is None:
            return {}
        reports: dict[str, ImportReport] = {}
        for memory_id, now in [*self.states.items()]:
            was = self._base.states[memory_id]
            fields = changed_fields(was, now)
            if not fields:
                continue
            del self.states[memory_id]
            for path in (was.path, now.path):
                file_path = _below(prefix, path)
                if file_path not in taken and file_path not in reports:
                    reports[file_path] = changed_by_others(file_path, path, self._base.commit_id, fields)
                    break
        return reports


def _below(prefix: str, path: str) -> str:
    """The path below the prefix; one that lies elsewhere stays whole."""
    folders = prefix.count("/") + 1 if prefix else 0
    segments = path.split("/")
    above, below = "/".join(segments[:folders]), "/".join(segments[folders:])
    return below if path_key(above) == path_key(prefix) and below else path
