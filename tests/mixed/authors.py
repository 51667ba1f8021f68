"""People who use everything that Canonry offers, and know what has to come of it."""

import asyncio
import itertools
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace

from tests.client import Client, Json
from tests.mixed.books import Book, Library, Page
from tests.mixed.steps import Desk, numbers
from tests.proposals import creates, deletes, renames, restores, updates

MOST_PAGES, MOST_FILES, MOST_ATTEMPTS = 6, 8, 4


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
        review = await desk.approve(await self._submitted(desk, draft))
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
        review = await desk.approve(await desk.resubmit(review, draft))
        await self._merge(desk, review, draft, page)
        self.book.done["published after a rejection"] += 1

    async def publish_on_time(self, desk: Desk) -> None:
        """Have a change approved, and published when its time comes."""
        draft, page = await self._change(desk)
        review = await desk.approve(await self._submitted(desk, draft))
        await desk.publish_on_time(review, draft, page)
        self._turn_to(page)
        self.book.done["published on time"] += 1

    async def take_back(self, desk: Desk) -> None:
        """Revert the last change of a page."""
        first = self.book.pages[0]  # which stays, so that it can be selected at any time
        pages = [page for page in self.book.pages if page.before and not (page is first and page.before.deleted)]
        if not pages:
            return await self.publish(desk)
        page = self.chance.choice(pages)
        draft = await desk.revert(self.book.merged[page.reviews[-1]])
        review = await desk.approve(await self._submitted(desk, draft))
        assert page.before is not None
        await self._merge(desk, review, draft, replace(page.before, before=None))
        self.book.done["taken back"] += 1
        return None

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

    async def persist(self, desk: Desk) -> None:
        """Change the Memory that everybody changes; bring the change up to date when others were first."""
        contested = self.library.contested
        draft = await desk.propose(updates(contested.memory_id, f"text {next(numbers)}\n"))
        review = await desk.submit(draft)
        for _ in range(MOST_ATTEMPTS):
            if review is not None and await desk.merge(review, draft, contested):
                self.book.done["persisted and won"] += 1
                return
            caught_up = await desk.catch_up(draft)
            if caught_up is None:
                continue
            draft = caught_up
            if review is None:
                review = await desk.submit(draft)
            else:
                review = await desk.read(desk.own, f"/reviews/{review['review_id']}")
        if review is not None:
            await desk.withdraw(review, draft)
        await desk.discard(draft)
        self.book.done["persisted and lost"] += 1

    async def select(self, desk: Desk) -> None:
        """Let the project that only reads use other Memories."""
        async with self.library.selecting:
            wished = self._another_selection()
            await desk.select(self.library.reader_id, wished)
            self.library.selected = wished
            self.library.selections += 1
        self.book.done["selected"] += 1

    async def bring_in(self, desk: Desk) -> None:
        """Import a folder that mirrors what it was, approve and merge."""
        prefix, files = f"{self.folder}/imported", self._another_folder()
        review = await desk.approve(await desk.bring_in(prefix, files))
        assert await desk.publish(review), "nobody else changes these files"
        self.book.files = {f"{prefix}/{name}": text for name, text in files.items()}
        self.book.done["imported"] += 1

    def _another_folder(self) -> dict[str, str]:
        """The files imported last, by name: some changed, one moved, one gone, and new ones."""
        before = [(path.rsplit("/", 1)[1], text) for path, text in self.book.files.items()]
        kept = self.chance.sample(before, min(len(before), MOST_FILES))
        _gone, moved, changed = kept[:1], kept[1:2], kept[2:4]
        files = dict(kept[4:])
        files |= {f"{next(numbers)}.md": text for _, text in moved}
        files |= {name: f"text {next(numbers)}\n" for name, _ in changed}
        return files | {f"{number}.md": f"text {number}\n" for number in itertools.islice(numbers, 3)}

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
        gone = [page for page in self.book.pages if page.deleted]
        kinds = ["create"] * (len(standing) < MOST_PAGES) + ["update", "rename"] * bool(standing)
        kinds += ["restore"] * bool(gone)
        kind = self.chance.choice(kinds + ["delete"] * (len(standing) > 1))
        number = next(numbers)
        if kind == "create":
            page = Page("", f"{self.folder}/{number}.md", f"text {number}\n")
            return creates(page.path, page.body), page
        if kind == "restore":
            page = self.chance.choice(gone)
            page = replace(page, path=f"{self.folder}/{number}.md", body=f"text {number}\n", deleted=False)
            return restores(page.memory_id, page.path, content=page.body), page
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
        self._turn_to(page)

    def _turn_to(self, page: Page) -> None:
        """Note what a page is now that it was published."""
        known = {each.memory_id: number for number, each in enumerate(self.book.pages)}
        if page.memory_id in known:
            page.before = self.book.pages[known[page.memory_id]]
            self.book.pages[known[page.memory_id]] = page
        else:
            page.before = replace(page, deleted=True)
            self.book.pages.append(page)


Task = Callable[[Author, Desk], Coroutine[None, None, None]]

TASKS: Sequence[Task] = (
    Author.publish,
    Author.publish_directly,
    Author.insist,
    Author.discuss,
    Author.abandon,
    Author.contend,
    Author.persist,
    Author.publish_on_time,
    Author.take_back,
    Author.select,
    Author.bring_in,
)
