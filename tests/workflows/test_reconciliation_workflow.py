from temporalio.client import Client, WorkflowExecutionStatus

from tests.workflows.desks import UNFINISHED, ReconciliationDesk
from tests.workflows.harness import (
    a_draft_behind,
    a_name,
    a_rebase,
    a_worker,
    eventually,
    run,
    settings_for,
    until,
)
from workflows.ids import reconciliation_workflow_id
from workflows.reconciliation import ReconciliationWorkflow
from workflows.search_attributes import ORGANIZATION_ID, PROJECT_ID
from workflows.signals import send


async def completed(client: Client, draft_id: str) -> str:
    description = await eventually(
        client.get_workflow_handle(reconciliation_workflow_id(draft_id)).describe,
        lambda description: description.status is WorkflowExecutionStatus.COMPLETED,
    )
    return description.run_id or ""


def test_commands_are_carried_out_in_order_and_then_it_ends(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.gates["opn_1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            for operation_id in ("opn_1", "opn_2", "opn_2", "opn_1", "opn_3"):
                await send(client, a_rebase(draft_id, operation_id), settings)
            desk.gates["opn_1"].set()
            await completed(client, draft_id)

    run(scenario())
    assert desk.calls == ["opn_1", "opn_2", "opn_3"]


def test_many_publications_are_one_pass_which_waits_for_what_somebody_asked(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.gates["opn_1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_rebase(draft_id, "opn_1"), settings)
            for _ in range(5):
                await send(client, a_draft_behind(draft_id), settings)
            await send(client, a_rebase(draft_id, "opn_2"), settings)
            desk.gates["opn_1"].set()
            await completed(client, draft_id)

    run(scenario())
    assert desk.calls == ["opn_1", "opn_2", "follow"]


def test_a_publication_during_the_pass_is_followed_by_another(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.gates["follow"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_draft_behind(draft_id), settings)
            await until(lambda: desk.calls == ["follow"])
            await send(client, a_draft_behind(draft_id), settings)
            desk.gates["follow"].set()
            await completed(client, draft_id)

    run(scenario())
    assert desk.calls == ["follow", "follow"]


def test_a_pass_that_keeps_breaking_down_is_given_up_and_holds_no_command_up(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.failures = 100
    desk.gates["follow"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_draft_behind(draft_id), settings)
            await until(lambda: desk.calls == ["follow"])
            await send(client, a_rebase(draft_id, "opn_1"), settings)
            desk.gates["follow"].set()
            await completed(client, draft_id)

    run(scenario())
    assert desk.calls == ["follow", "follow", "follow", "follow", "opn_1"]


def test_a_command_without_an_outcome_is_tried_again(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.outcomes["opn_1"] = [UNFINISHED]

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_rebase(draft_id, "opn_1"), settings)
            await completed(client, draft_id)

    run(scenario())
    assert desk.calls == ["opn_1", "opn_1"]


def test_a_long_history_continues_as_new_with_the_command_in_hand_and_the_pass_that_waits(hasty_temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(hasty_temporal), a_name("drf")
    desk.outcomes["opn_1"] = [UNFINISHED] * 5

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_rebase(draft_id, "opn_1"), settings)
            await send(client, a_draft_behind(draft_id), settings)
            handle = client.get_workflow_handle(reconciliation_workflow_id(draft_id))
            first = (await handle.describe()).run_id
            assert await completed(client, draft_id) != first

    run(scenario())
    assert desk.calls == ["opn_1"] * 6 + ["follow"]


def test_operators_find_it_by_organization_and_project_see_its_step_and_no_title(temporal: str) -> None:
    desk, settings, draft_id = ReconciliationDesk(), settings_for(temporal), a_name("drf")
    desk.gates["opn_1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, a_rebase(draft_id, "opn_1"), settings)
            handle = client.get_workflow_handle(reconciliation_workflow_id(draft_id))
            await eventually(
                lambda: handle.query(ReconciliationWorkflow.step), lambda step: step == "draft.rebase opn_1"
            )
            desk.gates["opn_1"].set()
            await completed(client, draft_id)
            description = await handle.describe()
            assert await description.memo() == {"draft_id": draft_id}
            found = {pair.key.name: pair.value for pair in description.typed_search_attributes}
            assert {name: found[name] for name in (ORGANIZATION_ID, PROJECT_ID)} == {
                ORGANIZATION_ID: "org_1",
                PROJECT_ID: "prj_1",
            }

    run(scenario())
