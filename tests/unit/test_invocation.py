"""Command lines to paste: named as the command was called, and quoted for a shell."""

import sys
from pathlib import Path

import pytest

from canonry.invocation import command_line


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def called_as(monkeypatch: pytest.MonkeyPatch, command: Path | str) -> None:
    monkeypatch.setattr(sys, "argv", [str(command)])


def test_a_command_of_a_folder_below_is_named_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    called_as(monkeypatch, ".venv/bin/canonry")

    assert command_line("verify") == ".venv/bin/canonry verify"


def test_a_command_that_the_shell_finds_is_named_by_its_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = here / "bin" / "canonry"
    command.parent.mkdir()
    command.touch(0o755)
    called_as(monkeypatch, command)

    assert command_line("verify") == "canonry verify"


def test_a_module_is_run_by_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    called_as(monkeypatch, "/somewhere/canonry/__main__.py")

    assert command_line("verify").endswith(" -m canonry verify")


@pytest.mark.parametrize(
    ("folder", "option"), [(".canonry", ""), ("other", " --data other"), ("my data", " --data 'my data'")]
)
def test_another_data_folder_is_named_and_quoted(
    here: Path, monkeypatch: pytest.MonkeyPatch, folder: str, option: str
) -> None:
    called_as(monkeypatch, ".venv/bin/canonry")

    assert command_line("up", data=here / folder) == f".venv/bin/canonry up{option}"
