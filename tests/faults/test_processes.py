"""Worker and API processes that come and go in order: what they began is finished, what waits is not lost."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus

from models.identifiers import OrganizationId
from models.settings import Settings
from tests.client import Client, Json, Organization, a_project, an_organization
from tests.installation import Installation, an_installation, until
from tests.invariants import check_invariants
from tests.load import Crowd, Ready, reviews_in_rows, succeeded
from workflows.ids import publication_workflow_id
from workflows.temporal_link import connect

BATCH, BATCHES_A_RUN = 8, 2
SETTINGS = {"CANONRY_LANE_BATCH_SIZE": str(BATCH), "CANONRY_LANE_MAX_BATCHES": str(BATCHES_A_RUN)}
MERGES = 5 * BATCH

OF_STATUS = "select count(*) from operations where org_id = :org_id and status = :status"


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation(**SETTINGS) as running:
        yield running


@dataclass(frozen=True)
class Publisher:
    """An organization whose Reviews wait to be merged."""

    organization: Organization
    reviews: Sequence[Ready]

    @property
    def client(self) -> Client:
        return self.organization.owner

    @property
    def org_id(self) -> str:
        return self.organization.organization_id

    async def accepted(self) -> list[str]:
        """Where the operations of all merges are found."""
        async with Crowd(self.client) as crowd:
            return list(await asyncio.gather(*(crowd.accepted(review) for review in self.reviews)))

    async def require_success(self, locations: Sequence[str]) -> None:
        """Return once all have ended, each with a commit of its own."""
        async with Crowd(self.client) as crowd, asyncio.timeout(60):
            operations = await asyncio.gather(*(crowd.outcome(location) for location in locations))
        assert len({str(result["commit_id"]) for result in succeeded(operations)}) == len(self.reviews)


def a_publisher(installation: Installation, reviews: int) -> Publisher:
    organization = an_organization(installation.client)
    project_id = a_project(organization.owner)
    return Publisher(organization, reviews_in_rows(installation.engine, organization, project_id, reviews))


def count(installation: Installation, publisher: Publisher, status: str) -> int:
    """How many of its merges are in a status; its submissions have all succeeded."""
    found = installation.count(OF_STATUS, org_id=publisher.org_id, status=status)
    return found - len(publisher.reviews) if status == "succeeded" else found


def test_a_lane_continues_as_new_while_merges_flow_and_loses_none(installation: Installation) -> None:
    publisher = a_publisher(installation, MERGES)
    asyncio.run(publisher.require_success(asyncio.run(publisher.accepted())))
    check_invariants(installation.engine, OrganizationId(publisher.org_id))
    statuses = asyncio.run(statuses_of_runs(installation, publication_workflow_id(publisher.org_id)))
    assert statuses.pop(WorkflowExecutionStatus.RUNNING) == 1
    assert statuses.pop(WorkflowExecutionStatus.CONTINUED_AS_NEW) >= MERGES // (BATCH * BATCHES_A_RUN)
    assert not statuses


async def statuses_of_runs(installation: Installation, workflow_id: str) -> Counter[WorkflowExecutionStatus | None]:
    client = await connect(Settings(temporal_address=installation.stack.temporal_address))
    return Counter([run.status async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'")])


def test_a_worker_that_is_asked_to_end_finishes_its_batch_and_the_next_one_does_the_rest(
    installation: Installation,
) -> None:
    publisher = a_publisher(installation, MERGES)
    installation.worker.stop()
    locations = asyncio.run(publisher.accepted())
    installation.start(installation.worker)
    until(lambda: count(installation, publisher, "succeeded") > 0)
    installation.worker.stop()
    assert installation.worker.child.returncode == 0
    finished = count(installation, publisher, "succeeded")
    assert count(installation, publisher, "running") == 0
    assert count(installation, publisher, "pending") == MERGES - finished > 0
    installation.start(installation.worker)
    asyncio.run(publisher.require_success(locations))
    check_invariants(installation.engine, OrganizationId(publisher.org_id))


def test_an_api_that_is_asked_to_end_answers_who_waits_and_nothing_is_lost(installation: Installation) -> None:
    publisher = a_publisher(installation, BATCH)
    installation.worker.stop()
    answers = asyncio.run(waits_that_an_end_cuts_short(installation, publisher))
    assert [answer.status_code for answer in answers] == [httpx.codes.ACCEPTED] * BATCH
    assert installation.api.child.returncode == 0
    operations: list[Json] = [answer.json() for answer in answers]
    assert {operation["status"] for operation in operations} == {"pending"}
    for service in (installation.api, installation.worker):
        installation.start(service)
    asyncio.run(publisher.require_success([f"/operations/{operation['operation_id']}" for operation in operations]))
    check_invariants(installation.engine, OrganizationId(publisher.org_id))


async def waits_that_an_end_cuts_short(installation: Installation, publisher: Publisher) -> list[httpx.Response]:
    """The answers to merges that would wait half a minute for a worker, from an API that ends meanwhile."""
    async with Crowd(publisher.client) as crowd:
        waits = [asyncio.create_task(crowd.merge(review, wait=30)) for review in publisher.reviews]
        while count(installation, publisher, "pending") < len(waits):  # noqa: ASYNC110  (the database tells nobody)
            await asyncio.sleep(0.05)
        began = time.monotonic()
        await asyncio.to_thread(installation.api.stop)
        assert time.monotonic() - began < 10  # of the 30 that they would wait
        return await asyncio.gather(*waits)
