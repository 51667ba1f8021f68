"""Reviews on the wire (publication.md §4, §6)."""

from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from models.schemas.common import Instant
from models.schemas.drafts import MemoryDifference

ReviewStatus = Literal["open", "approved", "rejected", "withdrawn", "merged"]


class ReviewDraft(BaseModel):
    """A member of a Review, at its version in the latest submission."""

    draft_id: str
    draft_version: int
    title: str
    status: Literal["open", "submitted", "merged", "discarded"]
    freshness: Literal["current", "behind"] | None
    reconciliation: Literal["unknown", "clean", "conflicts"] | None


class SubmissionDraft(BaseModel):
    """A Draft as a submission fixed it."""

    draft_id: str
    draft_version: int


class SubmissionBody(BaseModel):
    """A submission: immutable and numbered."""

    number: int
    result_hash: str
    created_at: Instant
    drafts: list[SubmissionDraft]


class SubmissionWithMemories(SubmissionBody):
    """A submission with the states that were submitted."""

    memories: list[MemoryDifference]


class ReviewDiff(BaseModel):
    """What a submission proposes."""

    memories: list[MemoryDifference]


class ApprovalBody(BaseModel):
    """One person's approval of exactly one result."""

    approval_id: str
    actor_id: str
    submission: int
    result_hash: str
    created_at: Instant


class TimelineEvent(BaseModel):
    """Something that happened to the Review; members that do not apply are missing."""

    at: Instant
    actor_id: str
    event: str
    submission: int | None = Field(default=None, exclude_if=lambda value: value is None)
    old_hash: str | None = Field(default=None, exclude_if=lambda value: value is None)
    new_hash: str | None = Field(default=None, exclude_if=lambda value: value is None)
    reason: str | None = Field(default=None, exclude_if=lambda value: value is None)


class ComputedFor(BaseModel):
    """What a mergeability was computed for."""

    org_commit_id: str | None
    review_version: int


class MemoryAtPath(BaseModel):
    """A Memory and where it stands."""

    memory_id: str
    path: str


class Mergeability(BaseModel):
    """Whether a merge would pass now, and if not, everything in the way."""

    state: Literal["mergeable", "blocked", "closed"]
    computed_for: ComputedFor
    blockers: list[dict[str, JsonValue]]
    result_hash: str
    creates: list[MemoryAtPath]
    updates: list[MemoryAtPath]
    deletes: list[MemoryAtPath]


class ReviewListItem(BaseModel):
    """A Review without timeline and mergeability."""

    review_id: str
    project_id: str
    author_id: str
    title: str
    description: str
    status: ReviewStatus
    closed_reason: Literal["withdrawn", "expired", "last_draft_discarded", "user_deleted", "project_deleted"] | None
    version: int
    drafts: list[ReviewDraft]
    submission: int
    submissions: list[SubmissionBody]
    approvals: list[ApprovalBody]
    result_hash: str
    publish_at: Instant | None
    created_at: Instant
    updated_at: Instant


class ReviewBody(ReviewListItem):
    """A Review."""

    timeline: list[TimelineEvent]
    mergeability: Mergeability


class CreatedMemory(BaseModel):
    """What a Draft's provisional id became."""

    draft_id: str
    provisional_id: str
    memory_id: str
    path: str


class MergeResult(BaseModel):
    """What a merge did."""

    review: ReviewBody
    commit_id: str | None
    applied_operation_count: int
    already_published: bool
    created: list[CreatedMemory]


class CommentBody(BaseModel):
    """A remark on a submission, or on a line of its proposed result."""

    comment_id: str
    submission: int
    author_id: str
    body: str
    anchor_path: str | None
    anchor_line: int | None
    current_line: int | None
    outdated: bool
    resolved: bool
    created_at: Instant
