import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.index_owners import IndexOwnerActivities
    from activities.messages import IndexRepair, IndexRepairs, RepairTurn
    from workflows.ids import REPAIR_INDEX
    from workflows.patience import ASKED_AGAIN, OF_AN_OWNER


@workflow.defn
class ReindexWorkflow:
    """Has every process hold its search index against Postgres; started by its schedule (memory.md §4)."""

    @workflow.run
    async def run(self) -> IndexRepairs:
        """All owners at once; one that is gone holds up none of the others."""
        owners = await workflow.execute_activity_method(IndexOwnerActivities.list_index_owners, **ASKED_AGAIN)
        repairs = await asyncio.gather(*(self._repair(task_queue) for task_queue in owners.task_queues))
        return IndexRepairs(repairs=tuple(repairs))

    async def _repair(self, task_queue: str) -> IndexRepair:
        """Turn after turn, by the process that has the index; what is begun by one that ends, its next start reads."""
        turn = RepairTurn()
        outcome = "repaired"
        try:
            while not turn.finished:
                turn = await workflow.execute_activity(
                    REPAIR_INDEX, turn, task_queue=task_queue, result_type=RepairTurn, **OF_AN_OWNER
                )
        except ActivityError:
            outcome = "gone"
        return IndexRepair(
            task_queue=task_queue,
            outcome=outcome if turn.ready else "rebuilding",
            compared=turn.compared,
            added=turn.added,
            removed=turn.removed,
        )
