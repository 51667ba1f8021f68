"""What came of the demonstration, and what to try next."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from canonry.demo.people import FOLDER, MIRA
from canonry.demo.scene import Scene, counted
from canonry.stack import RunningCanonry
from models.schemas.commits import CommitBody, MemoryBody
from models.schemas.reviews import ReviewBody, ReviewListItem


@dataclass(frozen=True)
class Figures:
    """What the server counts of the two projects and the organization, and the Review left open."""

    reviews: Sequence[ReviewListItem]
    commits: int
    documents: int
    waiting: ReviewBody


def counted_up(scene: Scene, *, waiting: ReviewBody) -> Figures:
    """Read the figures."""
    owner = scene.cast.owner
    reviews = [
        review
        for project_id in scene.projects.values()
        for review in owner.items("/reviews", ReviewListItem, project_id=project_id)
    ]
    commits = sum(1 for _ in owner.items("/org/commits", CommitBody))
    documents = sum(1 for _ in owner.items("/org/memories", MemoryBody))
    return Figures(reviews, commits, documents, waiting)


def summary(figures: Figures, seconds: float) -> str:
    """What stands now."""
    merged = sum(review.status == "merged" for review in figures.reviews)
    submissions = sum(len(review.submissions) for review in figures.reviews)
    return (
        f"\nTold in {seconds:.1f} s. {counted(figures.documents, 'document')}, published in"
        f" {counted(figures.commits, 'version')} by {counted(merged, 'Review')};"
        f" {counted(submissions, 'submission')} in all.\n"
    )


def next_steps(running: RunningCanonry, figures: Figures) -> str:
    """Commands to paste into another terminal."""
    data = _relative(running.data)
    option = "" if data == Path(".canonry") else f" --data {data}"
    mira = data / FOLDER / f"{MIRA.lower()}.token"
    waiting = figures.waiting
    lines = [
        "",
        "Try, in another terminal:",
        "",
        f"  API={running.url}/v1/api TOKEN=$(cat {data / 'owner.token'})    # or {mira}",
        f'  curl -sH "Authorization: Bearer $TOKEN" $API/reviews/{waiting.review_id}',
    ]
    if waiting.status == "open":
        lines += [
            '  curl -sH "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\',
            f"       $API/reviews/{waiting.review_id}/merges \\",
            f"       -d '{{\"expected_review_version\": {waiting.version}}}'                 # publish it",
        ]
    lines += [
        f"  .venv/bin/canonry export library --project Platform{option}",
        f"  .venv/bin/canonry verify{option}",
    ]
    return "\n".join(lines)


def _relative(data: Path) -> Path:
    """As one would type it here."""
    return data.relative_to(Path.cwd()) if data.is_relative_to(Path.cwd()) else data
