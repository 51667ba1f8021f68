"""A Review's commands, and what its workflow knows of it."""

from collections.abc import Callable, Mapping

from sqlalchemy import Engine
from temporalio import activity

from activities.boundary import carry_out
from activities.decisions import decide, withdraw
from activities.messages import Command, CommandOutcome, ReviewAddress, ReviewTimers, ReviewView
from activities.submissions import resubmit, submit
from activities.timers import run_timers
from models.identifiers import OrganizationId, ReviewId
from models.schemas.reviews import ReviewBody
from models.store.operations import OperationKind, StoredOperation
from models.store.reviews import record_refresh
from models.store.transaction import Transaction

HANDLERS: Mapping[OperationKind, Callable[[Transaction, StoredOperation], ReviewBody]] = {
    OperationKind.SUBMIT: submit,
    OperationKind.RESUBMIT: resubmit,
    OperationKind.DECIDE: decide,
    OperationKind.WITHDRAW: withdraw,
}


def perform(tx: Transaction, operation: StoredOperation) -> ReviewBody:
    """Carry out a Review command by its kind."""
    return HANDLERS[operation.kind](tx, operation)


class ReviewActivities:
    """The Review workflow's activities, on one process's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @activity.defn(no_thread_cancel_exception=True)
    def perform_review_command(self, command: Command) -> CommandOutcome:
        """Submit, resubmit, decide or withdraw."""
        return carry_out(self._engine, command, perform)

    @activity.defn(no_thread_cancel_exception=True)
    def run_review_timers(self, due: ReviewTimers) -> None:
        """Do what is due of a Review's timers."""
        run_timers(self._engine, due)

    @activity.defn(no_thread_cancel_exception=True)
    def read_review(self, address: ReviewAddress) -> ReviewView:
        """Read a Review's row for its workflow, and note that the workflow has seen it."""
        with self._engine.begin() as connection:
            row = record_refresh(connection, OrganizationId(address.org_id), ReviewId(address.review_id))
        return ReviewView(exists=False) if row is None else ReviewView(exists=True, **row)
