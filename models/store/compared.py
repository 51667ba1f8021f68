"""What a candidate compares, and what is contested of it: as it is stored, with blob ids where it shows texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from models.identifiers import BlobId, MemoryId
from models.rules.conflicts import Comparison, Conflict
from models.rules.hashes import JsonValue
from models.rules.states import State
from models.rules.text_merge import LineRange
from models.schemas.drafts import StateBody
from models.schemas.reconciliation import (
    ComparedMemory,
    ConflictBody,
    HunkBody,
    LinesBody,
    OtherBody,
    ResolutionBody,
    ResolvedStateBody,
)

Texts = Mapping[BlobId, str]


class StoredState(BaseModel):
    """A Memory in one of its states."""

    path: str
    description: str
    blob_id: BlobId
    content_hash: str

    @classmethod
    def of(cls, state: State) -> "StoredState | None":
        """As the rules have it; None where the Memory does not exist."""
        if state is None:
            return None
        body = state.body
        return cls(path=state.path, description=state.description, blob_id=body.blob_id, content_hash=body.content_hash)

    def shown(self, texts: Texts) -> StateBody:
        """With its text."""
        return StateBody(
            path=self.path,
            description=self.description,
            content=texts[self.blob_id],
            content_hash=self.content_hash,
        )


def _shown(state: StoredState | None, texts: Texts) -> StateBody | None:
    return None if state is None else state.shown(texts)


class StoredMemory(BaseModel):
    """A touched Memory in its four states."""

    memory_id: MemoryId
    base: StoredState | None
    current: StoredState | None
    draft: StoredState | None
    proposed: StoredState | None

    @classmethod
    def of(cls, comparison: Comparison) -> "StoredMemory":
        """As it was compared."""
        return cls(
            memory_id=comparison.memory_id,
            base=StoredState.of(comparison.base),
            current=StoredState.of(comparison.current),
            draft=StoredState.of(comparison.draft),
            proposed=StoredState.of(comparison.proposed),
        )

    @property
    def states(self) -> Iterator[StoredState]:
        """All of them that exist."""
        return (state for state in (self.base, self.current, self.draft, self.proposed) if state is not None)

    def shown(self, texts: Texts) -> ComparedMemory:
        """With its texts."""
        return ComparedMemory(
            memory_id=self.memory_id,
            base=_shown(self.base, texts),
            current=_shown(self.current, texts),
            draft=_shown(self.draft, texts),
            proposed=_shown(self.proposed, texts),
        )


class StoredHunk(BaseModel):
    """Lines that both sides changed: where each of the ranges begins, from 0, and ends."""

    base: tuple[int, int]
    current: tuple[int, int]
    draft: tuple[int, int]


class StoredResolvedState(BaseModel):
    """What a resolution makes of a Memory; without a state it does not exist."""

    memory_id: MemoryId
    state: StoredState | None

    def shown(self, texts: Texts) -> ResolvedStateBody:
        """As it may be sent back."""
        if self.state is None:
            return ResolvedStateBody(memory_id=self.memory_id, exists=False)
        return ResolvedStateBody(
            memory_id=self.memory_id,
            exists=True,
            path=self.state.path,
            description=self.state.description,
            content=texts[self.state.blob_id],
        )


class StoredResolution(BaseModel):
    """A proposal by its name."""

    name: str
    states: list[StoredResolvedState]


class StoredConflict(BaseModel):
    """Two changes of one field that a person has to bring together."""

    code: str
    memory_id: MemoryId
    field: Literal["existence", "path", "description", "body"]
    base: StoredState | None
    current: StoredState | None
    draft: StoredState | None
    hunks: list[StoredHunk] | None
    identical: bool | None
    equivalent: bool | None
    paths: list[str] | None
    other: OtherBody
    resolutions: list[StoredResolution]

    @classmethod
    def of(cls, conflict: Conflict, other: OtherBody) -> "StoredConflict":
        """As it was found, with whoever is on the other side."""
        memory_id = conflict.memory_id
        hunks = [
            StoredHunk(base=_ends(hunk.base), current=_ends(hunk.current), draft=_ends(hunk.draft))
            for hunk in conflict.hunks
        ]
        return cls(
            code=conflict.code.value,
            memory_id=memory_id,
            field=conflict.field.value,
            base=StoredState.of(conflict.base),
            current=StoredState.of(conflict.current),
            draft=StoredState.of(conflict.draft),
            hunks=hunks or None,
            identical=conflict.identical,
            equivalent=conflict.equivalent,
            paths=None if conflict.paths is None else list(conflict.paths),
            other=other,
            resolutions=[
                StoredResolution(
                    name=resolution.name,
                    states=[StoredResolvedState(memory_id=memory_id, state=StoredState.of(resolution.state))],
                )
                for resolution in conflict.resolutions
            ],
        )

    @property
    def states(self) -> Iterator[StoredState]:
        """All that exist, with those that it may be resolved by."""
        resolved = (item.state for resolution in self.resolutions for item in resolution.states)
        return (state for state in (self.base, self.current, self.draft, *resolved) if state is not None)

    def shown(self, texts: Texts) -> ConflictBody:
        """With its texts."""
        base, current, draft = (_shown(state, texts) for state in (self.base, self.current, self.draft))
        hunks = [
            HunkBody(
                base=_lines(hunk.base, base), current=_lines(hunk.current, current), draft=_lines(hunk.draft, draft)
            )
            for hunk in self.hunks or ()
        ]
        return ConflictBody(
            code=self.code,
            memory_id=self.memory_id,
            field=self.field,
            base=base,
            current=current,
            draft=draft,
            hunks=hunks or None,
            identical=self.identical,
            equivalent=self.equivalent,
            paths=self.paths,
            other=self.other,
            resolutions=[
                ResolutionBody(name=each.name, resolved_state=[state.shown(texts) for state in each.states])
                for each in self.resolutions
            ],
        )


def documents_of(conflicts: Sequence[StoredConflict]) -> list[JsonValue]:
    """Conflicts as the table has them."""
    return [conflict.model_dump(mode="json") for conflict in conflicts]


def _ends(lines: LineRange) -> tuple[int, int]:
    return lines.start, lines.end


def _lines(lines: tuple[int, int], state: StateBody | None) -> LinesBody:
    """The lines of a range; a Memory that does not exist has none."""
    start, end = lines
    whole = [] if state is None else state.content.split("\n")[:-1]
    return LinesBody(start=start + 1, count=end - start, lines=whole[start:end])
