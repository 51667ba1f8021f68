import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowHandle

from models.settings import Settings
from models.store.operations import OperationKind
from tests.workflows.desks import MISSING, OPEN, REFUSED, UNFINISHED, ReviewDesk, with_status
from tests.workflows.harness import (
    a_name,
    a_refresh,
    a_review_command,
    a_worker,
    events_of,
    eventually,
    run,
    scheduled,
    settings_for,
    until,
)
from workflows.ids import review_workflow_id
from workflows.patience import DUE_AGAIN
from workflows.review import ReviewWorkflow
from workflows.signals import send


def handle_of(client: Client, review_id: str) -> WorkflowHandle[ReviewWorkflow, None]:
    return client.get_workflow_handle_for(ReviewWorkflow.run, review_workflow_id(review_id))


async def command(client: Client, settings: Settings, review_id: str, *operation_ids: str) -> None:
    for operation_id in operation_ids:
        await send(client, a_review_command(review_id, operation_id), settings)


async def ended(client: Client, review_id: str) -> WorkflowExecution:
    return await eventually(
        handle_of(client, review_id).describe,
        lambda description: description.status is not WorkflowExecutionStatus.RUNNING,
    )


async def found(client: Client, query: str) -> list[str]:
    return [execution.id async for execution in client.list_workflows(query)]


