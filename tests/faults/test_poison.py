"""One bad operation stops nobody."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from models.identifiers import OrganizationId
from tests.client import Client, Json, a_project, an_organization, items
from tests.installation import an_installation
from tests.invariants import check_invariants
from tests.load import Crowd, Ready, failed, reviews_in_rows


@pytest.mark.parametrize("merges", [40, pytest.param(300, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_a_poisoned_operation_among_many_in_the_lane_fails_alone(merges: int) -> None:
    poisoned = merges // 2
    with an_installation() as installation:
        organization = an_organization(installation.client)
        project_id = a_project(organization.owner)
        reviews = reviews_in_rows(installation.engine, organization, project_id, merges)
        installation.worker.stop()
        locations = asyncio.run(accept(organization.owner, reviews))
        operation_id = locations[poisoned].rsplit("/", 1)[1]
        installation.execute("update operations set request = '[\"poison\"]' where operation_id = :id", id=operation_id)
        installation.start(installation.worker)
        began = time.monotonic()
        outcomes = asyncio.run(all_outcomes(organization.owner, locations))
        print(f"{merges} merges ended in {time.monotonic() - began:.1f} s")  # noqa: T201
        assert failed(outcomes) == ["internal_error"]
        assert outcomes[poisoned]["status"] == "failed"
        assert organization.owner.get(f"/reviews/{reviews[poisoned].review_id}").json()["status"] == "open"
        assert organization_version(organization.owner) == merges - 1
        check_invariants(installation.engine, OrganizationId(organization.organization_id))


async def accept(client: Client, reviews: Sequence[Ready]) -> list[str]:
    """Where the operations of the merges are found."""
    async with Crowd(client) as crowd:
        return list(await asyncio.gather(*(crowd.accepted(review) for review in reviews)))


async def all_outcomes(client: Client, locations: Sequence[str]) -> list[Json]:
    """The operations, once all have ended."""
    async with Crowd(client) as crowd, asyncio.timeout(60):
        return list(await asyncio.gather(*(crowd.outcome(location) for location in locations)))


def organization_version(client: Client) -> object:
    return items(client.get("/org/commits", limit=1))[0]["version"]
