from temporalio.client import Client, WorkflowExecutionStatus

from activities.messages import ImportStep
from tests.workflows.desks import REFUSED, UNFINISHED, ImportDesk
from tests.workflows.harness import (
    a_name,
    a_worker,
    an_import,
    events_of,
    eventually,
    run,
    scheduled,
    settings_for,
    until,
)
from workflows.ids import import_workflow_id
from workflows.search_attributes import ORGANIZATION_ID, PROJECT_ID
from workflows.signals import send
from workflows.visibility import keyword

WHOLE = ["plan", "draft 0", "draft 1", "finish"]
ENDED = ImportStep(finished=True)
TRIED = ImportStep(finished=False)


async def completed(client: Client, import_id: str) -> str:
    description = await eventually(
        client.get_workflow_handle(import_workflow_id(import_id)).describe,
        lambda description: description.status is WorkflowExecutionStatus.COMPLETED,
    )
    return description.run_id or ""


def calls_of(temporal: str, desk: ImportDesk) -> list[str]:
    """What a desk is asked until an import that it serves has ended."""
    settings, import_id = settings_for(temporal), a_name("imp")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, an_import(import_id, "opn_1"), settings)
            await completed(client, import_id)

    run(scenario())
    return desk.calls


def test_a_plan_then_a_draft_for_each_batch_then_one_submission(temporal: str) -> None:
    assert calls_of(temporal, ImportDesk()) == WHOLE


def test_an_import_of_nothing_ends_with_its_plan(temporal: str) -> None:
    desk = ImportDesk()
    desk.answers["plan"] = [ENDED]
    assert calls_of(temporal, desk) == ["plan"]


def test_a_step_in_which_the_operation_fails_is_the_last(temporal: str) -> None:
    desk = ImportDesk()
    desk.answers["draft 0"] = [ENDED]
    assert calls_of(temporal, desk) == ["plan", "draft 0"]


def test_a_submission_that_is_refused_is_the_last_step(temporal: str) -> None:
    desk = ImportDesk()
    desk.answers["finish"] = [REFUSED]
    assert calls_of(temporal, desk) == WHOLE


def test_a_plan_that_is_given_up_is_made_anew(temporal: str) -> None:
    desk = ImportDesk()
    desk.answers["draft 1"] = [TRIED]
    desk.answers["plan"] = [ImportStep(finished=False, advanced=True, batches=2, next_batch=0)] * 2
    assert calls_of(temporal, desk) == ["plan", "draft 0", "draft 1", *WHOLE]


def test_a_submission_without_an_outcome_goes_back_to_the_plan_and_repeats_no_draft(temporal: str) -> None:
    desk = ImportDesk()
    desk.answers["finish"] = [UNFINISHED]
    assert calls_of(temporal, desk) == [*WHOLE, "plan", "finish"]


def test_a_step_without_an_outcome_is_tried_again(temporal: str) -> None:
    desk = ImportDesk(batches=1)
    desk.answers["plan"] = [TRIED]
    desk.answers["draft 0"] = [TRIED]
    assert calls_of(temporal, desk) == ["plan", "plan", "draft 0", "plan", "draft 0", "finish"]


def test_where_drafts_are_there_already_it_goes_on_with_the_next(temporal: str) -> None:
    desk = ImportDesk(batches=3)
    desk.answers["plan"] = [ImportStep(finished=False, advanced=True, batches=3, next_batch=2)]
    assert calls_of(temporal, desk) == ["plan", "draft 2", "finish"]


def test_a_command_delivered_again_while_it_runs_is_ignored(temporal: str) -> None:
    desk, settings, import_id = ImportDesk(), settings_for(temporal), a_name("imp")
    desk.gates["draft 1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            due = an_import(import_id, "opn_1")
            await send(client, due, settings)
            await until(lambda: "draft 1" in desk.calls)
            await send(client, due, settings)
            desk.gates["draft 1"].set()
            await completed(client, import_id)

    run(scenario())
    assert desk.calls == WHOLE


def test_operators_find_it_by_organization_and_project_and_see_its_step(temporal: str) -> None:
    desk, settings, import_id = ImportDesk(), settings_for(temporal), a_name("imp")
    desk.gates["draft 1"].clear()

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, an_import(import_id, "opn_1"), settings)
            await until(lambda: "draft 1" in desk.calls)
            handle = client.get_workflow_handle(import_workflow_id(import_id))
            assert await handle.query("step") == "Draft 2 of 2"
            shown = (await handle.describe()).typed_search_attributes
            assert (shown[keyword(ORGANIZATION_ID)], shown[keyword(PROJECT_ID)]) == ("org_1", "prj_1")
            desk.gates["draft 1"].set()
            await completed(client, import_id)

    run(scenario())


def test_its_title_does_not_cross_temporal(temporal: str) -> None:
    desk, settings, import_id = ImportDesk(), settings_for(temporal), a_name("imp")

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, an_import(import_id, "opn_1"), settings)
            await completed(client, import_id)
            events = await events_of(client, import_workflow_id(import_id))
            assert scheduled(events) == ["plan_import", "draft_import_batch", "draft_import_batch", "finish_import"]
            assert not any(b"Notes" in event.SerializeToString() for event in events)

    run(scenario())


def test_a_long_history_continues_as_new_with_the_import_in_hand(hasty_temporal: str) -> None:
    desk, settings, import_id = ImportDesk(batches=1), settings_for(hasty_temporal), a_name("imp")
    desk.answers["finish"] = [UNFINISHED] * 3

    async def scenario() -> None:
        async with a_worker(settings, desk.activities) as client:
            await send(client, an_import(import_id, "opn_1"), settings)
            first = (await client.get_workflow_handle(import_workflow_id(import_id)).describe()).run_id
            assert await completed(client, import_id) != first

    run(scenario())
    assert desk.calls == ["plan", "draft 0", "finish", *["plan", "finish"] * 3]
