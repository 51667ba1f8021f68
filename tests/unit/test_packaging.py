import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "workflows", "activities", "search", "models", "canonry")


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        return files.namelist()


@pytest.mark.parametrize("name", PACKAGES)
def test_no_other_distribution_installs_a_package_of_our_name(name: str) -> None:
    owners = {
        distribution.metadata["Name"]
        for distribution in importlib.metadata.distributions()
        for file in distribution.files or []
        if file.parts[0] == name
    }
    assert owners <= {"canonry"}


@pytest.mark.parametrize("name", PACKAGES)
def test_an_import_of_our_name_finds_our_folder(name: str) -> None:
    found = subprocess.run(
        [sys.executable, "-P", "-c", f"import {name}; print({name}.__file__)"],
        cwd="/",
        check=True,
        capture_output=True,
        text=True,
    )
    assert Path(found.stdout.strip()) == ROOT / name / "__init__.py"


def test_the_wheel_ships_our_packages_and_nothing_beside_them(wheel_files: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_files}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_wheel_ships_every_file_of_our_packages(wheel_files: list[str]) -> None:
    here = {
        str(path.relative_to(ROOT))
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert here == {name for name in wheel_files if name.split("/")[0] in PACKAGES}


def test_the_wheel_can_migrate_and_demonstrate(wheel_files: list[str]) -> None:
    assert [name for name in wheel_files if name.startswith("models/migrations/versions/0001_")]
    assert "models/migrations/script.py.mako" in wheel_files
    assert [name for name in wheel_files if name.startswith("canonry/demo/documents/") and name.endswith(".md")]


def test_the_wheel_says_that_its_packages_are_typed(wheel_files: list[str]) -> None:
    assert {f"{name}/py.typed" for name in PACKAGES} <= set(wheel_files)


def test_the_installed_command_is_ours() -> None:
    (command,) = importlib.metadata.entry_points(group="console_scripts", name="canonry")
    assert command.value == "canonry.cli:main"
