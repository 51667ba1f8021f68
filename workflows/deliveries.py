"""What has to reach a workflow, and in which order; without a client of Temporal."""

from collections.abc import Iterable
from itertools import islice, takewhile

from models.store.operations import Due, OperationKind, RefreshDue
from models.store.unreconciled import BehindDue
from workflows.ids import reconciliation_workflow_id, review_workflow_id

Delivery = Due | RefreshDue | BehindDue

MERGES_A_SIGNAL = 200  # some 30 KB


def delivery_id(delivery: Delivery) -> str:
    """By what two deliveries of the same thing are recognized."""
    match delivery:
        case Due():
            return delivery.operation_id
        case RefreshDue():
            return f"refresh/{delivery.review_id}"
        case BehindDue():
            return f"behind/{delivery.draft_id}"


def order_key(delivery: Delivery) -> str:
    """Deliveries of one key go out one after the other, as they came: all that one workflow has to know."""
    match delivery:
        case Due():
            return delivery.workflow_id
        case RefreshDue():
            return review_workflow_id(delivery.review_id)
        case BehindDue():
            return reconciliation_workflow_id(delivery.draft_id)


def next_signal(waiting: Iterable[Delivery]) -> list[Delivery]:
    """Which deliveries of one key the next signal brings: the merges that wait, or one of anything else.

    A signal for each of hundreds of merges would wake their lane each time, at every re-delivery again; and the server
    breaks off a workflow task during which more than a hundred arrive.
    """
    waiting = iter(waiting)
    first = next(waiting)
    return [first, *islice(takewhile(_is_merge, waiting), MERGES_A_SIGNAL - 1)] if _is_merge(first) else [first]


def _is_merge(delivery: Delivery) -> bool:
    return isinstance(delivery, Due) and delivery.kind == OperationKind.MERGE
