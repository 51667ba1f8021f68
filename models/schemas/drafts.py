"""Drafts on the wire (publication.md §2, §6)."""

from typing import Literal

from pydantic import BaseModel, Field

from models.schemas.common import Instant


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


class DraftOperationBody(BaseModel):
    """One step of a Draft; only the members of its action are there."""

    operation_id: str
    index: int
    action: Literal["create", "update", "rename", "delete"]
    memory_id: str
    path: str | None = Field(default=None, exclude_if=lambda value: value is None)
    new_path: str | None = Field(default=None, exclude_if=lambda value: value is None)
    content: OperationContent | None = Field(default=None, exclude_if=lambda value: value is None)


class DraftListItem(BaseModel):
    """A Draft without its operations."""

    draft_id: str
    project_id: str
    author_id: str
    title: str
    status: Literal["open", "submitted", "merged", "discarded"]
    version: int
    base_commit_id: str | None
    coordination: Coordination | None
    review_id: str | None
    created_at: Instant
    updated_at: Instant


class DraftBody(DraftListItem):
    """A Draft with its operations."""

    operations: list[DraftOperationBody]


class DiscardedDraft(BaseModel):
    """What an owner or admin sees of somebody's Draft after discarding it unseen."""

    draft_id: str
    status: Literal["discarded"]
    version: int


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
