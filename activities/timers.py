"""What a Review's timers do when they are due: publish, remind, expire, each once (publication.md §4).

The clock acts as `system`, but for a merge, which is made in the name of whoever approved last.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Engine

from activities.closing import withdraw_review
from activities.messages import ReviewTimers
from activities.recording import record_review
from activities.requests import MergeRequest
from models.identifiers import SYSTEM, OperationId, OrganizationId, ReviewId, UserId
from models.rules.approvals import Electorate, approvals_missing
from models.store.locks import ReviewRow, lock_coordination, lock_drafts, lock_project, lock_review
from models.store.operations import OperationKind, accept_operation, read_operation
from models.store.review_timers import Timers, mark_publishing, mark_reminded, read_timers
from models.store.reviewers import counted_approvers, electorate_of
from models.store.reviews import ReviewChange, Schedule, change_review, read_review
from models.store.submissions import latest_members
from models.store.transaction import Transaction, transaction

Timer = Literal["publish", "remind", "expire"]

NOT_APPROVED = "approvals_missing"
NOT_OPEN = "review_closed"


def run_timers(engine: Engine, due: ReviewTimers) -> None:
    """Do what is due of a Review's timers, in one transaction, in the order in which it fell due.

    Delivered twice it finds nothing left to do. What is due is decided by the later of the workflow's clock, which
    woke it, and this process's; what is written carries the latter.
    """
    org_id, review_id = OrganizationId(due.org_id), ReviewId(due.review_id)
    request_id = f"timers of {review_id}"
    with transaction(engine, org_id=org_id, actor_id=SYSTEM, request_id=request_id) as started:
        ref = lock_coordination(started.connection, org_id)
        tx = replace(started, now=max(datetime.now(UTC), ref.updated_at))
        known = read_review(tx.connection, org_id, review_id)
        if known is None:
            return
        lock_project(tx.connection, org_id, known.project_id)
        at = max(tx.now, due.now)
        while timer := _first_due(read_timers(tx.connection, org_id, review_id), at):
            _fall_due(tx, lock_review(tx.connection, org_id, review_id), timer, due.publication_workflow_id)


def skip_refused_publication(tx: Transaction, operation_id: OperationId) -> None:
    """Note in its Review that a merge which fell due was refused: it is not tried again. Of other merges, nothing."""
    operation = read_operation(tx.connection, tx.org_id, operation_id)
    if operation is None or operation.review_id is None:
        return
    lock_coordination(tx.connection, tx.org_id)
    known = read_review(tx.connection, tx.org_id, operation.review_id)
    if known is None or known.publish_operation_id != operation_id:
        return
    lock_project(tx.connection, tx.org_id, known.project_id)
    review = lock_review(tx.connection, tx.org_id, known.review_id)
    if review.status not in ("withdrawn", "merged"):
        _skip_publication(replace(tx, actor_id=SYSTEM), review, str((operation.problem or {}).get("code")))


def _first_due(timers: Timers, at: datetime) -> Timer | None:
    """The timer that fell due first; of several at one moment, the one that publishes."""
    moments: Mapping[Timer, datetime | None] = {
        "publish": timers.publish_at,
        "remind": timers.remind_at,
        "expire": timers.expire_at,
    }
    due = [(moment, timer) for timer, moment in moments.items() if moment is not None and moment <= at]
    return min(due, key=lambda pair: pair[0])[1] if due else None


def _fall_due(tx: Transaction, review: ReviewRow, timer: Timer, publication_workflow_id: str) -> None:
    match timer:
        case "publish":
            _publish(tx, review, publication_workflow_id)
        case "remind":
            record_review(tx, mark_reminded(tx, review.review_id), "reminded")
        case "expire":
            members = [member.draft_id for member in latest_members(tx.connection, review)]
            drafts = lock_drafts(tx.connection, tx.org_id, members)
            withdraw_review(tx, review, [*drafts.values()], closed_reason="expired", event="expired")


def _publish(tx: Transaction, review: ReviewRow, publication_workflow_id: str) -> None:
    """Have an approved Review merged, by one operation; of any other, note why it is not.

    Its status says that it is approved, and those who approved it have to count still.
    """
    electorate = electorate_of(tx.connection, review)
    approvers = counted_approvers(tx.connection, review, electorate)
    if review.status == "rejected":
        _skip_publication(tx, review, NOT_OPEN)
    elif review.status != "approved" or approvals_missing(electorate, approvers, unattended=True):
        _skip_publication(tx, review, NOT_APPROVED)
    else:
        _accept_merge(tx, review, _merger(electorate, approvers), publication_workflow_id)


def _merger(electorate: Electorate, approvers: Collection[UserId]) -> UserId:
    """Who approved last among those who may merge; a path owner, who may not, where nobody else approved."""
    latest_first = [*approvers][::-1]
    return next((user for user in latest_first if user in electorate.administrators), latest_first[0])


def _accept_merge(tx: Transaction, review: ReviewRow, actor_id: UserId, publication_workflow_id: str) -> None:
    request = MergeRequest(
        expected_review_version=review.version,
        expected_result_hash=review.result_hash,
        scheduled_for=review.publish_at,
    )
    operation = accept_operation(
        replace(tx, actor_id=actor_id),
        kind=OperationKind.MERGE,
        workflow_id=publication_workflow_id,
        project_id=review.project_id,
        review_id=review.review_id,
        request=request.model_dump(mode="json"),
        redeliver_after_s=0,
    )
    mark_publishing(tx, review.review_id, operation.operation_id)


def _skip_publication(tx: Transaction, review: ReviewRow, reason: str) -> None:
    skipped = change_review(tx, review.review_id, ReviewChange(schedule=Schedule(None)))
    record_review(tx, skipped, "publish_skipped", reason=reason)
