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
from workflows.ids import RETENTION

# A worker that was away has one run to make up for, not one for each hour.
CATCH_UP = timedelta(minutes=1)

# By name: whoever makes a schedule need not load the workflow.
RETENTION_WORKFLOW = "RetentionWorkflow"


async def make_schedules(client: Client, settings: Settings) -> None:
    """Make the schedules that the namespace lacks, and give those it has the settings' pace and task queue.

    Safe to repeat and to run in several processes at once. What an operator has paused stays paused.

    Raises:
        RPCError: the server does not answer, or refuses.
    """
    schedule = _retention(settings)
    try:
        await client.create_schedule(RETENTION, schedule)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(RETENTION)
        await handle.update(lambda found: _changed(found, schedule))


def _retention(settings: Settings) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(RETENTION_WORKFLOW, id=RETENTION, task_queue=settings.task_queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=settings.retention_interval_s))]),
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
