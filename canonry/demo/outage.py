"""A publication in whose middle servers are killed, shown as it goes."""

import signal

from canonry.demo.desk import ask_to_merge, commits_of
from canonry.demo.people import JONAS
from canonry.demo.scene import Scene
from canonry.embedded.processes import send
from canonry.failures import CommandFailed
from canonry.remote import Operation
from models.schemas.commits import MemoryBody
from models.schemas.reviews import MergeResult, ReviewBody

KILLED = ("temporal", "worker")
"""Those that carry a publication out; where Temporal is somebody else's, the worker alone."""
KILL = "kill -9"


def publish_through_an_outage(scene: Scene, review: ReviewBody) -> MergeResult:
    """Publish a Review, kill what carries it out as soon as the request is accepted, and see it end once.

    Raises:
        CommandFailed: it did not end in exactly one commit.
    """
    display, jonas = scene.display, scene.cast.jonas
    with display.step(JONAS, "asks to publish it") as step:
        operation = ask_to_merge(jonas, review)
        killed = _kill(scene)
        step.ends(f"asks to publish it: accepted as {operation.operation_id}")
    with display.step(KILL, f"ends {killed} at once") as step:
        seen = jonas.get(f"/operations/{operation.operation_id}", Operation)
        readable = sum(1 for _ in jonas.items("/org/memories", MemoryBody))
        step.ends(
            f"ends {killed}, without a warning, while the publication is {seen.status}",
            f"What is published can be read meanwhile: {readable} documents."
            if seen.status == "succeeded"
            else f"Half of a publication is never seen: the API answers, with {readable} documents.",
        )
    with display.step("Canonry", "starts them again and goes on with what it accepted") as step:
        result = jonas.outcome(seen, MergeResult)
        step.ends(f"went on by itself: {seen.status}, then succeeded")
    with display.step(JONAS, "does not trust it, and asks again") as step:
        again = jonas.outcome(ask_to_merge(jonas, review), MergeResult)
        commits = commits_of(jonas, result.review)
        if len(commits) != 1 or again.commit_id != result.commit_id:
            raise CommandFailed(f"{review.review_id} has {len(commits)} commits, and should have one.")
        step.ends(
            "asks again, as if the answer had been lost: same answer, and one commit, not two",
            f"Version {commits[0].version}, {result.applied_operation_count} documents, commit {commits[0].commit_id[:32]}…",
        )
    return result


def _kill(scene: Scene) -> str:
    """Kill them first, and only then find words."""
    victims = [(part.name, part.pid) for part in scene.parts if part.name in KILLED]
    for _, pid in victims:
        send(pid, signal.SIGKILL)
    return " and ".join(f"{name.replace('temporal', 'Temporal')} (process {pid})" for name, pid in victims)
