from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.imports import ImportActivities
    from activities.messages import Command, CommandOutcome, ImportBatch, ImportStep
    from workflows.commands import CommandQueue
    from workflows.patience import TRANSACTION
    from workflows.states import ImportState


@workflow.defn
class ImportWorkflow:
    """An import from its start to its end: a plan, a Draft for each of its batches, one Review (publication.md §8).

    Every step finds out in Postgres whether it has been done, so that a workflow whose history is gone goes on where
    that one was.
    """

    @workflow.init
    def __init__(self, state: ImportState) -> None:
        self._state = state
        self._commands = CommandQueue(state.commands)
        self._step = "starting"

    @workflow.run
    async def run(self, state: ImportState) -> None:  # noqa: ARG002  (`__init__` keeps it)
        """Carry the import out; a command that arrives when it has ended starts the workflow again, and finds that."""
        await self._commands.carry_out_all(self._attempt)
        if self._commands:
            await self._continue_as_new()

    # A signal: the API records the command and goes on; its outcome is read from Postgres, never from here.
    @workflow.signal
    def command(self, command: Command) -> None:
        """Take the import's command; one that is being carried out already is ignored."""
        self._commands.add(command)

    @workflow.query
    def step(self) -> str:
        """What it does now, for operators."""
        return self._step

    async def _attempt(self, command: Command) -> CommandOutcome:
        """Go through the steps; unfinished where one has to be tried again, or the plan was overtaken."""
        at = await self._plan(command)
        while at.advanced and at.next_batch < at.batches:
            at = await self._draft(command, at)
        if not at.advanced:
            return CommandOutcome(finished=at.finished)
        return await self._finish(command)

    async def _plan(self, command: Command) -> ImportStep:
        self._at("planning")
        return await workflow.execute_activity_method(
            ImportActivities.plan_import, command, summary="plan", **TRANSACTION
        )

    async def _draft(self, command: Command, at: ImportStep) -> ImportStep:
        step = f"Draft {at.next_batch + 1} of {at.batches}"
        self._at(step)
        batch = ImportBatch(command=command, batch=at.next_batch)
        return await workflow.execute_activity_method(
            ImportActivities.draft_import_batch, batch, summary=step, **TRANSACTION
        )

    async def _finish(self, command: Command) -> CommandOutcome:
        self._at("submitting")
        return await workflow.execute_activity_method(
            ImportActivities.finish_import, command, summary="submit", **TRANSACTION
        )

    async def _continue_as_new(self) -> None:
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._state.commands = tuple(self._commands)
        workflow.continue_as_new(self._state)

    def _at(self, step: str) -> None:
        self._step = step
        workflow.set_current_details(step)
