"""The steps of a mixed load: each is asked for until it is answered, and written down."""

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from tests.client import Json
from tests.load import Crowd, location_of
from tests.mixed.books import Book, Page
from tests.proposals import at_version, final, inside, listed, provisional, references, updates

LATE = "reconciliation_required"
"""What somebody is told whose change another's has overtaken."""

SOON = timedelta(seconds=2)

numbers = itertools.count(1)


@dataclass
class Desk:
    """Where one person works: `own` asks as that person, `reviewer` as the owner.

    `in_flight` counts the commands that were asked for and have not ended, as far as the person knows.
    """

    own: Crowd
    reviewer: Crowd
    project_id: str
    book: Book
    in_flight: int = 0

    async def propose(self, *operations: Json) -> Json:
        """A new Draft."""
        body: Json = {"project_id": self.project_id, "title": "A change", "operations": [*operations]}
        draft = await self.make(self.own, "/drafts", body)
        self.book.drafts[str(draft["draft_id"])] = "open"
        return draft

    async def append(self, draft: Json, page: Page) -> Json:
        """The Draft, with another text for its page."""
        page.body = f"text {next(numbers)}\n"
        request: Json = {"operations": [updates(page.memory_id or provisional(draft), page.body)]}
        return await self.make(self.own, f"/drafts/{draft['draft_id']}/operations", request, at_version(draft))

    async def discard(self, draft: Json) -> None:
        path = f"/drafts/{draft['draft_id']}"
        current = await self.read(self.own, path)
        answer = await self.own.persistently(lambda: self.own.delete(path, at_version(current)))
        # It has no key: when the first answer was lost, only the Draft tells.
        assert answer.is_success or answer.json()["code"] in ("draft_closed", "precondition_failed"), answer.text
        assert (await self.read(self.own, path))["status"] == "discarded"
        self.book.drafts[str(draft["draft_id"])] = "discarded"

    async def submit(self, draft: Json) -> Json | None:
        """The Review of a Draft; None when another change was first."""
        body: Json = {"project_id": self.project_id, "title": "A Review", "drafts": references([draft])}
        operation = await self.carry_out(self.own, "/reviews", body)
        return None if is_late(operation) else self._noted(draft, operation, "submitted")

    async def resubmit(self, review: Json, draft: Json) -> Json:
        request: Json = {"drafts": references([draft])}
        operation = await self._command(self.own, review, "submissions", request)
        return self._noted(draft, operation, "submitted")

    async def approve(self, review: Json) -> Json:
        return self._noted_review(await self._command(self.reviewer, review, "decisions", {"decision": "approved"}))

    async def reject(self, review: Json, draft: Json) -> Json:
        operation = await self._command(self.reviewer, review, "decisions", {"decision": "rejected"})
        return self._noted(draft, operation, "open")

    async def withdraw(self, review: Json, draft: Json) -> None:
        self._noted(draft, await self._command(self.own, review, "withdrawals", {}), "open")

    async def merge(self, review: Json, draft: Json, page: Page) -> bool:
        """Publish a change of a page; False when another was first."""
        if not await self.publish(review):
            return False
        self._note_page(review, draft, page)
        return True

    async def publish(self, review: Json) -> bool:
        """Merge a Review; False when another was first."""
        operation = await self._command(self.reviewer, review, "merges", {})
        if is_late(operation):
            return False
        self._note_merge(str(review["review_id"]), str(result_of(operation)["commit_id"]))
        return True

    async def publish_on_time(self, review: Json, draft: Json, page: Page) -> None:
        """Have an approved Review published by the clock; a merge that comes after it tells as which commit."""
        path = f"/reviews/{review['review_id']}"

        async def schedule() -> httpx.Response:
            at = (datetime.now(UTC) + SOON).isoformat()
            return await self.reviewer.patch(path, {"publish_at": at}, at_version(review))

        answer = await self.reviewer.persistently(schedule)
        # It has no key: when the first answer was lost, only the Review tells.
        assert answer.is_success or answer.json()["code"] in ("precondition_failed", "review_closed"), answer.text
        while (shown := await self.read(self.reviewer, path))["status"] != "merged":  # noqa: ASYNC110  (the server tells)
            await asyncio.sleep(0.1)
        late = inside(await self._command(self.reviewer, shown, "merges", {}), "problem")
        assert late["code"] == "review_closed", late
        self._note_merge(str(review["review_id"]), str(late["commit_id"]))
        self._note_page(review, draft, page)

    async def catch_up(self, draft: Json) -> Json | None:
        """A Draft that fell behind, rebased so that it keeps what it says; None when others publish again meanwhile."""
        path = f"/drafts/{draft['draft_id']}"
        behind = await self.read(self.own, path)
        request: Json = {"expected_draft_version": behind["version"]}
        compared = await self.carry_out(self.own, f"{path}/reconciliation-candidates", request)
        if compared["status"] == "failed":
            assert inside(compared, "problem")["code"] == "draft_already_current", compared
            return behind
        candidate = result_of(compared)
        request["candidate_id"] = candidate["candidate_id"]
        if chosen := _as_drafted(candidate):
            request["resolved_state"] = [*chosen]
        rebased = await self.carry_out(self.own, f"{path}/rebases", request)
        if rebased["status"] == "failed":
            assert inside(rebased, "problem")["code"] == "candidate_stale", rebased
            return None
        return result_of(rebased)

    async def revert(self, commit_id: str) -> Json:
        """A Draft that takes back what a commit did."""
        draft = await self.make(self.own, "/org/reverts", {"commit_id": commit_id, "project_id": self.project_id})
        self.book.drafts[str(draft["draft_id"])] = "open"
        return draft

    async def bring_in(self, prefix: str, files: Mapping[str, str]) -> Json:
        """The Review that makes a folder equal to these files, by name."""
        body: Json = {"project_id": self.project_id, "prefix": prefix, "mirror": True}
        made = await self.make(self.own, "/imports", body)
        path = f"/imports/{made['import_id']}"
        for name, text in files.items():
            await self.make(self.own, f"{path}/files", {"files": [{"path": name, "content": text}]})
        imported = result_of(await self.carry_out(self.own, f"{path}/start", {}))
        assert (imported["status"], imported["reports"]) == ("succeeded", []), imported
        review = await self.read(self.own, f"/reviews/{imported['review_id']}")
        self.book.reviews[str(review["review_id"])] = str(review["status"])
        return review

    async def comment(self, crowd: Crowd, review: Json) -> None:
        text = f"remark {next(numbers)}"
        await self.make(crowd, f"/reviews/{review['review_id']}/comments", {"body": text})
        self.book.comments.setdefault(str(review["review_id"]), []).append(text)

    async def select(self, project_id: str, memory_ids: frozenset[str]) -> None:
        """Replace a selection that nobody else replaces meanwhile."""
        path = f"/projects/{project_id}/org-selections"
        before = await self.read(self.reviewer, path)
        body: Json = {"resource_ids": [*sorted(memory_ids)]}
        answer = await self.reviewer.persistently(lambda: self.reviewer.put(path, body, at_version(before)))
        if answer.is_success:
            self.note(await self.reviewer.outcome(location_of(answer)))
        # It has no key: when the first answer was lost, only the selection tells.
        now = await self.read(self.reviewer, path)
        assert now["revision"] == int(str(before["revision"])) + 1, answer.text

    async def make(self, crowd: Crowd, path: str, body: Json, headers: Mapping[str, str] | None = None) -> Json:
        """What a POST answers at once, asked for by a key."""
        keyed = {"Idempotency-Key": f"make-{next(numbers)}", **(headers or {})}
        answer = await crowd.persistently(lambda: crowd.post(path, body, keyed))
        assert answer.is_success, answer.text
        made: Json = answer.json()
        return made

    async def read(self, crowd: Crowd, path: str) -> Json:
        answer = await crowd.persistently(lambda: crowd.get(path))
        assert answer.is_success, answer.text
        body: Json = answer.json()
        return body

    async def carry_out(self, crowd: Crowd, path: str, body: Json) -> Json:
        """The operation of a command, ended; asking once more by its key names it again."""
        key, number = f"command-{next(numbers)}", next(numbers)
        self.in_flight += 1
        location = await crowd.operation_of(path, body, key, wait=5 * (number % 2))
        operation = await crowd.outcome(location)
        self.in_flight -= 1
        assert await crowd.operation_of(path, body, key) == location
        self.note(operation)
        return operation

    def note(self, operation: Json) -> None:
        """Write down how an operation has ended."""
        self.book.operations[str(operation["operation_id"])] = str(operation["status"])

    async def _command(self, crowd: Crowd, review: Json, name: str, request: Json) -> Json:
        body: Json = {"expected_review_version": review["version"], **request}
        return await self.carry_out(crowd, f"/reviews/{review['review_id']}/{name}", body)

    def _noted(self, draft: Json, operation: Json, draft_status: str) -> Json:
        """The Review that a command answered, written down."""
        self.book.drafts[str(draft["draft_id"])] = draft_status
        return self._noted_review(operation)

    def _note_merge(self, review_id: str, commit_id: str) -> None:
        self.book.reviews[review_id] = "merged"
        self.book.merged[review_id] = commit_id

    def _note_page(self, review: Json, draft: Json, page: Page) -> None:
        self.book.drafts[str(draft["draft_id"])] = "merged"
        page.memory_id = page.memory_id or final(provisional(draft))
        page.reviews.append(str(review["review_id"]))

    def _noted_review(self, operation: Json) -> Json:
        review = result_of(operation)
        self.book.reviews[str(review["review_id"])] = str(review["status"])
        return review


def _as_drafted(candidate: Json) -> list[Json]:
    """What settles a candidate's conflicts as its Draft has it."""
    return [
        state
        for conflict in listed(candidate, "conflicts")
        for resolution in listed(conflict, "resolutions")
        if resolution["name"] == "keep_draft"
        for state in listed(resolution, "resolved_state")
    ]


def result_of(operation: Json) -> Json:
    """What an operation that has to have succeeded answers."""
    assert operation["status"] == "succeeded", operation["problem"]
    return inside(operation, "result")


def is_late(operation: Json) -> bool:
    """Whether another change was first; no other refusal is foreseen."""
    if operation["status"] == "succeeded":
        return False
    assert inside(operation, "problem")["code"] == LATE, operation["problem"]
    return True
