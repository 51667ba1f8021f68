"""What runs by the clock: Temporal Schedules, made or changed to what the settings say."""

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from models.settings import Settings
from workflows.ids import REINDEX, RETENTION

# A worker that was away has one run to make up for, not one for each hour.
CATCH_UP = timedelta(minutes=1)

# By name: whoever makes a schedule need not load the workflow.
RETENTION_WORKFLOW, REINDEX_WORKFLOW = "RetentionWorkflow", "ReindexWorkflow"


async def make_schedules(client: Client, settings: Settings) -> None:
    """Make the schedules that the namespace lacks, and give those it has the settings' pace and task queue.

    Safe to repeat and to run in several processes at once. What an operator has paused stays paused.

    Raises:
        RPCError: the server does not answer, or refuses.
    """
    queue = settings.task_queue
    await _make(client, RETENTION, _every(settings.retention_interval_s, RETENTION_WORKFLOW, RETENTION, queue))
    await _make(client, REINDEX, _every(settings.reindex_interval_s, REINDEX_WORKFLOW, REINDEX, queue))


async def _make(client: Client, name: str, schedule: Schedule) -> None:
    try:
        await client.create_schedule(name, schedule)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(name)
        await handle.update(lambda found: _changed(found, schedule))


def _every(seconds: float, workflow: str, name: str, task_queue: str) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(workflow, id=name, task_queue=task_queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=seconds))]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
    )


def _changed(found: ScheduleUpdateInput, wanted: Schedule) -> ScheduleUpdate | None:
    """The schedule as it is wanted, or None where it is so already."""
    present = found.description.schedule
    queue = present.action.task_queue if isinstance(present.action, ScheduleActionStartWorkflow) else None
    assert isinstance(wanted.action, ScheduleActionStartWorkflow)  # noqa: S101  (made above)
    if (present.spec.intervals, queue) == (wanted.spec.intervals, wanted.action.task_queue):
        return None
    return ScheduleUpdate(Schedule(action=wanted.action, spec=wanted.spec, policy=wanted.policy, state=present.state))
