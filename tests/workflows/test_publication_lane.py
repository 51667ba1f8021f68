import asyncio

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from models.settings import Settings
from tests.workflows.desks import Press, ReviewDesk
from tests.workflows.harness import (
    a_merge,
    a_name,
    a_refresh,
    a_worker,
    events_of,
    eventually,
    run,
    scheduled,
    settings_for,
    until,
)
from workflows.ids import publication_workflow_id, review_workflow_id
from workflows.publication_lane import PublicationLane
from workflows.signals import send


def some_operations(count: int) -> list[str]:
    return [f"opn_{number:03}" for number in range(count)]


async def enqueue(client: Client, settings: Settings, org_id: str, *operation_ids: str) -> None:
    for operation_id in operation_ids:
        await send(client, a_merge(org_id, operation_id), settings)


def lane_of(client: Client, org_id: str) -> WorkflowHandle[PublicationLane, None]:
    return client.get_workflow_handle_for(PublicationLane.run, publication_workflow_id(org_id))


async def run_id_of(client: Client, org_id: str) -> str:
    description = await client.get_workflow_handle(publication_workflow_id(org_id)).describe()
    return description.run_id or ""


def test_merges_are_published_in_their_order_of_arrival(temporal: str) -> None:
    press, settings, ids = Press(), settings_for(temporal), some_operations(20)

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, a_name("org"), *ids)
            await until(lambda: len(press.asked) >= len(ids))

    run(scenario())
    assert press.asked == ids


def test_the_first_merge_is_handed_over_in_the_first_workflow_task(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal), a_name("org")

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_1")
            await until(lambda: bool(press.asked))
            events = await events_of(client, publication_workflow_id(org_id))
            types = [event.WhichOneof("attributes") for event in events[:6]]
            assert types == [
                "workflow_execution_started_event_attributes",
                "workflow_execution_signaled_event_attributes",
                "workflow_task_scheduled_event_attributes",
                "workflow_task_started_event_attributes",
                "workflow_task_completed_event_attributes",
                "activity_task_scheduled_event_attributes",
            ]

    run(scenario())


def test_what_arrives_during_a_batch_makes_the_next_ones_of_the_set_size(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal, lane_batch_size=4), a_name("org")
    press.gate.clear()

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_first")
            await until(lambda: bool(press.asked))
            await enqueue(client, settings, org_id, *some_operations(6))
            press.gate.set()
            await until(lambda: len(press.asked) >= 7)

    run(scenario())
    assert [len(batch) for batch in press.batches] == [1, 4, 2]


def test_a_merge_that_waits_or_is_in_hand_is_not_taken_twice(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal), a_name("org")
    press.gate.clear()

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_in_hand")
            await until(lambda: bool(press.asked))
            await enqueue(client, settings, org_id, "opn_in_hand", "opn_waits", "opn_waits", "opn_in_hand", "opn_last")
            press.gate.set()
            await until(lambda: "opn_last" in press.asked)

    run(scenario())
    assert press.asked == ["opn_in_hand", "opn_waits", "opn_last"]


def test_what_a_batch_leaves_over_keeps_its_place(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal, lane_batch_size=2), a_name("org")
    press.gate.clear()
    press.leaves = {"opn_001": 2}

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_first")
            await until(lambda: bool(press.asked))
            await enqueue(client, settings, org_id, *some_operations(4))
            press.gate.set()
            await until(lambda: "opn_003" in press.asked)

    run(scenario())
    assert press.batches == [("opn_first",), ("opn_000", "opn_001"), ("opn_001", "opn_002"), ("opn_001", "opn_003")]


def test_a_batch_of_which_nothing_moves_is_tried_again_after_a_durable_pause(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal), a_name("org")
    press.leaves = {"opn_1": 2}

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_1")
            await until(lambda: len(press.asked) >= 3)
            events = await events_of(client, publication_workflow_id(org_id))
            timers = [event for event in events if event.HasField("timer_started_event_attributes")]
            assert len(timers) == 2

    run(scenario())


