"""A publication in whose middle servers are killed, shown as it goes."""

import signal

from canonry.demo.desk import ask_to_merge, commits_of
from canonry.demo.people import JONAS
from canonry.demo.scene import Scene
from canonry.embedded.processes import send
from canonry.failures import CommandFailed
from models.schemas.commits import MemoryBody
from models.schemas.operations import OperationView
from models.schemas.reviews import MergeResult, ReviewBody

NAMES = {"temporal": "Temporal", "worker": "the worker"}
"""Those that carry a publication out; where Temporal is somebody else's, the worker alone."""
KILL = "kill -9"


def publish_through_an_outage(scene: Scene, review: ReviewBody) -> MergeResult:
    """Publish a Review, kill what carries it out as soon as the request is accepted, and see it end once.

    Raises:
        CommandFailed: it did not end in exactly one commit.
    """
    display, jonas = scene.display, scene.cast.jonas
    proposed = {memory.path for memory in review.mergeability.creates}
    with display.step(JONAS, "asks to publish it", undisturbed=True) as step:
        operation = ask_to_merge(jonas, review)
        killed = _kill(scene)
        step.ends(f"asks to publish it: accepted as {operation.operation_id}")
    with display.step(KILL, killed, undisturbed=True) as step:
        seen = jonas.get(f"/operations/{operation.operation_id}", OperationView)
        published = {memory.path for memory in jonas.items("/org/memories", MemoryBody)}
        step.ends(
            killed,
            f"The API says: the publication is {seen.status},"
            f" {len(proposed & published)} of its {len(proposed)} documents can be read.",
        )
    with display.step("Canonry", "starts again what died, and goes on with what was accepted") as step:
        result = jonas.outcome(seen, MergeResult)
        step.ends("has started again what died, and the publication has gone on by itself")
    with display.step(JONAS, "asks again, as if the answer had been lost") as step:
        again = jonas.outcome(ask_to_merge(jonas, review), MergeResult)
        commits = commits_of(jonas, result.review)
        if len(commits) != 1 or again.commit_id != result.commit_id:
            raise CommandFailed(f"{review.review_id} has {len(commits)} commits, and should have one.")
        step.ends(
            "asks again, as if the answer had been lost: the same answer",
            f"Published once: {scene.publication(result)}",
        )
    return result


def _kill(scene: Scene) -> str:
    """Kill them first, and only then find words."""
    victims = [(part.name, part.pid) for part in scene.parts if part.name in NAMES]
    for _, pid in victims:
        send(pid, signal.SIGKILL)
    named = " and ".join(f"{NAMES[name]} (process {pid})" for name, pid in victims)
    return f"{named} {'is' if len(victims) == 1 else 'are'} gone"
