"""Candidates, resolutions and rebases on the wire (publication.md §3, reconciliation-table.md)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from models.schemas.common import Id, Input, Instant, Optional, broken
from models.schemas.drafts import (
    BodyInput,
    DescriptionInput,
    DraftOperationBody,
    PathInput,
    StateBody,
    Version,
)

MAX_RESOLVED_STATES = 1_000


class ResolvedStateInput(Input):
    """What a Memory with a conflict is to be: all of it, or gone."""

    memory_id: Id
    exists: bool
    path: Optional[PathInput] = None
    description: Optional[DescriptionInput] = None
    content: Optional[BodyInput] = None

    @model_validator(mode="after")
    def _whole_or_gone(self) -> "ResolvedStateInput":
        given = [self.path, self.description, self.content]
        if self.exists and None in given:
            raise broken("incomplete")
        if not self.exists and given != [None, None, None]:
            raise broken("gone")
        return self


def _each_once(states: list[ResolvedStateInput]) -> list[ResolvedStateInput]:
    if len({state.memory_id for state in states}) < len(states):
        raise broken("duplicate")
    return states


ResolvedStates = Annotated[list[ResolvedStateInput], Field(max_length=MAX_RESOLVED_STATES), AfterValidator(_each_once)]
"""One state for each Memory with a conflict; at most 1,000, each Memory once."""


class CreateCandidate(Input):
    """Ask how a Draft stands to Current."""

    expected_draft_version: Version


class RebaseDraft(Input):
    """Bring a Draft up to date as a candidate proposes; with conflicts, as `resolved_state` says."""

    candidate_id: Id
    expected_draft_version: Version
    resolved_state: Optional[ResolvedStates] = None


class ComparedMemory(BaseModel):
    """A touched Memory in its four states; null where it does not exist."""

    memory_id: str
    base: StateBody | None
    current: StateBody | None
    draft: StateBody | None
    proposed: StateBody | None


class LinesBody(BaseModel):
    """Some lines of a text; `start` counts from 1."""

    start: int
    count: int
    lines: list[str]


class HunkBody(BaseModel):
    """Lines that both sides changed, each its own way."""

    base: LinesBody
    current: LinesBody
    draft: LinesBody


class OtherBody(BaseModel):
    """The other side of a conflict: a commit, or a Draft, earlier in the Review or open and creating what is changed.

    The member of the other kind is missing.
    """

    commit_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    draft_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    memory_id: str
    author_id: str


class ResolvedStateBody(BaseModel):
    """A resolved state as it may be sent back; one that does not exist has no further member."""

    memory_id: str
    exists: bool
    path: str | None = Field(default=None, exclude_if=lambda value: value is None)
    description: str | None = Field(default=None, exclude_if=lambda value: value is None)
    content: str | None = Field(default=None, exclude_if=lambda value: value is None)


class ResolutionBody(BaseModel):
    """A machine-applicable proposal; several conflicts are settled by one of each."""

    name: str
    resolved_state: list[ResolvedStateBody]


class ConflictBody(BaseModel):
    """Two changes of one field that a person has to bring together; members that do not apply are missing."""

    code: str
    memory_id: str
    field: Literal["existence", "path", "description", "body"]
    base: StateBody | None
    current: StateBody | None
    draft: StateBody | None
    hunks: list[HunkBody] | None = Field(default=None, exclude_if=lambda value: value is None)
    identical: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    equivalent: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    paths: list[str] | None = Field(default=None, exclude_if=lambda value: value is None)
    other: OtherBody
    resolutions: list[ResolutionBody]


class CandidateBody(BaseModel):
    """A proposal to bring a Draft up to date; making one changes nothing."""

    candidate_id: str
    draft_id: str
    draft_version: int
    base_commit_id: str | None
    current_commit_id: str | None
    reconciliation: Literal["clean", "conflicts"]
    memories: list[ComparedMemory]
    conflicts: list[ConflictBody]
    result_hash: str | None
    approval_survives: bool | None
    engine: str
    stale: bool
    created_at: Instant


class RevisionBody(BaseModel):
    """A Draft as it was before a rebase by `candidate_id`."""

    version: int
    base_commit_id: str | None
    title: str
    operations: list[DraftOperationBody]
    candidate_id: str
    created_at: Instant