def test_commands_are_carried_out_in_order_and_the_row_is_read_after_each(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    gate = desk.hold("opn_1")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1", "opn_2", "opn_3")
            gate.set()
            await until(lambda: len(desk.calls) >= 6)

    run(scenario())
    assert desk.calls == ["opn_1", "read", "opn_2", "read", "opn_3", "read"]


def test_the_first_command_is_handed_over_in_the_first_workflow_task(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 1)
            events = await events_of(client, review_workflow_id(review_id))
            assert scheduled(events) == ["perform_review_command", "read_review"]
            [first, *_] = [event for event in events if event.HasField("activity_task_scheduled_event_attributes")]
            completed = [
                event.event_id for event in events if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
            ]
            assert first.activity_task_scheduled_event_attributes.workflow_task_completed_event_id == completed[0]

    run(scenario())


def test_a_command_that_waits_or_is_in_hand_is_not_taken_twice(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    gate = desk.hold("opn_1")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.commands == ["opn_1"])
            await command(client, settings, review_id, "opn_1", "opn_2", "opn_2", "opn_1", "opn_3")
            gate.set()
            await until(lambda: "opn_3" in desk.commands)

    run(scenario())
    assert desk.commands == ["opn_1", "opn_2", "opn_3"]


def test_a_command_without_an_outcome_is_tried_again_before_the_next(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    desk.outcomes["opn_1"] = [UNFINISHED, UNFINISHED]
    gate = desk.hold("opn_1")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1", "opn_2")
            gate.set()
            await until(lambda: "opn_2" in desk.commands)
            events = await events_of(client, review_workflow_id(review_id))
            assert sum(event.HasField("timer_started_event_attributes") for event in events) == 2

    run(scenario())
    assert desk.commands == ["opn_1", "opn_1", "opn_1", "opn_2"]


def test_without_a_command_it_starts_from_the_row(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(with_status("approved")), settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await send(client, a_refresh(review_id), settings)
            await until(lambda: desk.reads == 1)
            query = f'ReviewId = "{review_id}" and ReviewStatus = "approved"'
            await eventually(lambda: found(client, query), bool)

    run(scenario())
    assert desk.calls == ["read"]


def test_a_command_after_the_history_is_gone_starts_it_again(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 1)
            await handle_of(client, review_id).terminate()
            await command(client, settings, review_id, "opn_2")
            await until(lambda: desk.reads == 2)
            description = await handle_of(client, review_id).describe()
            assert description.status is WorkflowExecutionStatus.RUNNING

    run(scenario())
    assert desk.commands == ["opn_1", "opn_2"]


@pytest.mark.parametrize("status", ["withdrawn", "merged"])
def test_it_ends_with_its_review(temporal: str, status: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 1)
            desk.view = with_status(status)
            await handle_of(client, review_id).signal(ReviewWorkflow.refresh)
            assert (await ended(client, review_id)).status is WorkflowExecutionStatus.COMPLETED

    run(scenario())


def test_it_ends_when_its_first_command_is_refused(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(MISSING), settings_for(temporal), a_name("rev")
    desk.outcomes["opn_1"] = [REFUSED]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            assert (await ended(client, review_id)).status is WorkflowExecutionStatus.COMPLETED
            await eventually(lambda: found(client, f'ReviewId = "{review_id}" and ReviewStatus = "none"'), bool)

    run(scenario())


def test_it_goes_on_when_a_later_command_is_refused(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    desk.outcomes["opn_2"] = [REFUSED]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1", "opn_2")
            await until(lambda: desk.commands == ["opn_1", "opn_2"] and desk.reads == 2)
            description = await handle_of(client, review_id).describe()
            assert description.status is WorkflowExecutionStatus.RUNNING

    run(scenario())


def test_a_command_for_an_ended_review_is_still_given_its_outcome(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(with_status("merged")), settings_for(temporal), a_name("rev")
    desk.outcomes["opn_2"] = [REFUSED]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await ended(client, review_id)
            await command(client, settings, review_id, "opn_2")
            await until(lambda: desk.commands == ["opn_1", "opn_2"])
            await ended(client, review_id)

    run(scenario())


def test_a_command_that_arrives_while_it_ends_is_not_lost(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(with_status("merged")), settings_for(temporal), a_name("rev")
    ids = [f"opn_{number:02}" for number in range(15)]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, *ids)
            await until(lambda: set(desk.commands) == set(ids))

    run(scenario())


def test_a_timer_is_run_when_it_is_due_and_the_row_read_again(temporal: str) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=2)
    desk = ReviewDesk(OPEN.model_copy(update={"next_timer_at": soon}))
    desk.views_after["timers"] = OPEN
    settings, review_id = settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 2)

    run(scenario())
    assert desk.calls == ["opn_1", "read", "timers", "read"]
    (due,) = desk.timers
    assert due.now >= soon
    assert (due.org_id, due.review_id, due.publication_workflow_id) == ("org_1", review_id, "publication/org_1")


def test_a_timer_that_stays_due_is_not_run_again_at_once(temporal: str) -> None:
    past = datetime.now(UTC) - timedelta(seconds=2)
    desk = ReviewDesk(OPEN.model_copy(update={"next_timer_at": past}))
    settings, review_id = settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 2)
            await handle_of(client, review_id).signal(ReviewWorkflow.refresh)
            await until(lambda: desk.reads == 3)

    run(scenario())
    assert desk.calls == ["opn_1", "read", "timers", "read", "read"]


def test_a_command_goes_before_a_timer_that_is_due(temporal: str) -> None:
    past = datetime.now(UTC) - timedelta(seconds=2)
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    desk.views_after = {
        "opn_1": OPEN.model_copy(update={"next_timer_at": past}),
        "timers": OPEN,
    }
    gate = desk.hold("opn_1")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await command(client, settings, review_id, "opn_1", "opn_2")
            gate.set()
            await until(lambda: desk.reads == 3)

    run(scenario())
    assert desk.calls == ["opn_1", "read", "opn_2", "read", "timers", "read"]


def test_a_timer_that_keeps_breaking_down_is_given_up_for_a_while_and_holds_no_command_up(temporal: str) -> None:
    past = datetime.now(UTC) - timedelta(seconds=2)
    desk = ReviewDesk(OPEN.model_copy(update={"next_timer_at": past}))
    desk.failures = 100
    settings, review_id = settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_refresh(review_id), settings)
            await until(lambda: "timers" in desk.calls)
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 2)

    run(scenario())
    assert desk.calls == ["read", *["timers"] * 4, "opn_1", "read"]


def test_a_timer_that_broke_down_is_run_again_however_often_the_row_is_told_meanwhile(temporal: str) -> None:
    past = datetime.now(UTC) - timedelta(seconds=2)
    desk = ReviewDesk(OPEN.model_copy(update={"next_timer_at": past}))
    desk.failures = 4
    settings, review_id = settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_refresh(review_id), settings)
            await until(lambda: desk.calls.count("timers") == 4)
            async with asyncio.timeout(DUE_AGAIN.total_seconds() + 10):
                while desk.calls.count("timers") < 5:
                    await handle_of(client, review_id).signal(ReviewWorkflow.refresh)
                    await asyncio.sleep(1)

    run(scenario())


