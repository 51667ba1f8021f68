"""An import ends complete, and nothing of it happens twice, whatever is killed while it runs."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from models.identifiers import OrganizationId
from tests.client import Client, Organization
from tests.import_command import a_folder
from tests.installation import Installation, an_installation, until
from tests.invariants import check_invariants
from tests.mixed.importer import ImportCommand
from tests.mixed.killed_import import everything, import_through_kills
from tests.mixed.random_kills import Victim, a_seed
from tests.proposals import a_place, all_items

FILES = 150
WORDS = ("--mirror", "--approve", "--merge")


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as running:
        yield running


@dataclass
class Importing:
    """A folder that is rewritten and imported again and again, and what is known of it."""

    installation: Installation
    organization: Organization
    command: ImportCommand
    rounds: int = 0

    @property
    def owner(self) -> Client:
        return self.organization.owner

    @property
    def numbers(self) -> range:
        return range(self.rounds, self.rounds + FILES)

    def through_kills(self, victims: Mapping[str, Victim], *, kills: int, chance: random.Random) -> None:
        """Rewrite the folder and import it; it is what is published then, and the kills hit the import."""
        self.rewrite()
        killing = import_through_kills(self.command, WORDS, victims, kills=kills, chance=chance)
        assert kills == 0 or any(kill.in_flight for kill in killing.kills), killing.table()
        self.require_complete()

    def rewrite(self) -> None:
        """Every file anew: one more, one fewer, one at another path, all others with another text."""
        self.rounds += 1
        for file in self.command.folder.rglob("*.md"):
            file.unlink()
        texts = {f"part-{number % 7}/{number:04}.md": self.text(number) for number in self.numbers}
        a_folder(self.command.folder, texts)

    def text(self, number: int) -> str:
        return f"# Note {number}\n\nAs of round {self.rounds}.\n" + f"line of {number}\n" * 50

    def require_complete(self) -> None:
        """What is published is the folder; every round is one commit of one merged Review; no Draft lies about."""
        until(self.installation.is_ready)  # the command may have ended before the last server was back
        assert "Traceback" not in self.command.log.read_text()
        published = all_items(self.owner, "/org/memories", limit=200)
        found = {str(memory["path"]): memory["description"] for memory in published}
        assert found == {f"part-{number % 7}/{number:04}.md": f"Note {number}" for number in self.numbers}
        statuses = [review["status"] for review in all_items(self.owner, "/reviews", limit=200)]
        assert statuses == ["merged"] * self.rounds
        assert len(all_items(self.owner, "/org/commits", limit=200)) == self.rounds
        assert "open" not in {draft["status"] for draft in all_items(self.owner, "/drafts", limit=200)}
        check_invariants(self.installation.engine, OrganizationId(self.organization.organization_id))


@pytest.fixture
def importing(installation: Installation, tmp_path: Path) -> Importing:
    organization, _ = a_place(installation.client)
    folder = a_folder(tmp_path / "notes", {})
    return Importing(installation, organization, ImportCommand(folder, organization.owner, tmp_path / "import.log"))


def test_an_import_whose_command_is_killed_again_and_again_ends_complete_and_nothing_twice(
    importing: Importing,
) -> None:
    chance = random.Random(a_seed())  # noqa: S311  (to be repeated)
    importing.through_kills({"import": importing.command}, kills=4, chance=chance)


def test_an_import_through_kills_of_everything_ends_complete_and_nothing_twice(importing: Importing) -> None:
    chance = random.Random(a_seed())  # noqa: S311  (to be repeated)
    victims = everything(importing.installation, importing.command)
    importing.through_kills(victims, kills=0, chance=chance)
    importing.through_kills(victims, kills=len(victims), chance=chance)
