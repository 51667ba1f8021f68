"""What the documentation names exists: files, headings, commands, options, settings."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonry.cli import _parser
from models.settings import CLIENT_VARIABLES, VARIABLES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = r"(?:make|canonry) [a-z-][^`\n]*"
IN_A_BLOCK = re.compile(rf"^(?:\$ )?(?:\S+/)?({COMMAND})$", re.MULTILINE)
IN_A_SPAN = re.compile(rf"`({COMMAND})`")
END_OF_COMMAND = re.compile(r"[;&|<>#$(]")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert [link for link in _links(page) if not _leads_somewhere(page, link)] == []


@each_page
def test_every_make_target_and_every_canonry_command_exists(page: Path) -> None:
    assert [command for command in _commands(page) if not _exists(command)] == []


@each_page
def test_every_setting_exists(page: Path) -> None:
    settings = VARIABLES.keys() | CLIENT_VARIABLES
    compose = set(re.findall(r"\$\{(CANONRY_\w+)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    named = set(re.findall(r"CANONRY_[A-Z_]*[A-Z]", page.read_text(encoding="utf-8")))
    assert named - settings - compose == set()


def test_the_readme_begins_with_the_two_commands() -> None:
    commands = list(_commands(ROOT / "README.md"))
    assert [command.split(" #")[0].strip() for command in commands[:2]] == ["make demo", "make test"]


@pytest.mark.parametrize(
    "command",
    ["make nothing", "canonry nothing", "canonry up --nothing", "canonry token nothing", "canonry api --exit"],
)
def test_a_command_that_does_not_exist_is_noticed(command: str) -> None:
    assert not _exists(command)


def test_a_link_that_leads_nowhere_is_noticed() -> None:
    readme = ROOT / "README.md"
    assert not _leads_somewhere(readme, "docs/nothing.md")
    assert not _leads_somewhere(readme, "CONTRIBUTING.md#nothing")


def test_the_continuous_integration_runs_the_readme_s_test_command() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def _links(page: Path) -> Iterator[str]:
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return (link for link in LINK.findall(prose) if "://" not in link)


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not heading or heading in _headings(target))


def _headings(page: Path) -> set[str]:
    """The anchors of a page as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _commands(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        yield from IN_A_BLOCK.findall(block)
    yield from IN_A_SPAN.findall(BLOCK.sub("", text))


def _exists(command: str) -> bool:
    program, *words = shlex.split(END_OF_COMMAND.split(command)[0])
    return _is_target(words) if program == "make" else _is_subcommand(_parser(), words)


def _is_target(words: list[str]) -> bool:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    return {word for word in words if "=" not in word} <= targets


def _is_subcommand(parser: argparse.ArgumentParser, words: list[str]) -> bool:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and words:
            found = action.choices.get(words[0])
            return found is not None and _is_subcommand(found, words[1:])
    options = {word.split("=")[0] for word in words if word.startswith("--")}
    return options <= set(parser._option_string_actions)
