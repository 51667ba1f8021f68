"""How an operation or a changed Review reaches its workflow: signal-with-start, ids only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import TypedSearchAttributes

from activities.messages import Command
from models.settings import Settings
from models.store.operations import Due, OperationKind, RefreshDue
from models.store.unreconciled import BehindDue
from workflows.deliveries import Delivery
from workflows.ids import import_workflow_id, reconciliation_workflow_id, review_workflow_id
from workflows.import_ import ImportWorkflow
from workflows.projection import ProjectionWorkflow
from workflows.publication_lane import PublicationLane
from workflows.reconciliation import ReconciliationWorkflow
from workflows.review import ReviewWorkflow
from workflows.search_attributes import ORGANIZATION_ID, PROJECT_ID, REVIEW_ID, REVIEW_STATUS
from workflows.states import ImportState, LaneState, ProjectionState, ReconciliationState, ReviewState
from workflows.visibility import attributes

STARTING = "starting"  # a Review's status for operators until its workflow has read the row


async def send(client: Client, delivery: Delivery, settings: Settings, others: Sequence[Delivery] = ()) -> None:
    """Signal the workflow that has to know, and start it if it does not run.

    Args:
        client: connected.
        delivery: what to bring.
        settings: the task queue, the time-out, the lane's limits.
        others: what the same signal brings, as `next_signal` says.

    Raises:
        RPCError: the server does not answer, or refuses.
    """
    call = _call_of(delivery, settings, others)
    await client.start_workflow(
        call.workflow.__name__,
        call.state,
        id=call.workflow_id,
        task_queue=settings.task_queue,
        start_signal=call.signal,
        start_signal_args=call.signal_arguments,
        search_attributes=call.search_attributes,
        memo=call.memo,
        static_summary=call.summary,
        rpc_timeout=timedelta(seconds=settings.delivery_timeout_s),
    )


@dataclass(frozen=True, slots=True)
class _Call:
    workflow: type
    workflow_id: str
    state: ReviewState | LaneState | ProjectionState | ImportState | ReconciliationState
    signal: str
    signal_arguments: Sequence[Command | list[Command]]
    search_attributes: TypedSearchAttributes
    summary: str
    memo: Mapping[str, str] = field(default_factory=dict)


def _call_of(delivery: Delivery, settings: Settings, others: Sequence[Delivery]) -> _Call:
    match delivery:
        case Due():
            return _command_call(delivery, settings, others)
        case RefreshDue():
            return _refresh_call(delivery)
        case BehindDue():
            state = ReconciliationState(delivery.org_id, delivery.project_id, delivery.draft_id)
            return _reconciliation_call(state, "fell_behind", [])


def _command_call(due: Due, settings: Settings, others: Sequence[Delivery]) -> _Call:
    command = _command(due)
    match OperationKind(due.kind):
        case OperationKind.MERGE:
            return _Call(
                PublicationLane,
                due.workflow_id,
                LaneState(due.org_id, batch_size=settings.lane_batch_size, max_batches=settings.lane_max_batches),
                signal="enqueue",
                signal_arguments=[[command, *(_command(other) for other in others if isinstance(other, Due))]],
                search_attributes=attributes(**{ORGANIZATION_ID: due.org_id}),
                summary=f"Publication of {due.org_id}",
            )
        case OperationKind.SELECT:
            return _Call(
                ProjectionWorkflow,
                due.workflow_id,
                ProjectionState(due.org_id, due.project_id),
                signal="command",
                signal_arguments=[command],
                search_attributes=attributes(**{ORGANIZATION_ID: due.org_id, PROJECT_ID: due.project_id}),
                summary=f"Selection of {due.project_id}",
            )
        case OperationKind.IMPORT:
            import_id = due.workflow_id.removeprefix(import_workflow_id(""))
            return _Call(
                ImportWorkflow,
                due.workflow_id,
                ImportState(due.org_id, due.project_id, import_id),
                signal="command",
                signal_arguments=[command],
                search_attributes=attributes(**{ORGANIZATION_ID: due.org_id, PROJECT_ID: due.project_id}),
                summary=f"Import {import_id}",
            )
        case OperationKind.RECONCILE | OperationKind.REBASE:
            draft_id = due.workflow_id.removeprefix(reconciliation_workflow_id(""))
            return _reconciliation_call(ReconciliationState(due.org_id, due.project_id, draft_id), "command", [command])
        case OperationKind.SUBMIT | OperationKind.RESUBMIT | OperationKind.DECIDE | OperationKind.WITHDRAW:
            review_id = due.review_id or due.workflow_id.removeprefix(review_workflow_id(""))
            state = ReviewState(due.org_id, review_id, due.project_id, title=due.title, status=STARTING)
            return _review_call(state, "command", [command])


def _command(due: Due) -> Command:
    return Command(org_id=due.org_id, operation_id=due.operation_id, kind=due.kind)


def _refresh_call(due: RefreshDue) -> _Call:
    state = ReviewState(due.org_id, due.review_id, due.project_id, title=due.title, status=due.status)
    return _review_call(state, "refresh", [])


def _review_call(state: ReviewState, signal: str, arguments: list[Command]) -> _Call:
    return _Call(
        ReviewWorkflow,
        review_workflow_id(state.review_id),
        state,
        signal=signal,
        signal_arguments=arguments,
        search_attributes=attributes(
            **{
                ORGANIZATION_ID: state.org_id,
                PROJECT_ID: state.project_id,
                REVIEW_ID: state.review_id,
                REVIEW_STATUS: state.status,
            }
        ),
        summary=state.title or state.review_id,
        memo={"title": state.title} if state.title else {},
    )


def _reconciliation_call(state: ReconciliationState, signal: str, arguments: list[Command]) -> _Call:
    # An open Draft's title is nobody's but its author's: operators see its id.
    return _Call(
        ReconciliationWorkflow,
        reconciliation_workflow_id(state.draft_id),
        state,
        signal=signal,
        signal_arguments=arguments,
        search_attributes=attributes(**{ORGANIZATION_ID: state.org_id, PROJECT_ID: state.project_id}),
        summary=f"Draft {state.draft_id}",
        memo={"draft_id": state.draft_id},
    )
