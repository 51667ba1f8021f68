"""What came of the demonstration, and what to try next."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from canonry.demo.people import FOLDER, PLATFORM
from canonry.demo.scene import Scene
from canonry.invocation import command_line, from_here
from canonry.stack import RunningCanonry
from canonry.wording import counted
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


def next_steps(running: RunningCanonry, figures: Figures, *, served: bool) -> str:
    """Commands to paste into another terminal, from this folder; `served`: what they ask goes on serving."""
    data, review = from_here(running.data), figures.waiting
    read_token = f"$(cat {shlex.quote(str(data / 'owner.token'))})"
    opening = "Try it" if served else "`make up` serves it; then"
    lines = [
        "",
        f"{opening}, from another terminal in this folder:",
        "",
        f"  API={running.url}/v1/api",
        f'  AUTH="Authorization: Bearer {read_token}"',
        f'  curl -sH "$AUTH" $API/reviews/{review.review_id}',
    ]
    if review.status == "open":
        body = json.dumps({"expected_review_version": review.version})
        lines += [
            f'  curl -sH "$AUTH" -H "Content-Type: application/json" -d \'{body}\' \\',
            f"    $API/reviews/{review.review_id}/merges    # publishes it",
        ]
    lines += [
        f"  {command_line('export', 'library', '--project', PLATFORM, data=data)}    # the library as files",
        f"  {command_line('verify', data=data)}    # recomputes every hash",
        "",
        f"Mira, Jonas and Wei have their tokens in {data / FOLDER}.",
    ]
    return "\n".join(lines)
