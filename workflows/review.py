import contextlib
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.messages import Command, CommandOutcome, ReviewAddress, ReviewTimers, ReviewView
    from activities.reviews import ReviewActivities
    from workflows.commands import CommandQueue
    from workflows.ids import publication_workflow_id
    from workflows.patience import ASKED_AGAIN, DUE_AGAIN, TRANSACTION
    from workflows.search_attributes import PROJECT_ID, REVIEW_STATUS
    from workflows.states import ReviewState
    from workflows.visibility import keyword

STATUS = keyword(REVIEW_STATUS)
PROJECT = keyword(PROJECT_ID)
NEVER_CREATED = "none"  # the search attribute of a Review whose first submit was refused


@workflow.defn
class ReviewWorkflow:
    """A Review's life: its commands in order, its timers, and what operators see of it (publication.md §8).

    Postgres holds the truth. A workflow whose history is gone is started again by the next command or refresh.
    """

    @workflow.init
    def __init__(self, state: ReviewState) -> None:
        self._state = state
        self._commands = CommandQueue(state.commands)
        self._refresh_wanted = False
        self._ran_for: datetime | None = None
        self._ran_at: datetime | None = None
        self._step = "starting"

    @workflow.run
    async def run(self, state: ReviewState) -> None:  # noqa: ARG002  (`__init__` keeps it)
        """Carry out what arrives until the Review is withdrawn or merged, or turns out never to have been created."""
        while True:
            # Before any read: the first command's activity belongs to the first workflow task.
            if self._commands:
                await self._commands.carry_out_first(self._perform)
            review = await self._read()
            self._show(review)
            if self._idle and (review.ended or not review.exists):
                return
            if self._idle:
                await self._wait(review)
            if workflow.info().is_continue_as_new_suggested():
                await self._continue_as_new()

    # A signal: the API records a command and goes on; its outcome is read from Postgres, never from here.
    @workflow.signal
    def command(self, command: Command) -> None:
        """Take submit, resubmit, decide or withdraw; one that waits already is ignored."""
        self._commands.add(command)

    # A signal: whoever changed the row only tells, and may tell twice.
    @workflow.signal
    def refresh(self) -> None:
        """Read the Review's row again."""
        self._refresh_wanted = True

    @workflow.query
    def step(self) -> str:
        """What it does now, for operators."""
        return self._step

    @property
    def _idle(self) -> bool:
        return not self._commands and not self._refresh_wanted

    async def _perform(self, command: Command) -> CommandOutcome:
        self._at(f"{command.kind} {command.operation_id}")
        return await workflow.execute_activity_method(
            ReviewActivities.perform_review_command, command, summary=command.kind, **TRANSACTION
        )

    async def _read(self) -> ReviewView:
        self._at("reading the Review")
        self._refresh_wanted = False
        address = ReviewAddress(org_id=self._state.org_id, review_id=self._state.review_id)
        return await workflow.execute_activity_method(
            ReviewActivities.read_review, address, summary="read the Review's row", **TRANSACTION
        )

    def _show(self, review: ReviewView) -> None:
        """Let operators find it by status and project, and see its title; each is written only when it changed."""
        status = review.status if review.exists else NEVER_CREATED
        if status != self._state.status:
            workflow.upsert_search_attributes([STATUS.value_set(status)])
            self._state.status = status
        if review.project_id not in ("", self._state.project_id):
            workflow.upsert_search_attributes([PROJECT.value_set(review.project_id)])
            self._state.project_id = review.project_id
        if review.title not in ("", self._state.title):
            workflow.upsert_memo({"title": review.title})
            self._state.title = review.title
        self._at(status)

    async def _wait(self, review: ReviewView) -> None:
        """Until a signal arrives or the Review's next timer is due; a due one is run before the row is read again."""
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(lambda: not self._idle, timeout=self._until_due(review))
        if self._idle:
            await self._run_timers(review)
            self._refresh_wanted = True

    def _until_due(self, review: ReviewView) -> timedelta | None:
        if review.next_timer_at is None:
            return None
        due_at = review.next_timer_at
        if due_at == self._ran_for and self._ran_at is not None:
            # From when they were run, not from now: an overdue row is told again and again meanwhile.
            due_at = self._ran_at + DUE_AGAIN
        return max(timedelta(), due_at - workflow.now())

    async def _run_timers(self, review: ReviewView) -> None:
        """Run what is due; what fails for an unforeseen reason stays due, and holds no command up meanwhile."""
        self._at("timers")
        self._ran_for, self._ran_at = review.next_timer_at, workflow.now()
        due = ReviewTimers(
            org_id=self._state.org_id,
            review_id=self._state.review_id,
            now=workflow.now(),
            publication_workflow_id=publication_workflow_id(self._state.org_id),
        )
        try:
            await workflow.execute_activity_method(
                ReviewActivities.run_review_timers, due, summary="timers", **ASKED_AGAIN
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("the Review's timers were not run; they are run again")

    async def _continue_as_new(self) -> None:
        await workflow.wait_condition(workflow.all_handlers_finished)
        self._state.commands = tuple(self._commands)
        workflow.continue_as_new(self._state)

    def _at(self, step: str) -> None:
        self._step = step
        workflow.set_current_details(step)
