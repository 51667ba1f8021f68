from temporalio.client import Client, WorkflowExecutionStatus

from tests.workflows.desks import UNFINISHED, SelectionDesk
from tests.workflows.harness import a_name, a_selection, a_worker, eventually, run, settings_for, until
from workflows.ids import projection_workflow_id
from workflows.signals import send


async def completed(client: Client, project_id: str) -> str:
    description = await eventually(
        client.get_workflow_handle(projection_workflow_id(project_id)).describe,
        lambda description: description.status is WorkflowExecutionStatus.COMPLETED,
    )
    return description.run_id or ""


def test_changes_are_carried_out_in_order_and_then_it_ends(temporal: str) -> None:
    desk, settings, project_id = SelectionDesk(), settings_for(temporal), a_name("prj")
    desk.gates["opn_1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            for operation_id in ("opn_1", "opn_2", "opn_2", "opn_1", "opn_3"):
                await send(client, a_selection(project_id, operation_id), settings)
            desk.gates["opn_1"].set()
            await completed(client, project_id)

    run(scenario())
    assert desk.calls == ["opn_1", "opn_2", "opn_3"]


def test_the_next_change_starts_it_again(temporal: str) -> None:
    desk, settings, project_id = SelectionDesk(), settings_for(temporal), a_name("prj")

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            await send(client, a_selection(project_id, "opn_1"), settings)
            first = await completed(client, project_id)
            await send(client, a_selection(project_id, "opn_2"), settings)
            await until(lambda: desk.calls == ["opn_1", "opn_2"])
            assert await completed(client, project_id) != first

    run(scenario())


def test_changes_that_arrive_while_it_ends_are_not_lost(temporal: str) -> None:
    desk, settings, project_id = SelectionDesk(), settings_for(temporal), a_name("prj")
    ids = [f"opn_{number:02}" for number in range(20)]

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            for operation_id in ids:
                await send(client, a_selection(project_id, operation_id), settings)
            await until(lambda: set(desk.calls) == set(ids))

    run(scenario())


def test_a_change_without_an_outcome_is_tried_again(temporal: str) -> None:
    desk, settings, project_id = SelectionDesk(), settings_for(temporal), a_name("prj")
    desk.outcomes["opn_1"] = [UNFINISHED, UNFINISHED]

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            await send(client, a_selection(project_id, "opn_1"), settings)
            await completed(client, project_id)

    run(scenario())
    assert desk.calls == ["opn_1"] * 3


def test_a_long_history_continues_as_new_with_the_change_in_hand(hasty_temporal: str) -> None:
    desk, settings, project_id = SelectionDesk(), settings_for(hasty_temporal), a_name("prj")
    desk.outcomes["opn_1"] = [UNFINISHED] * 5

    async def scenario() -> None:
        async with a_worker(settings, [desk.replace_selection]) as client:
            await send(client, a_selection(project_id, "opn_1"), settings)
            first = (await client.get_workflow_handle(projection_workflow_id(project_id)).describe()).run_id
            assert await completed(client, project_id) != first

    run(scenario())
    assert desk.calls == ["opn_1"] * 6
