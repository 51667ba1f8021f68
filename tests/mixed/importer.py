"""Somebody who imports a folder by the command again and again, and runs it again whenever it is killed."""

import asyncio
import shutil
import signal
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from canonry.embedded.processes import spawn
from tests.client import Client, Json
from tests.import_command import import_environment
from tests.mixed.authors import Author
from tests.mixed.steps import Desk, numbers
from tests.proposals import listed
from tests.stack import a_reachable_folder
from tests.up import a_command


@dataclass
class ImportCommand:
    """`canonry import` of one folder, while it runs; it can be killed and is never brought back but by its user."""

    folder: Path
    client: Client
    log: Path
    child: subprocess.Popen[bytes] | None = None
    runs: int = 0

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        self.runs += 1
        self.child = spawn(
            a_command("import", str(self.folder), *words),
            log=self.log,
            cwd=self.folder,
            environment=import_environment(self.client),
            death_signal=signal.SIGKILL,
        )
        return self.child

    async def run_to_its_end(self, *words: str, codes: Collection[int] = (0,)) -> None:
        """Run it, again whenever it was killed, until it ends by itself with one of the codes."""
        code = -signal.SIGKILL
        while code == -signal.SIGKILL:
            code = await asyncio.to_thread(self.start(*words).wait)
        assert code in codes, self.log.read_text()[-4_000:]

    def kill(self) -> bool:
        """Kill -9, when it runs."""
        if self.child is None or self.child.poll() is not None:
            return False
        self.child.kill()
        return True

    def bring_back(self) -> None:
        """Its user does."""


@dataclass
class FolderImporter(Author):
    """Imports a folder of its own, has that approved and merged, changes the folder, and so on."""

    root: Path = field(default_factory=a_reachable_folder)

    def __post_init__(self) -> None:
        self.command = ImportCommand(self.root / "folder", self.client, self.root / "import.log")
        self.command.folder.mkdir()

    async def work(self, desk: Desk, over: asyncio.Event) -> None:
        """Import until it is over."""
        while not over.is_set():
            await self._import(desk)
        shutil.rmtree(self.root)

    async def _import(self, desk: Desk) -> None:
        files, title = self._another_folder(), f"Folder {next(numbers)}"
        self._write(files)
        desk.in_flight += 1
        await self._run("--project", desk.project_id, "--prefix", self.folder, "--mirror", "--title", title)
        desk.in_flight -= 1
        review = await desk.approve(await self._only_review(desk, title))
        assert await desk.publish(review), "nobody else changes these files"
        self.book.files = {f"{self.folder}/{name}": text for name, text in files.items()}
        self.book.done["imported by the command"] += 1

    async def _only_review(self, desk: Desk, title: str) -> Json:
        """The one Review that came of all runs of a command."""
        answered = await desk.read(desk.own, f"/imports?project_id={desk.project_id}&limit=100")
        made = [each for each in listed(answered, "items") if each["title"] == title]
        for each in made:
            desk.note(await desk.read(desk.own, f"/operations/{each['operation_id']}"))
        (review_id,) = [each["review_id"] for each in made if each["review_id"] is not None]
        return await desk.read(desk.own, f"/reviews/{review_id}")

    def _write(self, files: Mapping[str, str]) -> None:
        for file in self.command.folder.iterdir():
            file.unlink()
        for name, text in files.items():
            (self.command.folder / name).write_text(text)

    async def _run(self, *words: str) -> None:
        """Run the command until it ends by itself."""
        before = self.command.runs
        await self.command.run_to_its_end(*words)
        self.book.done["command run again"] += self.command.runs - before - 1
