"""Commands run in this process, with what a terminal would see of them."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from canonry.cli import main
from tests.up import an_environment


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote."""

    code: int
    output: str
    errors: str


def ran(*words: str, **variables: str) -> Ran:
    """Run `canonry WORDS` with no other setting than `variables`."""
    output, errors = io.StringIO(), io.StringIO()
    code = 0
    with (
        patch.dict(os.environ, an_environment(**variables), clear=True),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        try:
            main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):  # what the interpreter would write at its end
                errors.write(end.code)
    return Ran(code, output.getvalue(), errors.getvalue())
