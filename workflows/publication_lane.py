import asyncio
from collections.abc import Iterable
from itertools import islice

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.lane import PublicationActivities
    from activities.messages import Command, PublishBatch, PublishedBatch
    from workflows.ids import review_workflow_id
    from workflows.patience import FIRST_PAUSE, LONGEST_PAUSE, TRANSACTION
    from workflows.states import LaneState

# A bound on what one run carries over (2 MB a payload); the delivery loops bring the others again.
MAX_PENDING = 10_000


@workflow.defn
class PublicationLane:
    """An organization's merges, in order of arrival, in batches (publication.md §8).

    Order and fairness only: row locks are the authority, so that two lanes by accident do no harm.
    """

    @workflow.init
    def __init__(self, state: LaneState) -> None:
        self._state = state
        # A dict for its order. What is in hand stays at the front, so that re-deliveries of it are known too.
        self._pending = dict.fromkeys(state.pending)
        self._pause = FIRST_PAUSE

    @workflow.run
    async def run(self, state: LaneState) -> None:
        """Publish batch after batch; continue as new between two of them, with what still waits."""
        telling = asyncio.create_task(_refresh_all(()))
        for _ in range(state.max_batches):
            await workflow.wait_condition(lambda: bool(self._pending) or _is_long())
            if _is_long():
                break
            published = await self._publish(tuple(islice(self._pending, state.batch_size)))
            await telling
            telling = asyncio.create_task(_refresh_all(published.review_ids))
        await telling
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._state.pending = tuple(self._pending)
        workflow.continue_as_new(self._state)

    # A signal: the API records a merge and goes on; at most ten updates could be in flight, and p99 would be seconds.
    @workflow.signal
    def enqueue(self, commands: list[Command]) -> None:
        """Take merges, in order; those that wait already are ignored."""
        for command in commands:
            if len(self._pending) < MAX_PENDING:
                self._pending.setdefault(command.operation_id)

    @workflow.query
    def pending(self) -> list[str]:
        """The operations not yet done, in order, those in hand first; for operators."""
        return list(self._pending)

    async def _publish(self, batch: tuple[str, ...]) -> PublishedBatch:
        """Publish a batch; what it left over keeps its place, and is tried again after a pause if nothing moved."""
        message = PublishBatch(org_id=self._state.org_id, operation_ids=batch)
        published = await workflow.execute_activity_method(
            PublicationActivities.publish, message, summary=f"{len(batch)} merges", **TRANSACTION
        )
        left_over = set(published.remaining)
        for operation_id in batch:
            if operation_id not in left_over:
                del self._pending[operation_id]
        if len(left_over) == len(batch):
            await workflow.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        else:
            self._pause = FIRST_PAUSE
        return published


def _is_long() -> bool:
    return workflow.info().is_continue_as_new_suggested()


async def _refresh_all(review_ids: Iterable[str]) -> None:
    """Tell the workflows of changed Reviews; it runs beside the next batch."""
    await asyncio.gather(*(_refresh(review_id) for review_id in review_ids))


async def _refresh(review_id: str) -> None:
    try:
        await workflow.get_external_workflow_handle(review_workflow_id(review_id)).signal("refresh")
    except FailureError:
        # It has ended or its history is gone: the Review's row asks for a refresh until a workflow has recorded it.
        workflow.logger.debug("no workflow for %s", review_id)
