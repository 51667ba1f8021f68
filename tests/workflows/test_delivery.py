import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.pool import QueuePool
from temporalio.client import Client

from models.database import build_engine
from models.settings import Settings
from models.store.drafts import read_draft
from models.store.locks import DraftRow
from models.store.operations import Due, OperationKind
from tests.parts import restart
from tests.stack import Stack
from tests.workflows.desks import ReviewDesk
from tests.workflows.harness import a_worker, events_of, eventually, longest_stall_s, run, settings_for, until
from tests.workflows.rows import (
    a_tenant,
    an_accepted_command,
    an_accepted_selection,
    an_accepted_submit,
    an_open_draft,
    succeeded,
)
from workflows.deliveries import Delivery
from workflows.delivery import DeliveryLoop
from workflows.due import DueReader
from workflows.ids import projection_workflow_id, reconciliation_workflow_id
from workflows.signals import send
from workflows.temporal_link import connect
from workflows.worker import activities_of

LATER_S = 600  # beyond any test: what ends before was not polled for


@contextlib.asynccontextmanager
async def delivering(engine: Engine, settings: Settings) -> AsyncIterator[DeliveryLoop]:
    loop = DeliveryLoop(engine, settings)
    task = asyncio.create_task(loop.run())
    try:
        yield loop
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def a_service(engine: Engine, settings: Settings) -> AsyncIterator[tuple[DeliveryLoop, Client]]:
    """A worker with the real activities, and a delivery loop that has reached Temporal."""
    async with a_worker(settings, activities_of(engine, settings)) as client, delivering(engine, settings) as loop:
        await until(lambda: loop.connected)
        yield loop, client


def all_succeeded(engine: Engine, dues: Sequence[Due]) -> bool:
    return all(succeeded(engine, due) for due in dues)


def mark(engine: Engine, review_id: str | None, *, changed: bool) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("update reviews set refresh_pending = :changed where review_id = :review_id"),
            {"changed": changed, "review_id": review_id},
        )


def is_marked(engine: Engine, review_id: str | None) -> bool:
    with engine.connect() as connection:
        return bool(
            connection.execute(
                text("select refresh_pending from reviews where review_id = :review_id"), {"review_id": review_id}
            ).scalar_one()
        )


def base_version(engine: Engine, draft: DraftRow) -> int:
    with engine.connect() as connection:
        found = read_draft(connection, draft.org_id, draft.draft_id)
    assert found is not None
    assert (found.version, found.updated_at) == (draft.version, draft.updated_at)
    return found.base_version


