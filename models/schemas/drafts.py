"""Drafts on the wire (publication.md §2, §6)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, RootModel, model_validator

from models.rules.bodies import MAX_TITLE_CHARACTERS, is_body_too_long, is_description_too_long
from models.rules.paths import broken_length_rule
from models.schemas.common import Id, Input, Instant, ListQuery, Optional, RawText, Text, broken

MAX_OPERATIONS_A_REQUEST = 1_000
MAX_VERSION = 2**31 - 1

DraftStatus = Literal["open", "submitted", "merged", "discarded"]


def _path(raw: str) -> str:
    if rule := broken_length_rule(raw):
        raise broken(rule)
    return raw


def _body(raw: str) -> str:
    if not raw:
        raise broken("empty")
    if is_body_too_long(raw):
        raise broken("too_long")
    return raw


def _description(raw: str) -> str:
    if is_description_too_long(raw):
        raise broken("too_long")
    return raw


PathInput = Annotated[RawText, AfterValidator(_path)]
"""A path of 1-512 characters in NFC, segments of at most 255 bytes; its syntax is `operation_invalid`'s question."""

BodyInput = Annotated[RawText, AfterValidator(_body)]
"""A Memory's text: at most 262,144 bytes of UTF-8 once normalized, not empty."""

DescriptionInput = Annotated[RawText, AfterValidator(_description)]
"""A Memory's description: at most 1,024 characters once trimmed."""

DraftTitle = Annotated[Text, Field(max_length=MAX_TITLE_CHARACTERS)]
"""A Draft's title; it may be empty."""

Version = Annotated[int, Field(ge=0, le=MAX_VERSION)]
"""A version that the caller has read."""


class CreateContent(Input):
    """The texts of a new Memory."""

    content: BodyInput
    description: Optional[DescriptionInput] = None


class UpdateContent(Input):
    """The texts that change; one at least."""

    content: Optional[BodyInput] = None
    description: Optional[DescriptionInput] = None

    @model_validator(mode="after")
    def _not_empty(self) -> "UpdateContent":
        if self.content is None and self.description is None:
            raise broken("empty")
        return self


class Targeted(Input):
    """Names its target by exactly one of `memory_id` and `path`."""

    memory_id: Optional[Id] = None
    path: Optional[PathInput] = None

    @model_validator(mode="after")
    def _one_target(self) -> "Targeted":
        if (self.memory_id is None) == (self.path is None):
            raise broken("one_target")
        return self


class CreateOperation(Input):
    """Make a Memory at a path."""

    action: Literal["create"]
    path: PathInput
    content: CreateContent


class UpdateOperation(Targeted):
    """Change a Memory's texts."""

    action: Literal["update"]
    content: UpdateContent


class RenameOperation(Targeted):
    """Move a Memory to another path."""

    action: Literal["rename"]
    new_path: PathInput


class DeleteOperation(Targeted):
    """Delete a Memory."""

    action: Literal["delete"]


class RestoreOperation(Input):
    """Bring a deleted Memory back under its id; what is left out is as it was when it was deleted."""

    action: Literal["restore"]
    memory_id: Id
    path: Optional[PathInput] = None
    content: Optional[UpdateContent] = None


OperationInput = Annotated[
    CreateOperation | UpdateOperation | RenameOperation | DeleteOperation | RestoreOperation,
    Field(discriminator="action"),
]


class CreateDraft(Input):
    """A new Draft; without `base_commit_id` it starts from the current Ref."""

    project_id: Id
    title: DraftTitle = ""
    base_commit_id: Optional[Id] = None
    operations: Annotated[list[OperationInput], Field(max_length=MAX_OPERATIONS_A_REQUEST)] = Field(
        default_factory=list
    )


class UpdateDraft(Input):
    """What may be changed of a Draft beside its operations."""

    title: DraftTitle


class AppendOperations(Input):
    """Operations that follow those the Draft has; all of them are accepted, or none."""

    operations: Annotated[list[OperationInput], Field(min_length=1, max_length=MAX_OPERATIONS_A_REQUEST)]


class DraftsQuery(ListQuery):
    """Which of the caller's Drafts."""

    project_id: Optional[Id] = None
    status: Optional[DraftStatus] = None


class Coordination(BaseModel):
    """How a Draft stands to Current, computed on read."""

    freshness: Literal["current", "behind"]
    reconciliation: Literal["unknown", "clean", "conflicts"]
    current_commit_id: str | None
    candidate_id: str | None
    has_upstream_changes: bool


class OperationContent(BaseModel):
    """The texts that an operation carries; one it leaves alone is missing."""

    content: str | None = Field(default=None, exclude_if=lambda value: value is None)
    description: str | None = Field(default=None, exclude_if=lambda value: value is None)


class DraftOperationFacts(BaseModel):
    """What one step of a Draft does; only the members of its action are there."""

    index: int
    action: Literal["create", "update", "rename", "delete", "restore"]
    memory_id: str
    path: str | None = Field(default=None, exclude_if=lambda value: value is None)
    new_path: str | None = Field(default=None, exclude_if=lambda value: value is None)
    content: OperationContent | None = Field(default=None, exclude_if=lambda value: value is None)


class DraftOperationBody(DraftOperationFacts):
    """One step of a Draft; only the members of its action are there."""

    operation_id: str


class DraftFacts(BaseModel):
    """What a Draft is and how it stands."""

    project_id: str
    author_id: str
    title: str
    status: DraftStatus
    version: int
    base_commit_id: str | None
    coordination: Coordination | None
    review_id: str | None
    created_at: Instant
    updated_at: Instant


class DraftListItem(DraftFacts):
    """A Draft without its operations."""

    draft_id: str


class DraftBody(DraftListItem):
    """A Draft with its operations."""

    operations: list[DraftOperationBody]


class DiscardedDraft(BaseModel):
    """What an owner or admin sees of somebody's Draft after discarding it unseen."""

    draft_id: str
    status: Literal["discarded"]
    version: int


class DiscardAnswer(RootModel[DraftBody | DiscardedDraft]):
    """The whole Draft for its author; for an owner or admin no more than that it is gone."""


class StateBody(BaseModel):
    """A Memory at one moment."""

    path: str
    description: str
    content: str
    content_hash: str


class MemoryDifference(BaseModel):
    """A touched Memory: its base, its result, and the unified diff of the bodies."""

    memory_id: str
    base: StateBody | None
    result: StateBody | None
    diff: str


class CollisionBody(BaseModel):
    """Memories that cannot stand together at a path."""

    path: str
    memory_ids: list[str]


class DraftResult(BaseModel):
    """What a Draft comes to; collisions warn, they refuse nothing yet."""

    memories: list[MemoryDifference]
    collisions: list[CollisionBody]
