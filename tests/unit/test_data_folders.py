"""Which folders commands keep everything in, and which they leave alone."""

import socket
from pathlib import Path

import pytest

from canonry.data_folders import require_ours
from canonry.embedded.ports import free_port
from tests.import_command import a_folder
from tests.terminal import ran


@pytest.mark.parametrize("words", [("import", "notes", "--dry-run"), ("export", "snapshot"), ("verify",)])
def test_what_only_reads_makes_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    a_folder(tmp_path / "notes", {"a.md": "# A\n"})
    monkeypatch.chdir(tmp_path)

    done = ran(*words, "--data", "my data")

    assert (done.code, done.output) == (1, "")
    assert f"There is no Canonry in {tmp_path / 'my data'}; `" in done.errors
    assert " up --data 'my data'` makes one." in done.errors
    assert [each.name for each in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("words", [("up", "--exit"), ("demo", "--exit"), ("import", "notes")])
def test_a_folder_with_files_of_somebody_else_is_refused_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    a_folder(tmp_path / "notes", {"a.md": "# A\n"})
    monkeypatch.chdir(tmp_path)

    done = ran(*words, "--data", "notes")

    assert done.code == 1
    assert f"{tmp_path / 'notes'} holds other files (a.md) and no Canonry" in done.errors
    assert [each.name for each in (tmp_path / "notes").iterdir()] == ["a.md"]


@pytest.mark.parametrize("names", [[], [".gitkeep"], ["lost+found"], ["owner.token", "notes.txt"], ["postgres"]])
def test_a_folder_that_is_new_or_ours_is_taken(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()

    require_ours(tmp_path)


def test_a_port_that_is_taken_leaves_no_new_folder_behind(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        done = ran("up", "--exit", "--data", str(tmp_path / "data"), "--port", str(port))

    assert done.code == 1
    assert f"Port {port}" in done.errors
    assert list(tmp_path.iterdir()) == []
