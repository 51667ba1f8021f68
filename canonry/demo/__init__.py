"""`canonry demo`: start everything, publish the example knowledge base, and go on serving."""

import time

from rich.console import Console

from canonry.demo.client import Api
from canonry.demo.display import Display
from canonry.demo.story import Published, tell
from canonry.stack import RunningCanonry, started
from canonry.up import describe, report
from models.settings import Settings


def run(settings: Settings, *, leave: bool) -> None:
    """Start the stack, tell the story, show what came of it; with `leave`, stop then.

    Raises:
        CommandFailed: it does not start, or a step is refused.
    """
    console = Console()
    console.print(f"Starting Canonry in {settings.data.resolve()} …", highlight=False)
    with started(settings, report) as running:
        console.print(f"Everything is up after {running.seconds_to_ready:.1f} s.\n", highlight=False)
        display = Display(console)
        began = time.monotonic()
        owner = Api(running.url, _owner_secret(running))
        with display.live():
            published = tell(owner, running.url, display)
        owner.close()
        console.print(_summary(published, time.monotonic() - began), highlight=False, soft_wrap=True)
        console.print(describe(running), highlight=False, soft_wrap=True)
        if not leave:
            console.print("\nCtrl-C stops it.")
            running.wait()


def _owner_secret(running: RunningCanonry) -> str:
    return running.new_secret or running.owner_token.read_text(encoding="utf-8").strip()


def _summary(published: Published, seconds: float) -> str:
    """The newest commits with their whole ids: what a client would pin, and can recompute."""
    lines = ["\nPublished before; this is what stands.\n" if published.before else f"\nPublished in {seconds:.1f} s.\n"]
    for name, commit in {"Organization": published.organization, **published.projects}.items():
        memories = f", {commit['memories']} Memories" if "memories" in commit else ""
        lines += [
            f"  {name}, version {commit['version']}{memories}",
            f"    commit {commit['commit_id']}",
            f"    tree   {commit['tree_id']}",
        ]
    return "\n".join([*lines, ""])
