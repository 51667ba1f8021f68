"""A contested Memory: what it would be if every choice about it fell on one side (reconciliation-table.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from models.identifiers import BlobId, MemoryId
from models.rules.conflicts import Comparison, Conflict, ConflictCode, ContestedField
from models.rules.hashes import body_of
from models.rules.states import Body, MemoryState, State
from models.rules.text_merge import Merge, Side, both, one_side
from models.rules.three_way import Read, accepted_text, texts_of

_PATH_IS_TAKEN = frozenset({ConflictCode.PATH_OCCUPIED, ConflictCode.PATH_BOTH_CREATED})


@dataclass(slots=True)
class Contest:
    """A Memory with everything that is contested about it in one Draft.

    `texts` takes the texts that are made here.
    """

    comparison: Comparison
    conflicts: Sequence[Conflict]
    read: Read
    texts: dict[BlobId, str]
    _bodies: "_Bodies | None" = field(init=False, default=None)

    @property
    def memory_id(self) -> MemoryId:
        """The Memory."""
        return self.comparison.memory_id

    @property
    def path_is_taken(self) -> bool:
        """Whether the Draft's path is another Memory's."""
        return any(conflict.code in _PATH_IS_TAKEN for conflict in self.conflicts)

    def is_about(self, contested: ContestedField) -> bool:
        """Whether a record is about this field."""
        return any(conflict.field is contested for conflict in self.conflicts)

    def on_side(self, side: Side) -> State:
        """The merged state, with this side's values where it is contested."""
        whole = self.comparison.current if side is Side.CURRENT else self.comparison.draft
        merged = self.comparison.proposed
        if whole is None or merged is None or self.is_about(ContestedField.EXISTENCE):
            return whole
        return MemoryState(
            path=whole.path if self.is_about(ContestedField.PATH) else merged.path,
            description=whole.description if self.is_about(ContestedField.DESCRIPTION) else merged.description,
            body=self._body_on(side, whole) if self.is_about(ContestedField.BODY) else merged.body,
        )

    def body_of_both(self, *, current_first: bool) -> Body | None:
        """The body with both sides' lines where they overlap, one side's after the other's; None: over its limit."""
        return self._kept(self._texts().both(current_first=current_first))

    def _body_on(self, side: Side, whole: MemoryState) -> Body:
        return self._kept(self._texts().one_side(side)) or whole.body

    def _kept(self, text: str) -> Body | None:
        accepted = accepted_text(text)
        if accepted is None:
            return None
        body = body_of(accepted)
        self.texts[body.blob_id] = accepted
        return body

    def _texts(self) -> "_Bodies":
        if self._bodies is None:
            self._bodies = _Bodies.of(self.comparison, self.read)
        return self._bodies


@dataclass(frozen=True, slots=True)
class _Bodies:
    base: str
    current: str
    draft: str
    merged: Merge

    @classmethod
    def of(cls, comparison: Comparison, read: Read) -> "_Bodies":
        if comparison.merge is None:
            raise ValueError("contested bodies have been merged as far as they go")
        return cls(*texts_of(comparison.base, comparison.current, comparison.draft, read), comparison.merge)

    def one_side(self, side: Side) -> str:
        return one_side(self.base, self.current, self.draft, self.merged.segments, side)

    def both(self, *, current_first: bool) -> str:
        return both(self.base, self.current, self.draft, self.merged.segments, current_first=current_first)
