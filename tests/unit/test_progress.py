"""How a command tells its progress."""

import io

import pytest
from rich.console import Console

from canonry.progress import ProgressLine


def test_a_log_gets_a_line_for_each_step_whose_end_is_known_and_for_its_end() -> None:
    log = io.StringIO()
    progress = ProgressLine(Console(file=log))

    with progress.shown():
        progress.tell("Reading files", 1, 0)
        for done in range(4):
            progress.tell("Sending files", done, 3)

    assert log.getvalue().splitlines() == ["Sending files: 0 of 3", "Sending files: 3 of 3"]


def test_a_log_hears_of_a_step_without_a_known_end_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("canonry.progress.QUIET_S", 0.0)
    log = io.StringIO()
    progress = ProgressLine(Console(file=log))

    progress.tell("Reading files", 1, 0)
    progress.tell("Reading files", 2_000, 0)

    assert log.getvalue() == "Reading files: 2,000 …\n"


def test_a_terminal_has_one_line_that_moves_and_goes() -> None:
    screen = io.StringIO()
    progress = ProgressLine(Console(file=screen, force_terminal=True, width=80))

    with progress.shown():
        progress.tell("Sending [files]", 2, 3)
        progress.say("The server is away.")

    shown = screen.getvalue()
    assert "Sending [files]" in shown
    assert "2/3" in shown
    assert "The server is away.\n" in shown
    assert shown.endswith("\x1b[2K")  # the line is wiped
