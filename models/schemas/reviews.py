"""Reviews on the wire (publication.md §4, §6)."""

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, JsonValue, model_validator

from models.rules.bodies import MAX_TITLE_CHARACTERS
from models.rules.limits import MAX_REVIEW_DRAFTS
from models.schemas.common import (
    DIGITS,
    Id,
    Input,
    Instant,
    ListQuery,
    Optional,
    Query,
    RawText,
    Text,
    broken,
    parse_instant,
)
from models.schemas.drafts import MAX_VERSION, DraftStatus, MemoryDifference, PathInput, Version
from models.schemas.reconciliation import ResolvedStates

MAX_REMARK_CHARACTERS = 65_536
RESULT_HASH = "[0-9a-f]{64}"

ReviewStatus = Literal["open", "approved", "rejected", "withdrawn", "merged"]


def _not_blank(title: str) -> str:
    if not title.strip():
        raise broken("blank")
    return title


def _remark(raw: str) -> str:
    if not raw:
        raise broken("empty")
    if len(raw) > MAX_REMARK_CHARACTERS:
        raise broken("too_long")
    return raw


ReviewTitle = Annotated[Text, Field(max_length=MAX_TITLE_CHARACTERS), AfterValidator(_not_blank)]
"""A Review's title, the message of its commit: at most 200 characters, not blank."""

Remark = Annotated[Text, Field(max_length=MAX_REMARK_CHARACTERS)]
"""A description or a reason; it may be empty."""


def _result_hash(raw: str) -> str:
    if not re.fullmatch(RESULT_HASH, raw, re.ASCII):
        raise broken("sha_256")
    return raw


ResultHash = Annotated[Text, AfterValidator(_result_hash), Field(json_schema_extra={"pattern": f"^{RESULT_HASH}$"})]
"""A result hash: 64 lower-case hexadecimal digits."""


class DraftReferenceInput(Input):
    """A Draft at the version its author saw; with the candidate that brings it up to date, where it needs one."""

    draft_id: Id
    expected_draft_version: Version
    candidate_id: Optional[Id] = None
    resolved_state: Optional[ResolvedStates] = None

    @model_validator(mode="after")
    def _resolves_a_candidate(self) -> "DraftReferenceInput":
        if self.resolved_state is not None and self.candidate_id is None:
            raise broken("needs_candidate")
        return self


DraftReferences = Annotated[list[DraftReferenceInput], Field(min_length=1, max_length=MAX_REVIEW_DRAFTS)]
"""The Drafts of a submission, in the order in which they are folded."""


def _future(raw: object) -> datetime:
    at = parse_instant(raw)
    if at <= datetime.now(UTC):
        raise broken("not_in_the_future")
    return at


PublishAt = Annotated[datetime, BeforeValidator(_future, json_schema_input_type=datetime)]
"""When a Review is to be published by itself if it is approved then: RFC 3339 with its offset, in the future."""

PublishAtOrNever = Annotated[
    datetime | None,
    BeforeValidator(lambda raw: None if raw is None else _future(raw), json_schema_input_type=datetime | None),
]
"""The same, or null, which cancels it."""


class CreateReview(Input):
    """Drafts to be considered and published together."""

    project_id: Id
    title: ReviewTitle
    description: Remark = ""
    publish_at: Optional[PublishAt] = None
    drafts: DraftReferences


class UpdateReview(Input):
    """What may be changed of a Review without a new submission."""

    title: Optional[ReviewTitle] = None
    description: Optional[Remark] = None
    publish_at: PublishAtOrNever = None

    @property
    def reschedules(self) -> bool:
        """Whether `publish_at` was sent: null cancels it, left out it stays."""
        return "publish_at" in self.model_fields_set


class ResubmitReview(Input):
    """A new submission; Drafts left out reopen."""

    expected_review_version: Version
    drafts: DraftReferences
    title: Optional[ReviewTitle] = None
    description: Optional[Remark] = None


class WithdrawReview(Input):
    """Take a Review back."""

    expected_review_version: Version
    reason: Optional[Remark] = None


class DecideReview(Input):
    """Approve or reject the latest submission."""

    decision: Literal["approved", "rejected"]
    expected_review_version: Version
    body: Optional[Remark] = None


class MergeReview(Input):
    """Publish a Review, if it comes to the result that the caller saw."""

    expected_review_version: Version
    expected_result_hash: Optional[ResultHash] = None


class ReviewsQuery(ListQuery):
    """Which Reviews."""

    project_id: Optional[Id] = None
    status: Optional[ReviewStatus] = None


class DiffQuery(Query):
    """Which submission; the latest, when none is named."""

    submission: Annotated[Optional[Annotated[int, Field(ge=1, le=MAX_VERSION)]], DIGITS] = None


class CreateComment(Input):
    """A remark on the latest submission, or on a line of what it proposes: both anchor fields, or neither."""

    body: Annotated[RawText, AfterValidator(_remark)]
    anchor_path: Optional[PathInput] = None
    anchor_line: Optional[Annotated[int, Field(ge=1, le=MAX_VERSION)]] = None


class UpdateComment(Input):
    """Whether what the comment asks for is settled."""

    resolved: bool


class ReviewDraft(BaseModel):
    """A member of a Review, at its version and with its title in the latest submission.

    `freshness` and `reconciliation` are null unless this Review holds the Draft now.
    """

    draft_id: str
    draft_version: int
    title: str
    status: DraftStatus
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


class ApprovalFacts(BaseModel):
    """Whose approval of which result."""

    actor_id: str
    submission: int
    result_hash: str
    created_at: Instant


class ApprovalBody(ApprovalFacts):
    """One person's approval of exactly one result."""

    approval_id: str


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


class ReviewFacts(BaseModel):
    """What a Review is and how it stands."""

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
    result_hash: str
    publish_at: Instant | None
    created_at: Instant
    updated_at: Instant


class ReviewListItem(ReviewFacts):
    """A Review without timeline and mergeability."""

    review_id: str
    approvals: list[ApprovalBody]


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


class MergeFacts(BaseModel):
    """What a merge did."""

    applied_operation_count: int
    already_published: bool
    created: list[CreatedMemory]


class MergeResult(MergeFacts):
    """What a merge did, to which Review and by which commit."""

    review: ReviewBody
    commit_id: str | None


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
