"""How far a command is: one line that moves on a terminal, a line now and then in a log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

QUIET_S = 5.0
"""A log gets a line for every step whose end is known, and for a long step as often as this."""


class ProgressLine:
    """Tells a person what is being done, on standard error; safe to use from several threads.

    Args:
        console: where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._step = ""
        self._told_at = 0.0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Keep a line on the terminal until the block ends; a log needs none."""
        if not self._console.is_terminal:
            yield
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=30))
        counted = (MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, *counted, console=self._console, transient=True) as bar:
            self._bar, self._task = bar, bar.add_task("Starting", total=None)
            yield
            self._bar = None

    def say(self, line: str) -> None:
        """A line that stays."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def tell(self, step: str, done: int, total: int) -> None:
        """How far the step is; a total of 0 says that nobody knows."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=step, completed=done, total=total or None)
            return
        now, is_new = time.monotonic(), step != self._step
        if is_new or now - self._told_at >= QUIET_S or (total and done == total):
            self._step, self._told_at = step, now
            if is_new and not total:  # of what nobody knows the end of, a log hears when it takes long
                return
            self.say(f"{step}: {done:,} of {total:,}" if total else f"{step}: {done:,} …")
