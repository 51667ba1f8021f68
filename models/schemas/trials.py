"""Dry runs on the wire: the real answer without ids that would only be made (publication.md §6)."""

from typing import Literal

from pydantic import Field

from models.schemas.drafts import DraftFacts, DraftOperationFacts
from models.schemas.reviews import ApprovalFacts, Mergeability, MergeFacts, ReviewFacts, TimelineEvent


class TriedReview(ReviewFacts):
    """A Review as a command would leave it; it has no id yet where the command would make it."""

    review_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    approvals: list[ApprovalFacts]
    timeline: list[TimelineEvent]
    mergeability: Mergeability


class ReviewTrial(TriedReview):
    """What a submission would come to; nothing of it is stored."""

    dry_run: Literal[True]


class MergeTrial(MergeFacts):
    """What a merge would do; nothing of it is stored."""

    dry_run: Literal[True]
    review: TriedReview


class DraftTrial(DraftFacts):
    """The Draft that would be made."""

    dry_run: Literal[True]
    operations: list[DraftOperationFacts]
