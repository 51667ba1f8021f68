"""People who do everything that Canonry offers, side by side, while something else happens to it."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from tests.client import Client, Json, a_member, a_project, an_organization
from tests.load import Crowd
from tests.mixed_books import Book, Library, Page
from tests.mixed_steps import Desk, numbers
from tests.proposals import creates, deletes, renames, updates

MOST_PAGES = 6

BEARABLE = frozenset(
    {"200", "201", "202", "503 unavailable", "409 operation_in_progress"}
    | {"409 draft_closed", "412 precondition_failed"}  # what has no key was heard twice
    | {"ConnectError", "ReadError", "RemoteProtocolError", "WriteError"}
)
"""All that careful clients may see of an outage."""


@dataclass
class Author:
    """A member of a project, who does one thing after another."""

    library: Library
    folder: str
    client: Client
    chance: random.Random
    book: Book = field(default_factory=Book)

    async def work(self, desk: Desk, over: asyncio.Event) -> None:
        """Do things at random until it is over; what was begun is finished."""
        await self.publish(desk)
        self.library.kept.append(self.book.pages[0].memory_id)
        while not over.is_set():
            await self.chance.choice(TASKS)(self, desk)

    async def publish(self, desk: Desk) -> None:
        """Have a change approved and merged."""
        draft, page = await self._change(desk)
        review = await desk.approve(await self._submitted(desk, draft), draft)
        await self._merge(desk, review, draft, page)
        self.book.done["published with approval"] += 1

    async def publish_directly(self, desk: Desk) -> None:
        """Have a change merged by an owner without an approval."""
        draft, page = await self._change(desk)
        await self._merge(desk, await self._submitted(desk, draft), draft, page)
        self.book.done["merged directly"] += 1

    async def insist(self, desk: Desk) -> None:
        """Have a change rejected, correct it, submit it again, have it approved and merged."""
        draft, page = await self._change(desk)
        review = await desk.reject(await self._submitted(desk, draft), draft)
        draft = await desk.read(desk.own, f"/drafts/{draft['draft_id']}")
        if not page.deleted:
            draft = await desk.append(draft, page)
        review = await desk.approve(await desk.resubmit(review, draft), draft)
        await self._merge(desk, review, draft, page)
        self.book.done["published after a rejection"] += 1

    async def discuss(self, desk: Desk) -> None:
        """Comment on a Review, withdraw it, and discard its Draft."""
        draft, _ = await self._change(desk)
        review = await self._submitted(desk, draft)
        for crowd in (desk.own, desk.reviewer, desk.own)[: self.chance.randint(1, 3)]:
            await desk.comment(crowd, review)
        await desk.withdraw(review, draft)
        await desk.discard(draft)
        self.book.done["discussed and withdrawn"] += 1

    async def abandon(self, desk: Desk) -> None:
        """Discard a Draft that was never submitted."""
        draft, _ = await self._change(desk)
        await desk.discard(draft)
        self.book.done["discarded"] += 1

    async def contend(self, desk: Desk) -> None:
        """Change the Memory that everybody changes; whoever is late gives up."""
        contested = self.library.contested
        draft = await desk.propose(updates(contested.memory_id, f"text {next(numbers)}\n"))
        review = await desk.submit(draft)
        if review is not None:
            if await desk.merge(review, draft, contested):
                self.book.done["contended and won"] += 1
                return
            await desk.withdraw(review, draft)
        await desk.discard(draft)
        self.book.done["contended and lost"] += 1

    async def select(self, desk: Desk) -> None:
        """Let the project that only reads use other Memories."""
        async with self.library.selecting:
            wished = self._another_selection()
            await desk.select(self.library.reader_id, wished)
            self.library.selected = wished
            self.library.selections += 1
        self.book.done["selected"] += 1

    def _another_selection(self) -> frozenset[str]:
        keepable = [self.library.contested.memory_id, *self.library.kept]
        while True:
            chosen = frozenset(self.chance.sample(keepable, self.chance.randint(0, len(keepable))))
            if chosen != self.library.selected:
                return chosen

    async def _change(self, desk: Desk) -> tuple[Json, Page]:
        """A Draft that changes one page of the author's, and what the page will be."""
        operation, page = self._any_change()
        draft = await desk.propose(operation)
        for _ in range(0 if page.deleted else self.chance.randint(0, 2)):
            draft = await desk.append(draft, page)
        return draft, page

    def _any_change(self) -> tuple[Json, Page]:
        standing = [page for page in self.book.pages if not page.deleted]
        kinds = ["create"] * (len(standing) < MOST_PAGES) + ["update", "rename"] * bool(standing)
        kind = self.chance.choice(kinds + ["delete"] * (len(standing) > 1))
        number = next(numbers)
        if kind == "create":
            page = Page("", f"{self.folder}/{number}.md", f"text {number}\n")
            return creates(page.path, page.body), page
        # The first one stays, so that it can be selected at any time.
        page = self.chance.choice(standing[1:] if kind == "delete" else standing)
        if kind == "delete":
            return deletes(page.memory_id), replace(page, deleted=True)
        if kind == "rename":
            path = f"{self.folder}/{number}.md"
            return renames(page.memory_id, path), replace(page, path=path)
        body = f"text {number}\n"
        return updates(page.memory_id, body), replace(page, body=body)

    async def _submitted(self, desk: Desk, draft: Json) -> Json:
        review = await desk.submit(draft)
        assert review is not None, "nobody else changes these pages"
        return review

    async def _merge(self, desk: Desk, review: Json, draft: Json, page: Page) -> None:
        assert await desk.merge(review, draft, page), "nobody else changes these pages"
        known = {each.memory_id: number for number, each in enumerate(self.book.pages)}
        if page.memory_id in known:
            self.book.pages[known[page.memory_id]] = page
        else:
            self.book.pages.append(page)


Task = Callable[[Author, Desk], Coroutine[None, None, None]]

TASKS: Sequence[Task] = (
    Author.publish,
    Author.publish_directly,
    Author.insist,
    Author.discuss,
    Author.abandon,
    Author.contend,
    Author.select,
)


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
    """Organizations and their people, before they begin."""
    made = []
    for _ in range(libraries):
        library = a_library(api)
        for number in range(authors):
            client = a_member(library.organization, library.project_id).client
            made.append(Author(library, f"author-{number}", client, random.Random(chance.random())))  # noqa: S311
    return MixedLoad(made)


def a_library(api: Client) -> Library:
    organization = an_organization(api)
    project_id, reader_id = (a_project(organization.owner) for _ in range(2))
    return Library(organization, project_id, reader_id, Page("", "contested.md", ""))