def waiting_claims(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(
            connection.execute(
                text("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%with due%'")
            ).scalar_one()
        )


def restart_temporal_empty(stack: Stack) -> None:
    """As after the loss of its disk: no histories and nothing registered."""
    stack.lose_temporal_store()
    stack.temporal.options = replace(stack.temporal.options, search_attributes={})
    restart(stack.temporal)


def test_a_fresh_operation_needs_no_poll(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with a_service(engine, settings) as (loop, _):
            due = an_accepted_selection(engine, tenant, redeliver_after_s=LATER_S)
            await asyncio.to_thread(loop.deliver, due)
            await until(lambda: all_succeeded(engine, [due]))

    run(scenario())


def test_an_operation_whose_first_delivery_was_lost_is_found_in_the_database(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    due = an_accepted_selection(engine, tenant, redeliver_after_s=1)

    async def scenario() -> None:
        async with a_service(engine, settings):
            await until(lambda: all_succeeded(engine, [due]))

    run(scenario())


def test_delivering_before_the_loop_runs_and_after_it_ended_is_harmless(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    due = an_accepted_selection(engine, tenant)
    loop = DeliveryLoop(engine, settings)
    loop.deliver(due)
    loop.wake()
    assert not loop.connected

    async def scenario() -> None:
        async with a_service(engine, settings) as (running, _):
            await until(lambda: all_succeeded(engine, [due]))
        running.deliver(due)

    run(scenario())


def test_a_loop_that_ended_can_run_again(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    loop = DeliveryLoop(engine, settings)

    async def run_until(holds: Callable[[], bool]) -> None:
        task = asyncio.create_task(loop.run())
        await until(holds)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)):
            await run_until(lambda: loop.connected)
            due = an_accepted_selection(engine, tenant)
            await run_until(lambda: all_succeeded(engine, [due]))

    run(scenario())


def test_the_commands_of_one_review_arrive_in_their_order(stack: Stack, engine: Engine) -> None:
    tenant, settings, desk = a_tenant(engine), settings_for(stack.temporal_address), ReviewDesk()
    dues = [
        an_accepted_command(engine, tenant, OperationKind.DECIDE, f"rev_{tenant.org_id}", {"number": number})
        for number in range(8)
    ]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]), delivering(engine, settings):
            await until(lambda: len(desk.commands) >= len(dues))

    run(scenario())
    assert desk.commands == [due.operation_id for due in dues]


def test_an_operation_of_a_newer_version_is_left_to_it(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    unknown = an_accepted_selection(engine, tenant, redeliver_after_s=LATER_S)
    with engine.begin() as connection:
        connection.execute(
            text("update operations set kind = 'newer.kind', next_delivery_at = now() where operation_id = :id"),
            {"id": unknown.operation_id},
        )
    known = an_accepted_selection(engine, tenant)

    async def scenario() -> None:
        async with a_service(engine, settings):
            await until(lambda: all_succeeded(engine, [known]))

    run(scenario())


def test_a_review_that_changed_is_read_by_its_workflow_even_when_the_history_is_gone(
    stack: Stack, engine: Engine
) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    due = an_accepted_submit(engine, tenant, "Deployment notes")

    async def scenario() -> None:
        async with a_service(engine, settings) as (_, client):
            await until(lambda: all_succeeded(engine, [due]))
            await client.get_workflow_handle(due.workflow_id).terminate()
            mark(engine, due.review_id, changed=True)
            await until(lambda: not is_marked(engine, due.review_id))

    run(scenario())


def test_a_review_that_nobody_reads_is_asked_for_every_few_seconds_only(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    due = an_accepted_submit(engine, tenant, "Deployment notes")

    async def scenario() -> None:
        async with a_service(engine, settings) as (_, client):
            await until(lambda: all_succeeded(engine, [due]) and not is_marked(engine, due.review_id))
            await client.get_workflow_handle(due.workflow_id).terminate()
        mark(engine, due.review_id, changed=True)
        client = await connect(settings)
        handle = client.get_workflow_handle(due.workflow_id)
        terminated = (await handle.describe()).run_id
        async with delivering(engine, settings):
            await eventually(handle.describe, lambda description: description.run_id != terminated)
            await asyncio.sleep(3)
            events = await events_of(client, due.workflow_id)
            assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in events) == 1
        mark(engine, due.review_id, changed=False)

    run(scenario())


def test_a_frozen_temporal_holds_up_nobody_and_everything_is_delivered_afterwards(stack: Stack, engine: Engine) -> None:
    tenants, settings = [a_tenant(engine) for _ in range(20)], settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with a_service(engine, settings) as (loop, _):
            os.kill(stack.temporal.pid, signal.SIGSTOP)
            try:
                dues = [an_accepted_selection(engine, tenant, redeliver_after_s=1) for tenant in tenants]
                before = time.monotonic()
                for due in dues:
                    loop.deliver(due)
                assert time.monotonic() - before < 0.1
                assert await longest_stall_s(5) < 0.5
                assert not loop.connected
            finally:
                os.kill(stack.temporal.pid, signal.SIGCONT)
            await until(lambda: all_succeeded(engine, dues))
            assert loop.connected

    run(scenario())


def test_everything_is_delivered_again_after_temporal_lost_its_store(stack: Stack, engine: Engine) -> None:
    tenants, settings = [a_tenant(engine) for _ in range(5)], settings_for(stack.temporal_address)

    async def scenario() -> None:
        dues = [an_accepted_submit(engine, tenant, "Notes") for tenant in tenants for _ in range(4)]
        async with delivering(engine, settings):  # without a worker: delivered, and then lost with the store
            client = await connect(settings)
            last = client.get_workflow_handle(dues[-1].workflow_id)
            await eventually(last.describe, lambda description: description.run_id is not None)
        await asyncio.to_thread(restart_temporal_empty, stack)
        async with a_service(engine, settings):
            await until(lambda: all_succeeded(engine, dues))

    run(scenario())


def test_a_draft_that_fell_behind_gets_its_pass_although_temporal_lost_its_store_and_nobody_worked(
    stack: Stack, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflows.due.BEHIND_AGAIN_S", 1.0)
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    draft = an_open_draft(engine, tenant)

    async def scenario() -> None:
        submitted = an_accepted_submit(engine, tenant, "Notes")
        async with a_worker(settings, activities_of(engine, settings)) as client:
            await send(client, submitted, settings)
            await until(lambda: all_succeeded(engine, [submitted]))
            merge = an_accepted_command(
                engine, tenant, OperationKind.MERGE, submitted.review_id or "", {"expected_review_version": 1}
            )
            await send(client, merge, settings)
            await until(lambda: all_succeeded(engine, [merge]))
        async with delivering(engine, settings):  # without a worker: told, and then lost with the store
            client = await connect(settings)
            told = client.get_workflow_handle(reconciliation_workflow_id(draft.draft_id))
            await eventually(told.describe, lambda description: description.run_id is not None)
        await asyncio.to_thread(restart_temporal_empty, stack)
        async with a_service(engine, settings):
            await until(lambda: base_version(engine, draft) == 1)

    run(scenario())


def test_a_store_that_is_lost_between_two_deliveries_is_noticed_by_the_next(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)

    async def scenario() -> None:
        async with a_service(engine, settings) as (loop, _):
            await asyncio.to_thread(restart_temporal_empty, stack)
            due = an_accepted_selection(engine, tenant, redeliver_after_s=LATER_S)
            loop.deliver(due)
            await until(lambda: all_succeeded(engine, [due]))

    run(scenario())


def test_a_lost_database_is_reported_once_and_deliveries_resume(
    stack: Stack, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    caplog.set_level("INFO", "canonry.delivery")

    async def scenario() -> None:
        async with a_service(engine, settings) as (loop, _):
            due = an_accepted_selection(engine, tenant, redeliver_after_s=2)
            stack.kill_postgres()
            await asyncio.sleep(4)
            assert loop.connected
            await asyncio.to_thread(restart, stack.postgres)
            await until(lambda: all_succeeded(engine, [due]))

    run(scenario())
    messages = [record.getMessage() for record in caplog.records if record.name == "canonry.delivery"]
    assert sum("the database does not answer" in message for message in messages) == 1
    assert sum("the database answers again" in message for message in messages) == 1


def test_drafts_that_cannot_be_claimed_hold_no_operation_up(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), Settings(lock_timeout_ms=100)
    due = an_accepted_selection(engine, tenant)
    pool = build_engine(stack.database_url, settings, pool_size=1, application_name="canonry-test")

    async def read() -> Sequence[Delivery]:
        async with DueReader(pool, settings) as reader:
            return await reader.read()

    with engine.begin() as busy:
        busy.execute(text("lock table drafts in access exclusive mode"))
        found = run(read())
    pool.dispose()
    assert due.operation_id in {each.operation_id for each in found if isinstance(each, Due)}


def test_a_slow_database_is_asked_once_at_a_time_and_holds_up_no_event_loop(stack: Stack, engine: Engine) -> None:
    tenant, settings = a_tenant(engine), settings_for(stack.temporal_address)
    due = an_accepted_selection(engine, tenant)

    async def scenario() -> None:
        async with a_worker(settings, activities_of(engine, settings)):
            with engine.connect() as blocker:
                blocker.execute(text("lock table operations in access exclusive mode"))
                async with delivering(engine, settings) as loop:
                    await until(lambda: waiting_claims(engine) > 0)
                    for _ in range(20):
                        loop.wake()
                    assert await longest_stall_s(2) < 0.5
                    assert waiting_claims(engine) == 1
                    blocker.rollback()
                    await until(lambda: all_succeeded(engine, [due]))

    run(scenario())


def test_a_loop_that_ends_while_the_database_is_asked_takes_its_connection_back_first(
    stack: Stack, engine: Engine
) -> None:
    settings = settings_for(stack.temporal_address)
    pool = build_engine(stack.database_url, settings, pool_size=1, application_name="canonry-test")

    async def scenario() -> None:
        with engine.connect() as blocker:
            blocker.execute(text("lock table operations in access exclusive mode"))
            async with delivering(pool, settings):
                await until(lambda: waiting_claims(engine) > 0)
                asyncio.get_running_loop().call_later(0.3, blocker.rollback)
            assert isinstance(pool.pool, QueuePool)
            assert pool.pool.checkedout() == 0

    run(scenario())
    pool.dispose()


def test_claims_are_shared_by_all_processes(stack: Stack, engine: Engine) -> None:
    tenants = [a_tenant(engine) for _ in range(10)]
    settings = settings_for(stack.temporal_address)
    dues = [an_accepted_selection(engine, tenant) for tenant in tenants]

    async def scenario() -> None:
        async with a_service(engine, settings) as (_, client), delivering(engine, settings):
            await until(lambda: all_succeeded(engine, dues))
            for due in dues:
                events = await events_of(client, projection_workflow_id(due.project_id))
                assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in events) == 1

    run(scenario())
