import asyncio
from collections.abc import Sequence

from sqlalchemy import Engine

from models.store.operations import Due
from tests.stack import Stack
from tests.workflows.desks import Press
from tests.workflows.harness import (
    a_merge,
    a_name,
    a_refresh,
    a_review_command,
    a_worker,
    events_of,
    run,
    settings_for,
    until,
)
from workflows.deliveries import MERGES_A_SIGNAL, Delivery, next_signal
from workflows.delivery import DeliveryLoop
from workflows.ids import publication_workflow_id
from workflows.temporal_link import connect


def some_merges(org_id: str, count: int) -> list[Due]:
    return [a_merge(org_id, f"opn_{number:04}") for number in range(count)]


def test_one_signal_brings_all_merges_that_wait_up_to_a_limit() -> None:
    merges: Sequence[Delivery] = some_merges("org_1", MERGES_A_SIGNAL + 5)
    assert next_signal(merges) == merges[:MERGES_A_SIGNAL]
    assert next_signal(merges[MERGES_A_SIGNAL:]) == merges[MERGES_A_SIGNAL:]


def test_one_signal_brings_one_of_anything_else() -> None:
    command, refresh = a_review_command("rev_1", "opn_1"), a_refresh("rev_1")
    assert next_signal([command, command]) == [command]
    assert next_signal([refresh, command]) == [refresh]


def test_300_merges_wake_their_lane_a_few_times_only_and_keep_their_order(stack: Stack, engine: Engine) -> None:
    press, settings, org_id = Press(), settings_for(stack.temporal_address), a_name("org")
    merges = some_merges(org_id, 300)

    async def scenario() -> None:
        loop = DeliveryLoop(engine, settings)
        delivering = asyncio.create_task(loop.run())
        await until(lambda: loop.connected)
        for merge in merges:
            loop.deliver(merge)
        async with a_worker(settings, [press.publish]):
            await until(lambda: len(press.asked) >= len(merges))
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
        events = await events_of(await connect(settings), publication_workflow_id(org_id))
        assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in events) < 10

    run(scenario())
    assert press.asked == [merge.operation_id for merge in merges]
