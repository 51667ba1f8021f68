"""What a command writes, where it cannot be written; each as a process of its own with such streams."""

import subprocess
from pathlib import Path

import pytest

from canonry.embedded.ports import free_port
from tests.up import a_command, an_environment


def told(redirection: str, *words: str, **variables: str) -> tuple[int, str]:
    """How `canonry WORDS` ends, and what it says on standard error."""
    command = ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *a_command(*words)]
    environment = an_environment(CANONRY_PORT=str(free_port()), **variables)
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, env=environment)
    return done.returncode, done.stderr.decode(errors="replace")


@pytest.mark.parametrize(
    ("redirection", "reason"), [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")]
)
def test_output_that_cannot_be_written_is_one_sentence(redirection: str, reason: str, tmp_path: Path) -> None:
    assert told(redirection, "doctor", "--data", str(tmp_path / "none")) == (
        1,
        f"canonry: The output cannot be written: {reason}.\n",
    )


@pytest.mark.parametrize("redirection", ["2>&- <&-", "2> /dev/full"])
def test_without_the_other_streams_a_command_works(redirection: str, tmp_path: Path) -> None:
    assert told(redirection, "doctor", "--data", str(tmp_path / "none")) == (0, "")


def test_letters_that_the_encoding_does_not_have_are_escaped(tmp_path: Path) -> None:
    folder = tmp_path / "a folder with ä and \u4e2d"
    assert told("", "doctor", "--data", str(folder), PYTHONIOENCODING="latin-1:strict") == (0, "")
    code, errors = told("", "token", "list", "--data", str(folder), PYTHONIOENCODING="ascii")
    assert (code, "\\u4e2d" in errors, "Traceback" in errors) == (1, True, False)
