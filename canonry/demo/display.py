"""The demonstration as it happens: one line a step, alive on a terminal, plain in a log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table


@dataclass
class Step:
    """One step: what it does, what came of it, how long it took."""

    title: str
    outcome: str = ""
    seconds: float | None = None
    began: float = field(default_factory=time.monotonic)


class Display:
    """A table of steps that fills itself while the pipeline runs."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.steps: list[Step] = []
        self._live: Live | None = None

    @contextmanager
    def live(self) -> Iterator[None]:
        """Show the table until the block ends; on a pipe, print each step when it is done."""
        if not self.console.is_terminal:
            yield
            return
        with Live(self._table(), console=self.console, refresh_per_second=12) as live:
            self._live = live
            yield
            self._live = None
            live.update(self._table())

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Time a step; the block writes its `outcome`."""
        current = Step(title)
        self.steps.append(current)
        self._refresh()
        yield current
        current.seconds = time.monotonic() - current.began
        self._refresh()
        if self._live is None:
            line = f"  ✓ {current.title}  {current.outcome}  {milliseconds(current)}"
            self.console.print(line, highlight=False, soft_wrap=True)

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._table())

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for step in self.steps:
            mark = Spinner("dots") if step.seconds is None else "[green]✓[/green]"
            table.add_row(mark, step.title, f"[dim]{step.outcome}[/dim]", f"[cyan]{milliseconds(step)}[/cyan]")
        return table


def milliseconds(step: Step) -> str:
    """How long a finished step took."""
    return "" if step.seconds is None else f"{step.seconds * 1_000:.0f} ms"
