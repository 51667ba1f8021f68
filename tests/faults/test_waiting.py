"""Many people wait for their merges, and nobody else notices."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

import httpx
import pytest

from models.identifiers import OrganizationId
from models.settings import Settings
from tests.client import PREFIX, Json, Organization, a_project, an_organization
from tests.installation import Installation, an_installation
from tests.invariants import check_invariants
from tests.load import Crowd, Ready, reviews_in_rows, succeeded
from tests.proposals import a_draft, at_version, creates

READS, APPENDS = 50, 20
WAIT_S = 30

OPEN_CONNECTIONS = "select count(*) from pg_stat_activity where application_name in ('canonry-api', 'canonry-listen')"
BUSY_CONNECTIONS = OPEN_CONNECTIONS + " and state <> 'idle'"
ACCEPTED = "select count(*) from operations where kind = 'review.merge'"


@dataclass(frozen=True)
class Bystanders:
    """What others ask for meanwhile: `READS` different GETs and an append to each of `APPENDS` Drafts."""

    project_id: str
    reviews: Sequence[Ready]
    drafts: Sequence[Json]

    async def answers(self, crowd: Crowd) -> list[int]:
        """The statuses of all."""
        paths = ["/org/commits", "/org/memories", "/reviews", "/drafts", f"/projects/{self.project_id}/commit-state"]
        paths += [f"/reviews/{review.review_id}" for review in self.reviews[: READS - len(paths)]]
        sent: list[Awaitable[httpx.Response]] = [crowd.get(path) for path in paths]
        sent += [crowd.post(*_append(draft)) for draft in self.drafts]
        return [answer.status_code for answer in await asyncio.gather(*sent)]


def _append(draft: Json) -> tuple[str, Json, dict[str, str]]:
    body: Json = {"operations": [creates(f"{draft['draft_id']}.md")]}
    return f"/drafts/{draft['draft_id']}/operations", body, at_version(draft)


def some_bystanders(organization: Organization, project_id: str, reviews: Sequence[Ready]) -> Bystanders:
    owner = organization.owner
    return Bystanders(project_id, reviews, [a_draft(owner, project_id) for _ in range(APPENDS)])


@pytest.mark.parametrize("waiting", [50, pytest.param(300, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_waiting_merges_hold_up_nobody_take_no_connection_and_come_back_as_outcomes(waiting: int) -> None:
    with an_installation() as installation:
        organization = an_organization(installation.client)
        project_id = a_project(organization.owner)
        reviews = reviews_in_rows(installation.engine, organization, project_id, waiting)
        before, meanwhile = (some_bystanders(organization, project_id, reviews) for _ in range(2))
        installation.worker.stop()
        results = asyncio.run(_wait_beside(installation, organization, reviews, before, meanwhile))
        assert len({str(result["commit_id"]) for result in results}) == waiting
        check_invariants(installation.engine, OrganizationId(organization.organization_id))


async def _wait_beside(
    installation: Installation,
    organization: Organization,
    reviews: Sequence[Ready],
    before: Bystanders,
    meanwhile: Bystanders,
) -> list[Json]:
    """The results of the merges, which wait without a worker until everybody else has been served."""

    async def count(question: str) -> int:
        return await asyncio.to_thread(installation.count, question)

    async with Crowd(organization.owner) as crowd:
        assert set(await before.answers(crowd)) == {200}
        at_most = Settings().api_pool_size + 2  # the pool's, the listener's, and that of the search index
        assert await count(OPEN_CONNECTIONS) <= at_most
        waits = [asyncio.create_task(_wait(crowd, review)) for review in reviews]
        while await count(ACCEPTED) < len(reviews):  # noqa: ASYNC110  (the database tells nobody)
            await asyncio.sleep(0.1)
        began = time.monotonic()
        assert set(await meanwhile.answers(crowd)) == {200}
        print(f"{READS} reads, {APPENDS} appends: {time.monotonic() - began:.1f} s beside {len(waits)} waits")  # noqa: T201
        assert not any(wait.done() for wait in waits)
        assert await count(OPEN_CONNECTIONS) <= at_most
        assert 0 in [await count(BUSY_CONNECTIONS) for _ in range(20)]
        await asyncio.to_thread(installation.start, installation.worker)
        return await asyncio.gather(*waits)


async def _wait(crowd: Crowd, review: Ready) -> Json:
    """What a merge did: told by its answer if it ended within the wait, else only after the whole of it."""
    began = time.monotonic()
    answer = await crowd.merge(review, wait=WAIT_S)
    if answer.status_code == httpx.codes.OK:
        assert answer.headers["Preference-Applied"] == f"wait={WAIT_S}"
        result: Json = answer.json()
        return result
    assert answer.status_code == httpx.codes.ACCEPTED, answer.text
    assert time.monotonic() - began >= WAIT_S
    (result,) = succeeded([await crowd.outcome(answer.headers["Location"].removeprefix(PREFIX))])
    return result