def test_a_refresh_during_a_read_has_the_row_read_again(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    gate = desk.hold("read")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 1)
            desk.view = with_status("rejected")
            await handle_of(client, review_id).signal(ReviewWorkflow.refresh)
            gate.set()
            await eventually(lambda: found(client, f'ReviewId = "{review_id}" and ReviewStatus = "rejected"'), bool)

    run(scenario())


def test_operators_find_a_review_by_each_attribute_and_see_its_title(temporal: str) -> None:
    desk, settings = ReviewDesk(), settings_for(temporal)
    org_id, review_id, project_id = a_name("org"), a_name("rev"), a_name("prj")
    desk.view = OPEN.model_copy(update={"project_id": project_id, "title": "A better title"})

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await send(client, a_review_command(review_id, "opn_1", org_id=org_id), settings)
            wanted = [review_workflow_id(review_id)]
            for query in (
                f'OrganizationId = "{org_id}"',
                f'ProjectId = "{project_id}"',
                f'ReviewId = "{review_id}"',
                f'OrganizationId = "{org_id}" and ReviewStatus = "open"',
            ):
                assert await eventually(lambda: found(client, query), bool) == wanted  # noqa: B023  (awaited here)
            description = await handle_of(client, review_id).describe()
            assert await description.memo() == {"title": "A better title"}
            assert await description.static_summary() == "Deployment notes"

    run(scenario())


def test_a_transition_is_shown_once_and_nothing_is_written_without_one(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            handle = handle_of(client, review_id)
            await command(client, settings, review_id, "opn_1")
            await until(lambda: desk.reads == 1)
            await handle.signal(ReviewWorkflow.refresh)
            await until(lambda: desk.reads == 2)
            desk.view = with_status("approved")
            await handle.signal(ReviewWorkflow.refresh)
            await eventually(lambda: found(client, f'ReviewId = "{review_id}" and ReviewStatus = "approved"'), bool)
            events = await events_of(client, review_workflow_id(review_id))
            written = EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
            assert sum(event.event_type == written for event in events) == 2

    run(scenario())


def test_the_query_step_tells_what_it_does_now(temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(temporal), a_name("rev")
    gate = desk.hold("opn_1")

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            handle = handle_of(client, review_id)
            await send(client, a_review_command(review_id, "opn_1", OperationKind.DECIDE), settings)
            await eventually(lambda: handle.query(ReviewWorkflow.step), lambda step: step == "review.decide opn_1")
            gate.set()
            await eventually(lambda: handle.query(ReviewWorkflow.step), lambda step: step == "open")

    run(scenario())


def test_a_long_life_continues_as_new_and_loses_no_command(hasty_temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(hasty_temporal), a_name("rev")
    ids = [f"opn_{number:02}" for number in range(12)]

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, ids[0])
            first = (await handle_of(client, review_id).describe()).run_id
            await command(client, settings, review_id, *ids[1:])
            await until(lambda: len(desk.commands) >= len(ids))
            second = await eventually(handle_of(client, review_id).describe, lambda now: now.run_id != first)
            assert await second.memo() == {"title": OPEN.title}

    run(scenario())
    assert desk.commands == ids


def test_a_command_that_never_gets_an_outcome_continues_as_new_with_it(hasty_temporal: str) -> None:
    desk, settings, review_id = ReviewDesk(), settings_for(hasty_temporal), a_name("rev")
    desk.outcomes["opn_1"] = [UNFINISHED] * 5

    async def scenario() -> None:
        async with a_worker(settings, [desk.perform_review_command, desk.read_review]) as client:
            await command(client, settings, review_id, "opn_1")
            first = (await handle_of(client, review_id).describe()).run_id
            await eventually(handle_of(client, review_id).describe, lambda now: now.run_id != first)
            await until(lambda: len(desk.commands) >= 6)

    run(scenario())
    assert set(desk.commands) == {"opn_1"}
