"""Policies, timers and their moments for tests, changed as the API changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from activities.amendments import amend_review
from activities.messages import ReviewTimers
from activities.timers import run_timers
from models.identifiers import OperationId, ReviewId, UserId
from models.store.locks import lock_coordination
from models.store.operations import StoredOperation, read_operation
from models.store.organizations import OrganizationRow, change_organization, read_organization
from models.store.owned_paths import PathOwnersEntry
from models.store.reviews import Schedule
from tests.commands import review
from tests.rows import Somewhere, acting, fetch
from workflows.ids import publication_workflow_id


def _changed(place: Somewhere, **policy: object) -> OrganizationRow:
    with acting(place) as tx:
        lock_coordination(tx.connection, tx.org_id)
        before = read_organization(tx.connection, tx.org_id)
        return change_organization(tx, before, replace(before, **policy))  # type: ignore[arg-type]  # named by callers


def requires_approvals(place: Somewhere, number: int) -> None:
    _changed(place, required_approvals=number)


def forbids_self_approval(place: Somewhere) -> None:
    _changed(place, allow_self_approval=False)


def has_path_owners(place: Somewhere, owners: Mapping[str, Sequence[UserId]]) -> None:
    """Who owns the paths of which glob."""
    entries = [PathOwnersEntry(glob=glob, users=[*users]) for glob, users in owners.items()]
    _changed(place, path_owners=entries)


def reminds_after(place: Somewhere, seconds: int | None) -> None:
    _changed(place, review_reminder_after=seconds)


def expires_after(place: Somewhere, seconds: int | None) -> None:
    _changed(place, review_expires_after=seconds)


def scheduled(place: Somewhere, review_id: ReviewId, at: datetime | None, *, actor: UserId | None = None) -> None:
    """Have a Review published at a time, or not any more."""
    with acting(place, actor) as tx:
        version = review(place, review_id).version
        amend_review(tx, review_id, expected_version=version, title=None, description=None, schedule=Schedule(at))


def from_now(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def timers_run(place: Somewhere, review_id: ReviewId, *, at: datetime | None = None) -> None:
    """Run a Review's timers, as its workflow has them run when they are due at `at`; now by default."""
    now = at or datetime.now(UTC)
    lane = publication_workflow_id(place.org_id)
    due = ReviewTimers(org_id=place.org_id, review_id=review_id, now=now, publication_workflow_id=lane)
    run_timers(place.engine, due)


def next_timer_at(place: Somewhere, review_id: ReviewId) -> datetime | None:
    (row,) = fetch(place, "select next_timer_at from reviews where org_id = :o and review_id = :r", r=review_id)
    at: datetime | None = row.next_timer_at
    return at


def submitted_at(place: Somewhere, review_id: ReviewId) -> datetime:
    """When a Review's latest submission was made."""
    (row,) = fetch(
        place,
        "select max(created_at) as at from review_submissions where org_id = :o and review_id = :r",
        r=review_id,
    )
    at: datetime = row.at
    return at


def scheduled_merges(place: Somewhere, review_id: ReviewId) -> list[StoredOperation]:
    """The merges that a Review's clock made, in order."""
    rows = fetch(
        place,
        """
        select operation_id from operations
        where org_id = :o and review_id = :r and request ->> 'scheduled_for' is not null order by operation_id
        """,
        r=review_id,
    )
    with place.engine.connect() as connection:
        found = [read_operation(connection, place.org_id, OperationId(row.operation_id)) for row in rows]
    return [operation for operation in found if operation is not None]


def happened(place: Somewhere, review_id: ReviewId) -> list[tuple[str, str, str | None]]:
    """A Review's timeline: event, actor and reason."""
    rows = fetch(
        place,
        """
        select event, actor_id, reason from review_timeline
        where org_id = :o and review_id = :r order by position
        """,
        r=review_id,
    )
    return [(row.event, row.actor_id, row.reason) for row in rows]
