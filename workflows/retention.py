from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import RetentionTurn
    from activities.retention import RetentionActivities, Step
    from workflows.patience import ASKED_AGAIN


@workflow.defn
class RetentionWorkflow:
    """Removes what is past retention; started by its schedule, and ends when nothing is left (publication.md §8)."""

    @workflow.run
    async def run(self) -> int:
        """Turn after turn; how many rows went. What a failed run left, the next one removes."""
        turn = RetentionTurn()
        while turn.step != Step.DONE:
            turn = await workflow.execute_activity_method(
                RetentionActivities.remove_expired, turn, summary=turn.step, **ASKED_AGAIN
            )
        return turn.removed
