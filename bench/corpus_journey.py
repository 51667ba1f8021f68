"""The corpus on its way through a whole Canonry, from one organization to another, timed phase by phase."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from bench.corpus_checks import require_corpus, snapshot
from bench.corpus_packages import SUFFIXES
from tests.client import Client, Json, Organization, a_person, a_project, an_organization, ok
from tests.import_command import import_environment
from tests.installation import Installation
from tests.mixed.importer import ImportCommand
from tests.mixed.killed_import import everything, import_through_kills
from tests.mixed.random_kills import RandomKills, a_seed
from tests.proposals import all_items, decide, listed, merge, select
from tests.up import a_command

LEFT_OUT = 3
"""What `canonry import` exits with when all is done but files were left out."""

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """An organization with a project that proposes and one that reads; `reviewer` decides."""

    organization: Organization
    project_id: str
    reader_id: str
    reviewer: Client


@dataclass(frozen=True)
class Phase:
    """What was done with how many files, and how long it took."""

    name: str
    files: int
    seconds: float


@dataclass
class Journey:
    """A corpus that is taken from its folder to one organization, and by its export to another.

    Args:
        installation: whose organizations they are.
        corpus: folder of Markdown files.
        scratch: an empty folder.
        kills: how often the importing command or a server is killed while the corpus is imported.
    """

    installation: Installation
    corpus: Path
    scratch: Path
    kills: int = 0
    killing: RandomKills | None = None
    phases: list[Phase] = field(default_factory=list)
    reports: Sequence[Json] = ()
    descriptions: int = 0

    def travel(self) -> Place:
        """Take the corpus all the way, and assert that it stays what it is; the first organization."""
        first, second = (_a_place(self.installation.client) for _ in range(2))
        self.reports = self._arrive("", first, self.corpus, kills=self.kills)
        held = snapshot(first.reviewer, "org")
        left_out = [str(report["path"]) for report in self.reports]
        self.descriptions = require_corpus(self.corpus, left_out, held)
        self._nothing_to_do("import --mirror again", first, self.corpus)
        self._command("export", len(held.documents), first, "export", self.exported, "--project", first.reader_id)
        assert self._arrive(" the export elsewhere", second, self.exported) == []
        assert snapshot(second.reviewer, "org") == held
        assert _read_by(second) == _read_by(first)
        self._nothing_to_do("import the export --mirror again", second, self.exported)
        return first

    @property
    def exported(self) -> Path:
        """Where the export is."""
        return self.scratch / "exported"

    def seconds(self, *names: str) -> float:
        """How long these phases took together."""
        return sum(phase.seconds for phase in self.phases if phase.name in names)

    def _arrive(self, which: str, place: Place, folder: Path, *, kills: int = 0) -> Sequence[Json]:
        """Import a folder, approve, merge and select it; the reports on what was left out."""
        files, owner, reviewer = count_files(folder), place.organization.owner, place.reviewer
        words = ("import", folder, "--project", place.project_id)
        if kills:
            self._timed(f"import{which}", files, lambda: self._import_through_kills(place, kills))
        else:
            self._command(f"import{which}", files, place, *words)
        (done,) = _imports_with_a_review(owner)
        reports = listed(done, "reports")
        review = ok(reviewer.get(f"/reviews/{done['review_id']}"))
        imported = files - len(reports)
        review = self._timed(f"approve{which}", imported, lambda: ok(decide(reviewer, review, "approved")))
        self._timed(f"merge{which}", imported, lambda: ok(merge(reviewer, review)))
        ids = [str(memory["memory_id"]) for memory in all_items(reviewer, "/org/memories", limit=100)]
        assert len(ids) == imported
        self._timed(f"select{which}", imported, lambda: ok(select(reviewer, place.reader_id, ids)))
        return reports

    def _import_through_kills(self, place: Place, kills: int) -> None:
        command = ImportCommand(self.corpus, place.organization.owner, self.scratch / "import.log")
        self.killing = import_through_kills(
            command,
            ("--project", place.project_id),
            everything(self.installation, command),
            kills=kills,
            chance=random.Random(a_seed()),  # noqa: S311  (not secret)
            codes=(0, LEFT_OUT),
        )

    def _nothing_to_do(self, name: str, place: Place, folder: Path) -> None:
        """Import what is there already, and assert that this proposes nothing."""
        before = all_items(place.reviewer, "/reviews", limit=100)
        words = ("import", folder, "--project", place.project_id, "--mirror")
        self._command(name, count_files(folder), place, *words)
        assert all_items(place.reviewer, "/reviews", limit=100) == before

    def _command(self, phase: str, files: int, place: Place, *words: str | Path) -> None:
        """Run `canonry` as the organization's owner; it may say that files were left out."""
        owner = place.organization.owner

        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(  # noqa: S603  (our own command)
                a_command(*map(str, words)),
                env=import_environment(owner),
                cwd=self.scratch,
                capture_output=True,
                text=True,
                check=False,
            )

        ran = self._timed(phase, files, run)
        if ran.returncode not in (0, LEFT_OUT):
            sys.exit(f"{phase} failed:\n{ran.stdout}{ran.stderr}")

    def _timed(self, phase: str, files: int, work: Callable[[], T]) -> T:
        begin = time.perf_counter()
        result = work()
        self.phases.append(Phase(phase, files, time.perf_counter() - begin))
        return result


def count_files(folder: Path) -> int:
    """How many Markdown files are below a folder."""
    return sum(file.suffix.lower() in SUFFIXES for file in folder.rglob("*"))


def _imports_with_a_review(owner: Client) -> Sequence[Json]:
    """Whole imports; one that was begun again and found nothing left to do is not among them."""
    made = [each for each in all_items(owner, "/imports", limit=100) if each["review_id"] is not None]
    return [ok(owner.get(f"/imports/{each['import_id']}")) for each in made]


def _a_place(api: Client) -> Place:
    organization = an_organization(api)
    project_id, reader_id = (a_project(organization.owner) for _ in range(2))
    return Place(organization, project_id, reader_id, a_person(organization, "admin").client)


def _read_by(place: Place) -> object:
    return snapshot(place.reviewer, f"projects/{place.reader_id}")
