"""What came of the demonstration, and what to try next."""

import json
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from canonry.demo.people import FOLDER, PLATFORM
from canonry.demo.scene import Scene
from canonry.invocation import DEFAULT_DATA, command_line, from_here
from canonry.remote import PAGE, Remote
from canonry.stack import RunningCanonry
from canonry.wording import counted
from models.schemas.commits import CommitBody, SelectionBody
from models.schemas.reviews import ReviewBody, ReviewListItem
from models.schemas.structured import MemoriesPage
from models.settings import Settings


@dataclass(frozen=True)
class Figures:
    """What the server counts of the two projects, whatever else the organization has, and the Review left open.

    `memories` are those that agents of the demonstration's people saved.
    """

    projects: Sequence[str]
    reviews: Sequence[ReviewListItem]
    commits: int
    documents: int
    memories: int
    waiting: ReviewBody


def counted_up(scene: Scene, *, waiting: ReviewBody) -> Figures:
    """Read the figures."""
    owner = scene.cast.owner
    reviews = [
        review
        for project_id in scene.projects.values()
        for review in owner.items("/reviews", ReviewListItem, project_id=project_id)
    ]
    ours = {review.review_id for review in reviews}
    commits = sum(commit.review_id in ours for commit in owner.items("/org/commits", CommitBody))
    selections = [
        owner.get(f"/projects/{project_id}/org-selections", SelectionBody) for project_id in scene.projects.values()
    ]
    documents = {memory_id for selection in selections for memory_id in selection.resource_ids}
    return Figures(list(scene.projects), reviews, commits, len(documents), _saved_by(owner, scene.cast.names), waiting)


def _saved_by(owner: Remote, users: Collection[str]) -> int:
    """How many of the organization's memories are of these users."""
    page = owner.get("/admin/memories", MemoriesPage, limit=PAGE)
    number = sum(memory.created_by in users for memory in page.memories)
    while page.next_cursor is not None:
        page = owner.get("/admin/memories", MemoriesPage, limit=PAGE, cursor=page.next_cursor)
        number += sum(memory.created_by in users for memory in page.memories)
    return number


def summary(figures: Figures, seconds: float) -> str:
    """What stands now."""
    merged = sum(review.status == "merged" for review in figures.reviews)
    submissions = sum(len(review.submissions) for review in figures.reviews)
    return (
        f"\nTold in {seconds:.1f} s. {' and '.join(figures.projects)} read {counted(figures.documents, 'document')};"
        f" {counted(merged, 'Review')}, {counted(figures.commits, 'version')}, {counted(submissions, 'submission')}.\n"
        f"Agents saved {counted(figures.memories, 'memory', 'memories')}.\n"
    )


def again(name: str, running: RunningCanonry) -> str:
    """The command that serves the same data at the same address: `make NAME` where that is its default."""
    port = urlsplit(running.url).port
    if port == Settings.model_fields["port"].default and running.data.resolve() == DEFAULT_DATA.resolve():
        return f"make {name}"
    return command_line(name, "--port", str(port), data=running.data)


def next_steps(running: RunningCanonry, figures: Figures, *, served: bool) -> str:
    """Commands to paste into another terminal, from this folder; `served`: what they ask goes on serving."""
    data, review = from_here(running.data), figures.waiting
    read_token = f"$(cat {shlex.quote(str(data / 'owner.token'))})"
    opening = "Try it" if served else f"`{again('up', running)}` serves it; then"
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
        '  curl -sH "$AUTH" "$API/admin/memories/search?q=refund"    # what agents noted about it',
        "",
        f"Mira, Jonas and Wei have their tokens in {data / FOLDER}.",
    ]
    return "\n".join(lines)