def test_the_lane_continues_as_new_and_loses_nothing_while_merges_keep_arriving(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal, lane_batch_size=3, lane_max_batches=2), a_name("org")
    ids = some_operations(24)  # the server delays a run that follows one of less than a second

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            runs = set()
            for operation_id in ids:
                await enqueue(client, settings, org_id, operation_id)
                runs.add(await run_id_of(client, org_id))
            await until(lambda: set(press.asked) >= set(ids))
            assert len(runs) >= 3
            lane = lane_of(client, org_id)
            await eventually(lambda: lane.query(PublicationLane.pending), lambda waiting: waiting == [])

    run(scenario())
    assert press.asked == ids


def test_the_lane_continues_as_new_with_what_still_waits(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal, lane_batch_size=2, lane_max_batches=1), a_name("org")
    press.gate.clear()

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_first")
            await until(lambda: bool(press.asked))
            first = await run_id_of(client, org_id)
            await enqueue(client, settings, org_id, *some_operations(3))
            press.gate.set()
            await until(lambda: len(press.asked) >= 4)
            [last] = (await events_of(client, publication_workflow_id(org_id), first))[-1:]
            [state] = last.workflow_execution_continued_as_new_event_attributes.input.payloads
            assert state.data.count(b'"opn_') == 3

    run(scenario())
    assert press.batches == [("opn_first",), ("opn_000", "opn_001"), ("opn_002",)]


def test_the_lane_continues_as_new_when_the_server_suggests_it(hasty_temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(hasty_temporal), a_name("org")

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_first")
            first = await run_id_of(client, org_id)
            for operation_id in some_operations(12):
                await enqueue(client, settings, org_id, operation_id)
                await until(lambda: press.asked[-1:] == [operation_id])  # noqa: B023  (awaited within the turn)
            assert await run_id_of(client, org_id) != first

    run(scenario())
    assert press.asked == ["opn_first", *some_operations(12)]


def test_reviews_of_a_batch_are_told_to_refresh_and_one_without_a_workflow_is_ignored(temporal: str) -> None:
    press, desk, settings, org_id = Press(), ReviewDesk(), settings_for(temporal), a_name("org")
    live, lost = a_name("rev"), a_name("rev")
    press.reviews_of = {"opn_1": lost, "opn_2": live}

    async def scenario() -> None:
        async with a_worker(settings, [press.publish, desk.perform_review_command, desk.read_review]) as client:
            await send(client, a_refresh(live), settings)
            await until(lambda: desk.reads == 1)
            await enqueue(client, settings, org_id, "opn_1", "opn_2", "opn_3")
            await until(lambda: desk.reads == 2 and "opn_3" in press.asked)
            lane = await client.get_workflow_handle(publication_workflow_id(org_id)).describe()
            assert lane.status is WorkflowExecutionStatus.RUNNING
            events = await events_of(client, review_workflow_id(live))
            assert scheduled(events) == ["read_review", "read_review"]

    run(scenario())


def test_the_query_pending_shows_what_is_not_done_in_order(temporal: str) -> None:
    press, settings, org_id = Press(), settings_for(temporal), a_name("org")
    press.gate.clear()

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await enqueue(client, settings, org_id, "opn_1", "opn_2", "opn_3")
            lane = lane_of(client, org_id)
            waiting = await eventually(lambda: lane.query(PublicationLane.pending), lambda ids: len(ids) == 3)
            press.gate.set()
            assert waiting == ["opn_1", "opn_2", "opn_3"]

    run(scenario())


def test_lanes_of_two_organizations_do_not_wait_for_each_other(temporal: str) -> None:
    press, settings = Press(), settings_for(temporal)
    press.gate.clear()

    async def scenario() -> None:
        async with a_worker(settings, [press.publish]) as client:
            await asyncio.gather(
                enqueue(client, settings, a_name("org"), "opn_one"), enqueue(client, settings, a_name("org"), "opn_two")
            )
            await until(lambda: len(press.batches) == 2)
            press.gate.set()

    run(scenario())
    assert sorted(press.asked) == ["opn_one", "opn_two"]
