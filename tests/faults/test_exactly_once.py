"""Commands in flight while everything is killed at random: each ends, once, and no effect is lost or doubled."""

import asyncio
import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

import pytest
from pydantic import JsonValue

from models.identifiers import OrganizationId
from tests.client import Client, Json, a_project, an_organization, items
from tests.installation import Installation, an_installation, log_text
from tests.invariants import check_invariants
from tests.load import Crowd, Ready, Tenant, failed, succeeded, tenants
from tests.parts import restart
from tests.proposals import a_draft, creates, references

RIVALS = 3
FEW, MANY = 7, 22  # Reviews that touch nothing in common, in each organization
PIPELINES = 25  # in each of two organizations
END_LIMIT_S = 120
LONGEST_LULL_S, LONGEST_ABSENCE_S = 3.5, 1.0

# Many short batches and many runs of a lane: kills fall between as many steps as possible.
SETTINGS = {"CANONRY_LANE_BATCH_SIZE": "2", "CANONRY_LANE_MAX_BATCHES": "4"}

T = TypeVar("T")


def test_40_merges_are_carried_out_exactly_once_through_4_kills() -> None:
    merge_through_kills(organizations=4, alone=FEW, rounds=1, at_least=2)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_200_merges_are_carried_out_exactly_once_through_12_kills() -> None:
    merge_through_kills(organizations=8, alone=MANY, rounds=3, at_least=10)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_200_merges_are_carried_out_exactly_once_through_56_kills() -> None:
    merge_through_kills(organizations=8, alone=MANY, rounds=14, at_least=50)


def merge_through_kills(*, organizations: int, alone: int, rounds: int, at_least: int) -> None:
    """Ask for merges while each of four parts is killed `rounds` times; check every outcome and every row.

    Args:
        organizations: whose merges flow side by side.
        alone: Reviews of each organization that touch nothing in common.
        rounds: of kills.
        at_least: how many kills have to hit while merges are in flight; on a fast machine a few come too late.
    """
    with an_installation(**SETTINGS) as installation:
        made = tenants(installation.client, count=organizations, alone=alone, rivals=RIVALS)
        storm = Storm(installation, rounds, commands=organizations * (alone + RIVALS))
        reviews = [(tenant, review) for tenant in made for review in tenant.reviews]
        operations = asyncio.run(storm.rage_over([(tenant.client, storm.merging(each)) for tenant, each in reviews]))
        storm.require(at_least)
        outcomes = {review.review_id: operation for (_, review), operation in zip(reviews, operations, strict=True)}
        for tenant in made:
            require_one_effect_each(tenant, [outcomes[review.review_id] for review in tenant.reviews])
            check_invariants(installation.engine, OrganizationId(tenant.organization.organization_id))


def require_one_effect_each(tenant: Tenant, operations: Sequence[Json]) -> None:
    """All Reviews that touch nothing in common, and one of the rivals, each has the commit that its merge names."""
    assert failed(operations) == ["reconciliation_required"] * (RIVALS - 1)
    named = {result["commit_id"]: review_of(result) for result in succeeded(operations)}
    assert len(named) == len(tenant.reviews) - RIVALS + 1
    *after, before = items(tenant.client.get("/org/commits", limit=100))
    assert named == {commit["commit_id"]: commit["review_id"] for commit in after}
    parents = [commit["parent_commit_id"] for commit in after]
    assert parents == [commit["commit_id"] for commit in [*after[1:], before]]


def review_of(result: Json) -> JsonValue:
    review = result["review"]
    assert isinstance(review, dict)
    return review["review_id"]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_command_of_50_pipelines_is_carried_out_exactly_once_through_24_kills() -> None:
    with an_installation(**SETTINGS) as installation:
        organizations = [an_organization(installation.client) for _ in range(2)]
        storm = Storm(installation, rounds=6, commands=3 * 2 * PIPELINES)
        jobs = [
            (organization.owner, storm.pipeline(project_id, draft))
            for organization in organizations
            for project_id in [a_project(organization.owner)]
            for draft in [a_draft(organization.owner, project_id, creates(f"{n}.md")) for n in range(PIPELINES)]
        ]
        merges = asyncio.run(storm.rage_over(jobs))
        storm.require(at_least=20)
        assert len({str(result["commit_id"]) for result in succeeded(merges)}) == 2 * PIPELINES
        for organization in organizations:
            check_invariants(installation.engine, OrganizationId(organization.organization_id))


@dataclass
class Kill:
    """What was killed, when, and how many commands were asked for and had ended by then, as their clients knew."""

    part: str
    at_s: float
    asked: int
    ended: int
    back_after_s: float = math.nan

    @property
    def in_flight(self) -> int:
        return self.asked - self.ended


