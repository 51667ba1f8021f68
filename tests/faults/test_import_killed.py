"""An import ends complete, and nothing of it happens twice, whatever is killed while it runs."""

import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from canonry.supervisor import Part
from models.identifiers import OrganizationId
from tests.client import Client, Organization
from tests.import_command import a_folder, import_environment, import_words
from tests.installation import Installation, an_installation, until
from tests.invariants import check_invariants
from tests.mixed.random_kills import a_seed
from tests.proposals import a_place, all_items

FILES = 150
ENDS_WITHIN_S = 150
LONGEST_ABSENCE_S = 0.5
COMMAND = "command"


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as running:
        yield running


@dataclass
class Importing:
    """A folder that is rewritten and imported again and again, and what is known of it."""

    installation: Installation
    organization: Organization
    folder: Path
    chance: random.Random
    usual_s: float = 0.0
    rounds: int = 0
    kills: list[str] = field(default_factory=list)

    @property
    def owner(self) -> Client:
        return self.organization.owner

    def undisturbed(self) -> None:
        """Import once, to know how long it takes."""
        self.rewrite()
        began = time.monotonic()
        with self.command() as child:
            self.require_success(child)
        self.usual_s = time.monotonic() - began
        self.require_complete()

    def through_kills_of_the_command(self, times: int) -> None:
        """Kill the command at random moments, and run it again each time."""
        self.rewrite()
        for _ in range(times):
            with self.command() as child:
                self.pause(self.usual_s)
                self.note(COMMAND, child)
                child.kill()
        with self.command() as child:
            self.require_success(child)
        self.require_complete()

    def through_kills_of(self, parts: Sequence[Part]) -> None:
        """Kill servers at random moments while one command runs; each comes back soon after."""
        self.rewrite()
        with self.command() as child:
            for part in parts:
                self.pause(self.usual_s / len(parts))
                self.note(part.name, child)
                self.installation.kill(part)
                self.pause(LONGEST_ABSENCE_S)
                part.restart()
            self.require_success(child)
        self.require_complete()
        assert any(kill.endswith(f"in round {self.rounds}") for kill in self.kills), "nothing was hit"

    def rewrite(self) -> None:
        """Every file anew: one more, one fewer, one at another path, all others with another text."""
        self.rounds += 1
        for file in self.folder.rglob("*.md"):
            file.unlink()
        texts = {f"part-{number % 7}/{number:04}.md": self.text(number) for number in self.numbers}
        a_folder(self.folder, texts)

    @property
    def numbers(self) -> range:
        return range(self.rounds, self.rounds + FILES)

    def text(self, number: int) -> str:
        return f"# Note {number}\n\nAs of round {self.rounds}.\n" + f"line of {number}\n" * 50

    @contextmanager
    def command(self) -> Iterator[subprocess.Popen[str]]:
        child = subprocess.Popen(
            import_words(self.folder, "--mirror", "--approve", "--merge"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=import_environment(self.owner),
        )
        try:
            yield child
        finally:
            child.kill()
            child.communicate()

    def pause(self, longest_s: float) -> None:
        time.sleep(self.chance.uniform(0.0, longest_s))

    def note(self, name: str, child: subprocess.Popen[str]) -> None:
        self.kills.append(f"{name} in round {self.rounds}{'' if child.poll() is None else ', after the end'}")

    def require_success(self, child: subprocess.Popen[str]) -> None:
        output, errors = child.communicate(timeout=ENDS_WITHIN_S)
        assert child.returncode == 0, (self.kills, output, errors)
        assert "Traceback" not in errors, (self.kills, errors)

    def require_complete(self) -> None:
        """What is published is the folder; every round is one commit of one merged Review; no Draft lies about."""
        until(self.installation.is_ready)  # the command may have ended before the last server was back
        published = all_items(self.owner, "/org/memories", limit=200)
        found = {str(memory["path"]): memory["description"] for memory in published}
        expected = {f"part-{number % 7}/{number:04}.md": f"Note {number}" for number in self.numbers}
        assert found == expected, self.kills
        statuses = [review["status"] for review in all_items(self.owner, "/reviews", limit=200)]
        assert statuses == ["merged"] * self.rounds, self.kills
        assert len(all_items(self.owner, "/org/commits", limit=200)) == self.rounds, self.kills
        drafts = {draft["status"] for draft in all_items(self.owner, "/drafts", limit=200)}
        assert "open" not in drafts, self.kills
        check_invariants(self.installation.engine, OrganizationId(self.organization.organization_id))


def an_importing(installation: Installation, folder: Path, seed: int) -> Importing:
    organization, _ = a_place(installation.client)
    importing = Importing(installation, organization, folder, random.Random(seed))  # noqa: S311  (to be repeated)
    importing.undisturbed()
    return importing


def test_the_importing_command_killed_again_and_again_ends_complete_and_nothing_twice(
    installation: Installation, tmp_path: Path
) -> None:
    importing = an_importing(installation, tmp_path / "notes", a_seed())

    importing.through_kills_of_the_command(4)


def test_every_server_killed_during_an_import_ends_complete_and_nothing_twice(
    installation: Installation, tmp_path: Path
) -> None:
    importing = an_importing(installation, tmp_path / "notes", a_seed())
    parts = importing.chance.sample([*installation.parts.values()], len(installation.parts))

    importing.through_kills_of(parts)


@pytest.mark.long
@pytest.mark.timeout(1_500)
def test_40_imports_through_kills_of_everything_end_complete_and_nothing_twice(
    installation: Installation, tmp_path: Path
) -> None:
    importing = an_importing(installation, tmp_path / "notes", a_seed())

    for _ in range(20):
        importing.through_kills_of_the_command(importing.chance.randint(1, 4))
        importing.through_kills_of(importing.chance.sample([*installation.parts.values()], 2))
    print(*importing.kills, sep="\n")  # noqa: T201
