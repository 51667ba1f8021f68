"""The steps of an import as activities, each told to its workflow by numbers only."""

from functools import partial

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from temporalio import activity

from activities.boundary import Handler, carry_out, is_transient
from activities.import_steps import discard_failed, end_failed, make_draft, make_plan, make_review
from activities.messages import Command, CommandOutcome, ImportBatch, ImportStep
from models.identifiers import OperationId, OrganizationId
from models.store.import_runs import how_far
from models.store.operations import mark_running

# The Drafts last: where they cannot be discarded, the import has ended all the same.
CLEAN_UP = (end_failed, discard_failed)


class ImportActivities:
    """The import workflow's activities, on one process's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # A plan is made of several reads: at different moments, beside a merge, they would report what never was.
        self._snapshots = engine.execution_options(isolation_level="REPEATABLE READ")

    @activity.defn(no_thread_cancel_exception=True)
    def plan_import(self, command: Command) -> ImportStep:
        """Plan an import, unless it has a plan."""
        self._show_running(command)
        return self._step(self._snapshots, command, make_plan)

    @activity.defn(no_thread_cancel_exception=True)
    def draft_import_batch(self, batch: ImportBatch) -> ImportStep:
        """Make a Draft of one batch of the plan, unless it is one."""
        return self._step(self._engine, batch.command, partial(make_draft, batch=batch.batch))

    @activity.defn(no_thread_cancel_exception=True)
    def finish_import(self, command: Command) -> CommandOutcome:
        """Submit the Drafts of the plan as one Review."""
        return carry_out(self._engine, command, make_review, clean_up=CLEAN_UP)

    def _step(self, engine: Engine, command: Command, handler: Handler) -> ImportStep:
        outcome = carry_out(engine, command, handler, clean_up=CLEAN_UP, takes_coordination=False)
        if not outcome.advanced:
            return ImportStep(finished=outcome.finished)
        with self._engine.connect() as connection:
            batches, next_batch = how_far(connection, OrganizationId(command.org_id), OperationId(command.operation_id))
        return ImportStep(finished=False, advanced=batches > 0, batches=batches, next_batch=next_batch)

    def _show_running(self, command: Command) -> None:
        try:
            with self._engine.begin() as connection:
                mark_running(connection, OrganizationId(command.org_id), [command.operation_id], "plan")
        except DBAPIError as error:
            if not is_transient(error):
                raise
