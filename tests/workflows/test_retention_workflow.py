"""The retention workflow and its schedule, on a real Temporal."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Engine, text
from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
)

from models.settings import Settings
from tests.stack import Stack
from tests.workflows.harness import a_worker, events_of, eventually, run, scheduled, settings_for
from tests.workflows.rows import a_tenant
from workflows.ids import RETENTION
from workflows.retention import RetentionWorkflow
from workflows.schedules import make_schedules
from workflows.temporal_link import TemporalLink
from workflows.worker import activities_of

KEYS = text("select count(*) from idempotency_keys where org_id = :org_id")
OLD_KEY = text("""
    insert into idempotency_keys (org_id, user_id, method, path, key, body_hash, created_at)
    values (:org_id, 'usr', 'POST', '/x', 'k', 'h', now() - interval '8 days')
""")


async def described(client: Client) -> ScheduleDescription:
    return await client.get_schedule_handle(RETENTION).describe()


def pace_of(found: ScheduleDescription) -> tuple[Sequence[timedelta], str]:
    action = found.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    return [interval.every for interval in found.schedule.spec.intervals], action.task_queue


def test_the_schedule_is_made_once_and_follows_the_settings(stack: Stack, engine: Engine) -> None:
    hourly = settings_for(stack.temporal_address)
    daily = hourly.model_copy(update={"retention_interval_s": 86_400.0})

    async def scenario() -> None:
        async with a_worker(hourly, activities_of(engine, hourly)) as client:
            for settings, hours in ((hourly, 1), (hourly, 1), (daily, 24)):
                await make_schedules(client, settings)
                assert pace_of(await described(client)) == ([timedelta(hours=hours)], hourly.task_queue)

    run(scenario())


def test_a_schedule_that_an_operator_paused_stays_paused(stack: Stack, engine: Engine) -> None:
    settings = settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)) as client:
            await make_schedules(client, settings)
            await client.get_schedule_handle(RETENTION).pause()
            await make_schedules(client, settings.model_copy(update={"retention_interval_s": 7_200.0}))
            found = await described(client)
            assert found.schedule.state.paused
            assert pace_of(found)[0] == [timedelta(hours=2)]
            await client.get_schedule_handle(RETENTION).delete()

    run(scenario())


def test_a_run_of_the_schedule_removes_what_is_past_retention(stack: Stack, engine: Engine) -> None:
    settings, tenant = settings_for(stack.temporal_address), a_tenant(engine)

    def keys() -> int:
        with engine.connect() as connection:
            return int(connection.execute(KEYS, {"org_id": tenant.org_id}).scalar_one())

    with engine.begin() as connection:
        connection.execute(OLD_KEY, {"org_id": tenant.org_id})
    assert keys() == 1

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)) as client:
            await make_schedules(client, settings)
            await client.get_schedule_handle(RETENTION).trigger()

            async def left() -> int:
                return keys()

            await eventually(left, lambda number: number == 0)
            (started,) = (await described(client)).info.recent_actions
            assert isinstance(started.action, ScheduleActionExecutionStartWorkflow)
            assert await client.get_workflow_handle(started.action.workflow_id).result() >= 1
            await client.get_schedule_handle(RETENTION).delete()

    run(scenario())


def test_a_run_goes_turn_after_turn_until_nothing_is_left(stack: Stack, engine: Engine) -> None:
    settings = settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)) as client:
            name = f"{RETENTION}/{settings.task_queue}"
            await client.execute_workflow(RetentionWorkflow.run, id=name, task_queue=settings.task_queue)
            assert set(scheduled(await events_of(client, name))) == {"remove_expired"}

    run(scenario())


def test_a_process_that_finds_an_empty_temporal_makes_the_schedule_there(stack: Stack) -> None:
    settings: Settings = settings_for(stack.temporal_address)

    async def scenario() -> None:
        link = TemporalLink(settings)
        assert await link.reach()
        async with a_worker(settings, []) as client:
            assert pace_of(await described(client))[1] == settings.task_queue
            await client.get_schedule_handle(RETENTION).delete()

    run(scenario())
