"""`canonry up`: start everything, say where it is, serve until somebody stops it."""

import sys
from contextlib import suppress

from canonry.embedded.postgres import is_there
from canonry.signals import Stopped
from canonry.stack import RunningCanonry, started
from models.settings import Settings

MEGABYTE = 1_000_000


def run(settings: Settings, *, leave: bool) -> None:
    """Start the stack and serve; with `leave`, stop again once it is ready.

    Raises:
        CommandFailed: it does not start, or a part cannot be kept alive.
        Stopped: a stop signal before it was ready; everything is stopped first.
    """
    print(opening(settings), flush=True)
    with started(settings, report) as running:
        print(describe(running), flush=True)
        if not leave:
            with suppress(Stopped):
                print("\nCtrl-C stops it.", flush=True)
                running.wait()


def opening(settings: Settings) -> str:
    """What is about to start, and whether there is data that it goes on with.

    Raises:
        CommandFailed: the data folder cannot be read.
    """
    reused = settings.database_url is None and is_there(settings.data)
    return f"Starting Canonry in {settings.data.resolve()}{', with the data that is there' if reused else ''} …"


def report(line: str) -> None:
    """One line for the person at the terminal."""
    with suppress(OSError):  # a closed terminal is no reason to stop serving
        print(line, file=sys.stderr, flush=True)


def describe(running: RunningCanonry) -> str:
    """Where things are, how long it took, and what it weighs."""
    kind = "cold" if running.first_start else "warm"
    token = str(running.owner_token)
    if running.new_secret is not None:
        token = f"{running.new_secret} (shown once; kept in {running.owner_token})"
    memory = running.memory()
    weights = ", ".join(f"{name} {size / MEGABYTE:.0f} MB" for name, size in memory.items())
    rows = [
        ("API", running.url),
        ("API docs", f"{running.url}/docs"),
        ("Temporal UI", running.temporal_ui_url or "of the Temporal that CANONRY_TEMPORAL_ADDRESS names"),
        ("Owner token", token),
        ("Logs", str(running.data / "logs")),
        ("Memory", f"{sum(memory.values()) / MEGABYTE:.0f} MB: {weights}"),
    ]
    lines = [f"Ready after {running.seconds_to_ready:.1f} s ({kind} start).", ""]
    return "\n".join(lines + [f"  {name:<12} {value}" for name, value in rows])