class Storm:
    """Kills each part `rounds` times, in random order at random moments, while commands are asked for.

    Half of them may be asked for at once, the others in portions before each kill.
    """

    BEARABLE = frozenset(
        {"200", "201", "202", "409 reconciliation_required", "503 unavailable", "409 operation_in_progress"}
        | {"ConnectError", "ReadError", "RemoteProtocolError", "WriteError"}
    )

    def __init__(self, installation: Installation, rounds: int, commands: int) -> None:
        self._seed = random.SystemRandom().randrange(1_000_000)
        self._chance = random.Random(self._seed)  # noqa: S311  (to be repeated, not secret)
        self._parts = installation.parts
        self._order = self._shuffled([*self._parts] * rounds)
        self._may_ask = asyncio.Semaphore(commands // 2)
        self._portion = -(-commands // 2 // len(self._order))
        self._asked = self._ended = 0
        self._began = self._lasted_s = 0.0
        self._absences: dict[str, asyncio.Task[None]] = {}
        self._kills: list[Kill] = []
        self._seen: Counter[str] = Counter()

    async def rage_over(self, jobs: Sequence[tuple[Client, Callable[[Crowd], Coroutine[None, None, T]]]]) -> list[T]:
        """What the jobs of these clients come to, once all have ended."""
        self._began = time.monotonic()
        async with asyncio.timeout(END_LIMIT_S + LONGEST_LULL_S * len(self._order)), AsyncExitStack() as crowds:
            clients = {client for client, _ in jobs}
            by_client = {each: await crowds.enter_async_context(Crowd(each, self._seen)) for each in clients}
            async with asyncio.TaskGroup() as group:
                working = {
                    position: group.create_task(job(by_client[client]))
                    for position, (client, job) in self._shuffled([*enumerate(jobs)])
                }
                await self._kill_all()
        self._lasted_s = self._now()
        return [working[position].result() for position in range(len(jobs))]

    def merging(self, review: Ready) -> Callable[[Crowd], Coroutine[None, None, Json]]:
        """The operation of a merge, once it has ended."""
        return lambda crowd: self._carry_out(crowd, review.path, review.body, review.key)

    def pipeline(self, project_id: str, draft: Json) -> Callable[[Crowd], Coroutine[None, None, Json]]:
        """Submit a Draft, approve it, merge it: the operation of the merge."""

        async def walk(crowd: Crowd) -> Json:
            body: Json = {"project_id": project_id, "title": "A Review", "drafts": references([draft])}
            submitted = await self._carry_out(crowd, "/reviews", body, f"submit-{draft['draft_id']}")
            (review,) = succeeded([submitted])
            path = f"/reviews/{review['review_id']}"
            body = {"decision": "approved", "expected_review_version": review["version"]}
            (review,) = succeeded([await self._carry_out(crowd, f"{path}/decisions", body, "approve")])
            return await self._carry_out(
                crowd, f"{path}/merges", {"expected_review_version": review["version"]}, "merge"
            )

        return walk

    async def _carry_out(self, crowd: Crowd, path: str, body: Json, key: str) -> Json:
        """Ask as a careful client does: by a key, again when no answer comes; some wait for the outcome."""
        await self._may_ask.acquire()
        self._asked += 1
        location = await crowd.operation_of(path, body, key, wait=self._chance.choice([0, 5]))
        operation = await crowd.outcome(location)
        self._ended += 1
        assert await crowd.operation_of(path, body, key) == location
        return operation

    async def _kill_all(self) -> None:
        for name in self._order:
            if name in self._absences:
                await self._absences[name]
            await self._lull()
            kill = Kill(name, self._now(), self._asked, self._ended)
            os.kill(self._parts[name].pid, signal.SIGKILL)
            self._kills.append(kill)
            self._absences[name] = asyncio.create_task(self._bring_back(kill))
        await asyncio.gather(*self._absences.values())

    async def _lull(self) -> None:
        """Let the next merges come, and time pass, but not so much that nothing is in flight any more."""
        for _ in range(self._portion):
            self._may_ask.release()
        end = time.monotonic() + self._chance.uniform(0.1, LONGEST_LULL_S)
        await asyncio.sleep(0.05)
        while time.monotonic() < end and self._asked - self._ended > 1:  # noqa: ASYNC110  (counted by others)
            await asyncio.sleep(0.01)

    async def _bring_back(self, kill: Kill) -> None:
        await asyncio.sleep(self._chance.uniform(0.0, LONGEST_ABSENCE_S))
        await asyncio.to_thread(restart, self._parts[kill.part])
        kill.back_after_s = self._now() - kill.at_s

    def _shuffled(self, things: Sequence[T]) -> list[T]:
        return self._chance.sample(things, len(things))

    def _now(self) -> float:
        return time.monotonic() - self._began

    def require(self, at_least: int) -> None:
        """Enough kills hit while commands were in flight, and nobody saw more of them than an outage."""
        print(self._table())  # noqa: T201
        assert sum(kill.in_flight > 0 for kill in self._kills) >= at_least
        assert self._seen.keys() <= self.BEARABLE
        for part in self._parts.values():
            assert "unforeseen" not in log_text(part), log_text(part)[-4_000:]

    def _table(self) -> str:
        lines = [f"{'at':>6}  {'killed':<9} {'back after':>10}  {'asked':>5} {'ended':>5} {'in flight':>9}"]
        lines += [
            f"{kill.at_s:5.1f}s  {kill.part:<9} {kill.back_after_s:9.1f}s  "
            f"{kill.asked:>5} {kill.ended:>5} {kill.in_flight:>9}"
            for kill in self._kills
        ]
        lines += [
            f"{self._lasted_s:5.1f}s  all {self._ended} commands have ended (seed {self._seed})",
            "answers: " + ", ".join(f"{count} x {answer}" for answer, count in sorted(self._seen.items())),
        ]
        return "\n".join(lines)
