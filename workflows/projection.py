from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Command, CommandOutcome
    from activities.projections import ProjectionActivities
    from workflows.commands import CommandQueue
    from workflows.patience import TRANSACTION
    from workflows.states import ProjectionState


@workflow.defn
class ProjectionWorkflow:
    """Changes of a project's selection, in order; ends when none is left (publication.md §8)."""

    @workflow.init
    def __init__(self, state: ProjectionState) -> None:
        self._state = state
        self._commands = CommandQueue(state.commands)

    @workflow.run
    async def run(self, state: ProjectionState) -> None:  # noqa: ARG002  (`__init__` keeps it)
        """Carry out what arrives; the next command starts the workflow again."""
        await self._commands.carry_out_all(self._replace)
        if self._commands:
            await self._continue_as_new()

    # A signal: the API records the command and goes on; its outcome is read from Postgres, never from here.
    @workflow.signal
    def command(self, command: Command) -> None:
        """Take a change of the selection; one that waits already is ignored."""
        self._commands.add(command)

    async def _replace(self, command: Command) -> CommandOutcome:
        return await workflow.execute_activity_method(
            ProjectionActivities.replace_selection, command, summary=command.kind, **TRANSACTION
        )

    async def _continue_as_new(self) -> None:
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._state.commands = tuple(self._commands)
        workflow.continue_as_new(self._state)
