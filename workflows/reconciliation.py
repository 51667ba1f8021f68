from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.messages import Command, CommandOutcome, DraftAddress
    from activities.reconciling import ReconciliationActivities
    from workflows.commands import CommandQueue
    from workflows.patience import ASKED_AGAIN, TRANSACTION
    from workflows.states import ReconciliationState


@workflow.defn
class ReconciliationWorkflow:
    """A Draft's candidates and rebases on request, and its pass after publications (publication.md §8).

    Ends when nothing is left; the next command, or the next publication that leaves the Draft behind, starts it again.
    """

    @workflow.init
    def __init__(self, state: ReconciliationState) -> None:
        self._state = state
        self._commands = CommandQueue(state.commands)
        self._behind = state.behind
        self._step = "starting"

    @workflow.run
    async def run(self, state: ReconciliationState) -> None:  # noqa: ARG002  (`__init__` keeps it)
        """Carry out what arrives, commands first: somebody waits for them."""
        await workflow.wait_condition(lambda: not self._idle)
        while not self._idle:
            if self._commands:
                await self._commands.carry_out_first(self._perform)
            else:
                await self._follow_publication()
            if workflow.info().is_continue_as_new_suggested():
                break
        if not self._idle:
            await self._continue_as_new()

    # A signal: the API records the command and goes on; its outcome is read from Postgres, never from here.
    @workflow.signal
    def command(self, command: Command) -> None:
        """Take the making of a candidate or a rebase; one that waits already is ignored."""
        self._commands.add(command)

    # A signal: whoever found the Draft behind only tells, and many publications are told as one.
    @workflow.signal
    def fell_behind(self) -> None:
        """Compare the Draft with what has been published since its base."""
        self._behind = True

    @workflow.query
    def step(self) -> str:
        """What it does now, for operators."""
        return self._step

    @property
    def _idle(self) -> bool:
        return not self._commands and not self._behind

    async def _perform(self, command: Command) -> CommandOutcome:
        self._at(f"{command.kind} {command.operation_id}")
        return await workflow.execute_activity_method(
            ReconciliationActivities.perform_draft_command, command, summary=command.kind, **TRANSACTION
        )

    async def _follow_publication(self) -> None:
        """Compare it once; what fails for an unforeseen reason is left to the database, which asks again."""
        self._at("comparing the Draft with what was published")
        self._behind = False
        address = DraftAddress(org_id=self._state.org_id, draft_id=self._state.draft_id)
        try:
            await workflow.execute_activity_method(
                ReconciliationActivities.follow_publication, address, summary="after a publication", **ASKED_AGAIN
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("the Draft was not compared; it is asked for again")

    async def _continue_as_new(self) -> None:
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._state.commands = tuple(self._commands)
        self._state.behind = self._behind
        workflow.continue_as_new(self._state)

    def _at(self, step: str) -> None:
        self._step = step
        workflow.set_current_details(step)
