"""`canonry demo`: start everything, tell how knowledge is published, and go on serving."""

import time
from contextlib import ExitStack, suppress

from canonry.demo.display import Display, a_console
from canonry.demo.ending import again, next_steps, summary
from canonry.demo.people import COLOURS
from canonry.demo.story import CHAPTERS, tell
from canonry.remote import Remote
from canonry.servers import owner_token
from canonry.signals import Stopped
from canonry.stack import started
from canonry.up import describe, opening, report
from models.settings import Settings


def run(settings: Settings, *, leave: bool) -> None:
    """Start the stack, tell the story, show what came of it; with `leave`, stop then.

    Raises:
        CommandFailed: it does not start, or a step is refused.
        Stopped: a stop signal before the story ended; everything is stopped first.
    """
    console = a_console()
    display = Display(console, COLOURS, CHAPTERS)

    def told(line: str) -> None:
        (display.note if display.is_telling else report)(line)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    say(opening(settings))
    with started(settings, told) as running, ExitStack() as stack:
        owner = Remote(running.url, owner_token(running.data), told)
        stack.callback(owner.close)
        began = time.monotonic()
        with display.live():
            figures = tell(owner, running, display)
        say(summary(figures, time.monotonic() - began))
        say(describe(running))
        say(next_steps(running, figures, served=not leave))
        if not leave:
            with suppress(Stopped):
                repeat, serve = again("demo", running), again("up", running)
                say(f"\nCtrl-C stops it; `{repeat}` shows it again, `{serve}` only serves.")
                running.wait()
