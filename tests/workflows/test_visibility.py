import asyncio
import shutil
from collections.abc import Iterator

import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client

from tests.parts import start_temporal
from tests.stack import a_reachable_folder
from tests.workflows.harness import run, settings_for
from workflows.search_attributes import SEARCH_ATTRIBUTES
from workflows.temporal_link import connect
from workflows.visibility import attributes, register


@pytest.fixture
def bare_temporal() -> Iterator[str]:
    """A server on which nothing is registered."""
    folder = a_reachable_folder()
    server = start_temporal(folder, ui=False)
    try:
        yield server.address
    finally:
        server.stop()
        shutil.rmtree(folder)


async def registered(client: Client) -> set[str]:
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return set(answer.custom_attributes)


def test_registered_attributes_can_be_used_at_once(bare_temporal: str) -> None:
    async def scenario() -> None:
        client = await connect(settings_for(bare_temporal))
        await register(client)
        await client.start_workflow(
            "Anything",
            id="anything",
            task_queue="nobody",
            search_attributes=attributes(**dict.fromkeys(SEARCH_ATTRIBUTES, "value")),
        )

    run(scenario())


def test_registering_twice_or_at_once_changes_nothing(bare_temporal: str) -> None:
    async def scenario() -> None:
        clients = [await connect(settings_for(bare_temporal)) for _ in range(3)]
        before = await registered(clients[0])
        await asyncio.gather(*(register(client) for client in clients))
        await register(clients[0])
        assert await registered(clients[0]) - before == set(SEARCH_ATTRIBUTES)

    run(scenario())
