"""The demonstration as it happens, for somebody who sees Canonry for the first time.

On a terminal the current step moves at the bottom; elsewhere every step is printed when it is done. Lines have at most
100 columns.
"""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

WIDTH = 100
BAR_WIDTH = 24
NAME_WIDTH = 8
DONE, BEFORE = "✓", "·"


@dataclass
class Step:
    """What somebody does: a sentence, how far it is, and lines that explain what came of it."""

    who: str
    sentence: str
    done: int = 0
    total: int = 0
    details: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def advance(self, done: int, total: int) -> None:
        """How far it is; a total of 0 says that nobody knows."""
        self.done, self.total = done, total

    def ends(self, sentence: str, *details: str) -> None:
        """What came of it, read from the server."""
        self.sentence = sentence
        self.details += details

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.began


class Display:
    """Chapters of steps; lines of other threads may come in between.

    Args:
        console: where to.
        styles: colours by name.
        chapters: how many there will be, for the bar.
    """

    def __init__(self, console: Console, styles: Mapping[str, str], chapters: int) -> None:
        self._console = console
        self._styles = styles
        self._chapters = chapters
        self._chapter = 0
        self._step: Step | None = None
        self._held: deque[str] = deque()
        self._holds = False
        self._releasing = Lock()
        self._began = time.monotonic()
        self.is_telling = False

    @contextmanager
    def live(self) -> Iterator[None]:
        """Keep the current step and the bar at the bottom of a terminal until the block ends."""
        self._began, self.is_telling = time.monotonic(), True
        try:
            with ExitStack() as stack:
                if self._console.is_terminal:
                    live = Live(get_renderable=self._now, console=self._console, refresh_per_second=12, transient=True)
                    stack.enter_context(live)
                yield
        finally:
            self.is_telling = self._holds = False
            self._release()

    def chapter(self, title: str, explanation: str) -> None:
        """Begin a chapter: what will be seen, and why that matters."""
        self._chapter += 1
        self._print(Text())
        self._print(Text(f"{self._chapter}  {title}", style="bold"))
        self._print(Padding(Text(explanation, style="dim"), (0, 1, 0, 3)))

    @contextmanager
    def step(self, who: str, sentence: str, *, undisturbed: bool = False) -> Iterator[Step]:
        """Show what somebody does while the block runs; then what the block says came of it, and how long it took.

        Notes come in between, unless it is `undisturbed`: then they wait for the next step that is not.
        """
        self._step, self._holds = Step(who, sentence), undisturbed
        step = self._step
        self._release()
        try:
            yield step
        finally:
            self._step = None
        self._end(step, DONE, _duration(step.seconds))

    def tell(self, who: str, sentence: str, *details: str) -> None:
        """A fact that was read, and took no time."""
        self._end(Step(who, sentence, details=[*details]), DONE, "")

    def before(self, who: str, sentence: str, *details: str) -> None:
        """Something that an earlier run has done."""
        self._end(Step(who, sentence, details=[*details]), BEFORE, "before")

    def note(self, line: str) -> None:
        """A line of the servers' supervisor, from whatever thread."""
        self._held.append(line)
        self._release()

    def show(self, renderable: RenderableType) -> None:
        """Something of another shape."""
        self._print(renderable)

    def _release(self) -> None:
        with self._releasing:
            while self._held and not self._holds:
                line = self._held.popleft()
                self._print(_row("", Text("Canonry", style="dim"), Text(line, style="dim"), ""))

    def _end(self, step: Step, mark: str, duration: str) -> None:
        self._print(self._line(step, Text(mark, style="green" if mark == DONE else "dim"), duration))
        for detail in step.details:
            self._print(_row("", Text(), Text(detail, style="dim"), ""))

    def _now(self) -> RenderableType:
        """What moves at the bottom: the step, how far it is, and how much of the story is told.

        Always four lines: printing from two threads, `rich` finds the lines to replace by their number alone.
        """
        told = Table.grid(padding=(0, 1))
        seconds = time.monotonic() - self._began
        chapters = Text(f"{self._chapter} of {self._chapters}   {seconds:.0f} s", style="dim", no_wrap=True)
        told.add_row("  ", ProgressBar(total=self._chapters, completed=self._chapter, width=BAR_WIDTH), chapters)
        step = self._step
        if step is None:
            return Group(Text(), Text(), Text(), told)
        line = self._line(step, Spinner("dots", style="cyan"), f"{step.seconds:.1f} s", one_line=True)
        return Group(line, _how_far(step), Text(), told)

    def _line(self, step: Step, mark: RenderableType, duration: str, *, one_line: bool = False) -> Table:
        who = Text(step.who, style=self._styles.get(step.who, "dim"))
        sentence = Text(step.sentence, no_wrap=one_line, overflow="ellipsis")
        return _row(mark, who, sentence, duration)

    def _print(self, renderable: RenderableType) -> None:
        if self._console.is_terminal:
            self._console.print(renderable)
            return
        with self._console.capture() as captured:
            self._console.print(renderable)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)


def a_console() -> Console:
    """Standard output, at most 100 columns wide."""
    console = Console(highlight=False)
    console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    return console


def _row(mark: RenderableType, who: Text, sentence: Text, duration: str) -> Table:
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(width=1)
    row.add_column(width=1)
    row.add_column(width=NAME_WIDTH)
    row.add_column(ratio=1)
    row.add_column(width=7, justify="right", style="cyan", no_wrap=True)
    row.add_row("", mark, who, sentence, duration)
    return row


def _how_far(step: Step) -> RenderableType:
    if not step.total:
        return Text()
    row = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=step.total, completed=step.done, width=BAR_WIDTH)
    row.add_row(" " * (NAME_WIDTH + 3), bar, Text(f"{step.done} of {step.total}", no_wrap=True))
    return row


def _duration(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
