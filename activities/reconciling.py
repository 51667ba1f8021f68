"""The reconciliation workflow's activities: a Draft's own commands, and its pass after a publication."""

from collections.abc import Callable, Mapping

from sqlalchemy import Engine
from temporalio import activity

from activities.boundary import carry_out
from activities.catching_up import after_publication
from activities.messages import Command, CommandOutcome, DraftAddress
from activities.reconciliation import rebase, reconcile
from models.identifiers import DraftId, OrganizationId
from models.schemas.drafts import DraftBody
from models.schemas.reconciliation import CandidateBody
from models.store.operations import OperationKind, StoredOperation
from models.store.transaction import Transaction
from models.store.unreconciled import release

HANDLERS: Mapping[OperationKind, Callable[[Transaction, StoredOperation], CandidateBody | DraftBody]] = {
    OperationKind.RECONCILE: reconcile,
    OperationKind.REBASE: rebase,
}


def perform(tx: Transaction, operation: StoredOperation) -> CandidateBody | DraftBody:
    """Carry out a Draft's command by its kind."""
    return HANDLERS[operation.kind](tx, operation)


class ReconciliationActivities:
    """The reconciliation workflow's activities, on one process's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @activity.defn(no_thread_cancel_exception=True)
    def perform_draft_command(self, command: Command) -> CommandOutcome:
        """Make a candidate, or rebase onto one."""
        return carry_out(self._engine, command, perform)

    @activity.defn(no_thread_cancel_exception=True)
    def follow_publication(self, address: DraftAddress) -> None:
        """Bring a Draft that fell behind up to date where its result stays equal, else keep a fresh candidate.

        A pass that something else outran is asked for again at once, one that breaks down when its claim ends.
        """
        org_id, draft_id = OrganizationId(address.org_id), DraftId(address.draft_id)
        after_publication(self._engine, org_id, draft_id)
        with self._engine.begin() as connection:
            release(connection, org_id, draft_id)
