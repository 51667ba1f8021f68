"""Search indexes are held against Postgres, each by the process that keeps it, on a real Temporal and Postgres."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import psycopg
from sqlalchemy import Engine
from temporalio.client import Client, ScheduleActionStartWorkflow

from activities.messages import IndexRepair, IndexRepairs
from models.identifiers import uuid7
from models.rules.visibility import Place
from models.settings import Settings
from models.store.index_owners import IndexOwner, living_owners
from search.documents import Indexed
from search.memory_index import MemoryIndex
from tests.databases import url_of
from tests.indexes import Filled, a_document, found
from tests.rows import Somewhere, an_organization, execute
from tests.stack import Stack
from tests.structured import GLOBAL, a_connection, a_memory, saved
from tests.workflows.harness import a_worker, run, settings_for, until
from tests.workflows.owners import a_queue, an_owner, owned
from workflows.ids import REINDEX
from workflows.reindex import ReindexWorkflow
from workflows.schedules import make_schedules
from workflows.worker import activities_of


@asynccontextmanager
async def owner_and_client(
    settings: Settings, engine: Engine, index: MemoryIndex
) -> AsyncIterator[tuple[IndexOwner, Client]]:
    """An owner of an index, and a worker that has it repaired."""
    async with (
        a_worker(settings, activities_of(engine, settings)) as client,
        an_owner(settings, engine, index) as owner,
    ):
        yield owner, client


async def start(client: Client, settings: Settings) -> str:
    name = f"{REINDEX}/{settings.task_queue}"
    await client.start_workflow(ReindexWorkflow.run, id=name, task_queue=settings.task_queue)
    return name


async def repaired(client: Client, settings: Settings, owner: IndexOwner) -> IndexRepair:
    """What a whole run made of an owner's index."""
    handle = client.get_workflow_handle(await start(client, settings), result_type=IndexRepairs)
    ended: IndexRepairs = await handle.result()
    [repair] = [repair for repair in ended.repairs if repair.task_queue == owner.task_queue]
    return repair


def store(place: Somewhere, name: str, content: str, times: int = 1) -> Indexed:
    """A stored memory, as the index would have been told of it."""
    with a_connection(place) as connection:
        for _ in range(times):
            record = saved(connection, place, memory=a_memory(name, content)).record
    return a_document(place.org_id, GLOBAL, content, memory_id=record.memory_id, revision=record.revision)


def test_a_memory_too_few_and_one_too_many_are_repaired(stack: Stack, engine: Engine) -> None:
    settings, place, filled = settings_for(stack.temporal_address), an_organization(engine), Filled()
    known, lacking = store(place, "known", "lighthouse"), store(place, "lacking", "lighthouse")
    outdated = store(place, "outdated", "lighthouse", times=2)
    stray = a_document(place.org_id, Place("user", "usr_gone"), "lighthouse", memory_id=str(uuid7()))
    older = a_document(place.org_id, GLOBAL, "harbour", memory_id=outdated.memory_id, revision=1)
    filled.apply(known, older, stray)

    async def scenario() -> None:
        async with owner_and_client(settings, engine, filled.index) as (owner, client):
            repair = await repaired(client, settings, owner)
            assert (repair.outcome, repair.removed) == ("repaired", 1)
            assert repair.added >= 2  # and what other tests stored here
            again = await repaired(client, settings, owner)
            assert (again.outcome, again.added, again.removed) == ("repaired", 0, 0)

    run(scenario())
    assert sorted(found(filled.index, place, [GLOBAL], "lighthouse")) == sorted(
        [known.memory_id, lacking.memory_id, outdated.memory_id]
    )
    assert found(filled.index, place, [Place("user", "usr_gone")], "lighthouse") == []
    assert found(filled.index, place, [GLOBAL], "harbour") == []


def test_an_index_that_is_being_rebuilt_is_left_alone(stack: Stack, engine: Engine) -> None:
    settings = settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with owner_and_client(settings, engine, MemoryIndex()) as (owner, client):
            repair = await repaired(client, settings, owner)
            assert (repair.outcome, repair.compared) == ("rebuilding", 0)

    run(scenario())


def test_an_owner_that_is_gone_holds_up_none_of_the_others(stack: Stack, engine: Engine) -> None:
    settings, place, filled = settings_for(stack.temporal_address), an_organization(engine), Filled()
    lacking = store(place, "lacking", "lighthouse")

    async def scenario() -> None:
        async with owner_and_client(settings, engine, filled.index) as (_, client):
            with owned(engine, a_queue()):
                running = await start(client, settings)
                await until(lambda: found(filled.index, place, [GLOBAL], "lighthouse") == [lacking.memory_id])
                await client.get_workflow_handle(running).terminate()

    run(scenario())


def test_only_owners_that_said_so_lately_are_alive(engine: Engine) -> None:
    place, owner, killed = an_organization(engine), a_queue(), a_queue()

    def living() -> list[IndexOwner]:
        with engine.connect() as connection:
            return [each for each in living_owners(connection) if each in (owner, killed)]

    with owned(engine, killed):
        execute(
            place, "update index_owners set seen_at = now() - interval '31 s' where owner_id = :id", id=killed.owner_id
        )
        with owned(engine, owner):
            assert living() == [owner]
        assert living() == []
        with owned(engine, killed):
            assert living() == [killed]


def test_an_owner_that_was_killed_is_no_row_after_a_day(engine: Engine) -> None:
    place, owner, killed = an_organization(engine), a_queue(), a_queue()
    with owned(engine, killed):
        execute(
            place, "update index_owners set seen_at = now() - interval '25 h' where owner_id = :id", id=killed.owner_id
        )
        with owned(engine, owner), psycopg.connect(url_of(engine)) as connection:
            rows = connection.execute("select owner_id from index_owners where owner_id = %s", [killed.owner_id])
            assert rows.fetchone() is None


def test_the_schedule_follows_the_settings(stack: Stack, engine: Engine) -> None:
    settings = settings_for(stack.temporal_address, reindex_interval_s=3_600.0)

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)) as client:
            await make_schedules(client, settings)
            schedule = (await client.get_schedule_handle(REINDEX).describe()).schedule
            assert [interval.every for interval in schedule.spec.intervals] == [timedelta(hours=1)]
            assert isinstance(schedule.action, ScheduleActionStartWorkflow)
            assert (schedule.action.workflow, schedule.action.task_queue) == ("ReindexWorkflow", settings.task_queue)
            await client.get_schedule_handle(REINDEX).delete()

    run(scenario())
