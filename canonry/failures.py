"""What may go wrong on the way up, as sentences for a terminal."""


class CommandFailed(Exception):  # noqa: N818  (it is what happened, as in models.errors)
    """An expected failure: its text is the one sentence the terminal gets, and the exit code is 1."""


class StartFailed(CommandFailed):
    """A part did not start; the text quotes the end of its log."""
