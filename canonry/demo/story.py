"""What the demonstration tells, chapter by chapter, through the public API alone.

Each chapter looks at what there is and goes on from there: run again it tells what stands, killed anywhere it
continues.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from canonry.demo.agents import take_a_turn
from canonry.demo.display import Display
from canonry.demo.ending import Figures, counted_up
from canonry.demo.library import import_the_library, publish_the_library, share_a_document
from canonry.demo.people import OWNER, PLATFORM, describe, the_cast, the_projects
from canonry.demo.reading import compare_what_is_read
from canonry.demo.reviewing import ask_and_answer, leave_open, move_in_both_projects, reject_and_improve
from canonry.demo.scene import Scene
from canonry.demo.script import LIBRARY_TITLE
from canonry.remote import Remote
from canonry.stack import RunningCanonry

CHAPTERS = 10


def tell(owner: Remote, running: RunningCanonry, display: Display) -> Figures:
    """Show what can happen to an organization's knowledge; what it comes to, counted by the server."""
    with _introduced(owner, running, display) as scene:
        review = import_the_library(scene)
        publish_the_library(scene, review)
        share_a_document(scene)
        ask_and_answer(scene)
        reject_and_improve(scene)
        move_in_both_projects(scene)
        compare_what_is_read(scene)
        take_a_turn(scene)
        waiting = leave_open(scene)
        return counted_up(scene, waiting=waiting)


@contextmanager
def _introduced(owner: Remote, running: RunningCanonry, display: Display) -> Iterator[Scene]:
    """The people and projects, new or not."""
    display.chapter(
        "Three people, each with a token of their own",
        "Eleven engineers look after four hundred parcel cabinets. What a token may do follows from its "
        "person's role. All of what follows goes through the public API; every figure is read from there.",
    )
    with ExitStack() as stack:
        with display.step(OWNER, "makes two projects, and invites three people") as step:
            projects = the_projects(owner)
            cast = stack.enter_context(the_cast(owner, projects, running.data, display.note))
            step.ends(f"has the projects {' and '.join(projects)}, and has invited {len(cast.names)} people")
        for name, remote in cast.guests.items():
            display.tell(name, describe(remote))
        scene = Scene(cast, projects, display, running.parts)
        if scene.find(PLATFORM, LIBRARY_TITLE) is not None:
            display.note("An earlier run was here. What it did stands, is marked ·, and is not done again.")
        yield scene
