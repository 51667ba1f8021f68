"""Many people at work side by side in several organizations, while something else happens to Canonry."""

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from tests.client import Client, a_member, a_project, an_organization
from tests.load import Crowd
from tests.mixed.authors import Author
from tests.mixed.books import Library, Page
from tests.mixed.importer import FolderImporter, ImportCommand
from tests.mixed.steps import Desk
from tests.proposals import creates

A = TypeVar("A", bound=Author)

BEARABLE = frozenset(
    {"200", "201", "202", "503 unavailable", "409 operation_in_progress"}
    | {"409 draft_closed", "412 precondition_failed"}  # what has no key was heard twice
    | {"409 reconciliation_required", "409 candidate_stale", "409 draft_already_current"}  # another was first
    | {"409 review_closed"}  # the clock was first
    | {"ConnectError", "ReadError", "RemoteProtocolError", "WriteError"}
)
"""All that careful clients may see of an outage."""


@dataclass
class MixedLoad:
    """Several organizations with several authors each."""

    authors: Sequence[Author]
    seen: Counter[str] = field(default_factory=Counter)
    desks: list[Desk] = field(default_factory=list)

    @property
    def in_flight(self) -> int:
        """Commands that were asked for and have not ended, as far as their clients know."""
        return sum(desk.in_flight for desk in self.desks)

    @property
    def libraries(self) -> Sequence[Library]:
        return list({id(author.library): author.library for author in self.authors}.values())

    @property
    def import_command(self) -> ImportCommand:
        """The command that somebody runs again and again."""
        return next(author.command for author in self.authors if isinstance(author, FolderImporter))

    def authors_of(self, library: Library) -> Sequence[Author]:
        return [author for author in self.authors if author.library is library]

    async def run_during(self, happening: Coroutine[None, None, None], *, end_limit_s: float) -> None:
        """Let everybody work until the happening is over; then each finishes what is begun.

        Args:
            happening: what the load runs for.
            end_limit_s: how long the finishing may take.
        """
        over = asyncio.Event()
        async with asyncio.timeout(None) as limit, AsyncExitStack() as crowds, asyncio.TaskGroup() as group:
            self.desks = [await self._desk(author, crowds) for author in self.authors]
            for library in self.libraries:
                await self._found(library)
            for author, desk in zip(self.authors, self.desks, strict=True):
                group.create_task(author.work(desk, over))
            await happening
            over.set()
            limit.reschedule(asyncio.get_running_loop().time() + end_limit_s)

    async def _desk(self, author: Author, crowds: AsyncExitStack) -> Desk:
        own, reviewer = (Crowd(client, self.seen) for client in (author.client, author.library.client))
        await crowds.enter_async_context(own)
        await crowds.enter_async_context(reviewer)
        return Desk(own, reviewer, author.library.project_id, author.book)

    async def _found(self, library: Library) -> None:
        """Publish the Memory that everybody will change."""
        desk = next(desk for author, desk in zip(self.authors, self.desks, strict=True) if author.library is library)
        draft = await desk.propose(creates(library.contested.path))
        review = await desk.submit(draft)
        assert review is not None
        assert await desk.merge(review, draft, library.contested)


def a_mixed_load(api: Client, *, libraries: int, authors: int, chance: random.Random) -> MixedLoad:
    """Organizations and their people, before they begin; in the first one somebody imports by the command."""
    made: list[Author] = []
    for _ in range(libraries):
        library = a_library(api)
        made += [_an_author(Author, library, f"author-{number}", chance) for number in range(authors)]
    return MixedLoad([*made, _an_author(FolderImporter, made[0].library, "importer", chance)])


def _an_author(kind: type[A], library: Library, folder: str, chance: random.Random) -> A:
    client = a_member(library.organization, library.project_id).client
    return kind(library, folder, client, random.Random(chance.random()))  # noqa: S311  (to be repeated, not secret)


def a_library(api: Client) -> Library:
    organization = an_organization(api)
    project_id, reader_id = (a_project(organization.owner) for _ in range(2))
    return Library(organization, project_id, reader_id, Page("", "contested.md", ""))
