"""What every chapter of the demonstration has at hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from canonry.demo.desk import approve, commits_of, find_review, merge
from canonry.demo.display import Display
from canonry.demo.people import JONAS, MIRA, Cast
from canonry.supervisor import Part
from canonry.wording import counted
from models.schemas.reviews import MergeResult, ReviewBody

SHORT = 12
"""How many digits of a hash a line shows."""


@dataclass(frozen=True)
class Scene:
    """The people, the two projects' ids by name, where it is shown, and the processes that serve."""

    cast: Cast
    projects: Mapping[str, str]
    display: Display
    parts: Sequence[Part]

    def find(self, project: str, title: str) -> ReviewBody | None:
        """A Review that an earlier run has made."""
        return find_review(self.cast.owner, self.projects[project], title)

    def proposed_before(self, review: ReviewBody) -> ReviewBody:
        """Say that a Review is there already."""
        life = " → ".join(event.event for event in review.timeline)
        self.display.before(
            MIRA, f"proposed “{review.title}”: {counted(len(review.drafts), 'Draft')}, {review.status}", life
        )
        return review

    def approve(self, review: ReviewBody) -> ReviewBody:
        """Jonas approves, if he has not yet."""
        if review.status == "approved":
            return review
        with self.display.step(JONAS, "reads it and approves") as step:
            approved = approve(self.cast.jonas, review)
            step.ends(f"reads it and approves exactly this result, {approved.approvals[-1].result_hash[:SHORT]}…")
        return approved

    def publish(self, review: ReviewBody) -> None:
        """Jonas approves and publishes, unless that has been done, or somebody has decided otherwise."""
        if self.published_before(review) or review.status == "rejected":
            return
        approved = self.approve(review)
        with self.display.step(JONAS, "publishes it") as step:
            result = merge(self.cast.jonas, approved)
            step.ends(f"publishes it: {self.publication(result)}")

    def published_before(self, review: ReviewBody) -> bool:
        """Whether the Review is published already; then it says by whom, when, and as which version."""
        for commit in commits_of(self.cast.owner, review) if review.status == "merged" else ():
            when = f"{commit.created_at:%Y-%m-%d %H:%M} UTC"
            told = f"published it, {when}: version {commit.version}, commit {commit.commit_id[:SHORT]}…"
            self.display.before(self.cast.name(commit.created_by), told)
        return review.status == "merged"

    def publication(self, result: MergeResult) -> str:
        """What a merge did; the version is read back."""
        changed = counted(result.applied_operation_count, "document")
        commits = commits_of(self.cast.owner, result.review)
        return ", ".join([changed, *(f"version {each.version}, commit {each.commit_id[:SHORT]}…" for each in commits)])
