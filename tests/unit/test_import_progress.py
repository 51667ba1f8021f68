"""How `canonry import` tells its progress."""

import io

from rich.console import Console

from canonry.importing.progress import ProgressLine


def test_a_log_gets_a_line_for_each_step_and_for_its_end() -> None:
    log = io.StringIO()
    progress = ProgressLine(Console(file=log))

    with progress.shown():
        progress.tell("Reading files", 1, 0)
        for done in range(4):
            progress.tell("Sending files", done, 3)

    assert log.getvalue().splitlines() == ["Reading files …", "Sending files: 0 of 3", "Sending files: 3 of 3"]


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
