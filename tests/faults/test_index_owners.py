"""API processes that keep an index are killed, and lose memories: the others are repaired all the same."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, text

from activities.messages import IndexRepairs
from tests.client import Client, Json, an_organization, ok
from tests.stack import Service, Stack, start_api
from tests.workflows.harness import settings_for
from workflows.ids import REINDEX
from workflows.reindex import ReindexWorkflow
from workflows.temporal_link import connect

pytestmark = pytest.mark.usefixtures("worker", "api")

SOON_S = 30.0
OWNERS = text("select task_queue from index_owners")
WITHOUT_EVENT = text("""
    insert into structured_memories (org_id, scope, scope_id, name, memory_id, type, description, content, created,
                                     updated, revision, created_by, updated_by, content_hash)
    values (:org_id, 'global', '', 'unheard_of', '00000000-0000-7000-8000-000000000001', 'general', 'A note.',
            'lighthouse', now(), now(), 1, :user_id, :user_id, '')
""")


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, "it does not come to hold"
        time.sleep(0.1)


def owners(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return {row.task_queue for row in connection.execute(OWNERS)}


async def reindexed(stack: Stack) -> IndexRepairs:
    """What a run of the workflow, on the worker's queue, came to."""
    client = await connect(settings_for(stack.temporal_address))
    return await client.execute_workflow(ReindexWorkflow.run, id=f"{REINDEX}/test", task_queue="canonry")


@contextmanager
def another(stack: Stack, engine: Engine) -> Iterator[tuple[Service, str]]:
    """Another API beside the one of the session, and the task queue on which it repairs its index."""
    eventually(lambda: bool(owners(engine)))
    before = owners(engine)
    service = start_api(stack)
    try:
        eventually(lambda: len(owners(engine) - before) == 1)
        [task_queue] = owners(engine) - before
        yield service, task_queue
    finally:
        service.kill()


@pytest.mark.long
def test_a_killed_owner_is_named_as_gone_and_the_others_are_repaired(stack: Stack, engine: Engine, api: Client) -> None:
    with another(stack, engine) as (service, task_queue):
        organization = an_organization(api)
        names = {"org_id": organization.organization_id, "user_id": organization.owner_id}
        with engine.begin() as connection:
            connection.execute(WITHOUT_EVENT, names)
        query: Json = {"query": "lighthouse"}
        assert ok(organization.owner.post("/memories/search", query))["total"] == 0
        service.kill()
        outcomes = {repair.task_queue: repair.outcome for repair in asyncio.run(reindexed(stack)).repairs}
    assert outcomes[task_queue] == "gone"
    assert "repaired" in outcomes.values()
    assert ok(organization.owner.post("/memories/search", query))["total"] == 1


def test_an_owner_that_ends_is_no_owner_any_more(stack: Stack, engine: Engine) -> None:
    with another(stack, engine) as (service, task_queue):
        assert service.stop() == 0
        assert task_queue not in owners(engine)
