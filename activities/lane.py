"""The publication lane's activity: batches of merges in order, each a transaction of its own (architecture.md §3)."""

import time

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from temporalio import activity

from activities.boundary import carry_out, is_transient
from activities.messages import Command, PublishBatch, PublishedBatch
from activities.publication import CLEAN_UP, publish_review
from models.identifiers import OrganizationId
from models.store.operations import mark_running

BATCH_SHARE = 0.5
"""A batch stops itself at this share of its start-to-close, and returns what is left (architecture.md §3)."""


class PublicationActivities:
    """The lane's activity, on one process's pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # An exception thrown into a thread in the middle of a COMMIT would be worse than waiting for it.
    @activity.defn(no_thread_cancel_exception=True)
    def publish(self, batch: PublishBatch) -> PublishedBatch:
        """Publish a batch in order, each merge alone; what is not finished comes back."""
        stop_at = time.monotonic() + BATCH_SHARE * _start_to_close_s()
        self._show_running(batch)
        remaining: list[str] = []
        review_ids: list[str] = []
        for position, operation_id in enumerate(batch.operation_ids):
            if time.monotonic() >= stop_at:
                remaining.extend(batch.operation_ids[position:])
                break
            command = Command(org_id=batch.org_id, operation_id=operation_id)
            outcome = carry_out(self._engine, command, publish_review, clean_up=CLEAN_UP)
            if outcome.finished:
                review_ids.append(outcome.review_id)
            else:
                remaining.append(operation_id)
        return PublishedBatch(remaining=tuple(remaining), review_ids=tuple(dict.fromkeys(filter(None, review_ids))))

    def _show_running(self, batch: PublishBatch) -> None:
        try:
            with self._engine.begin() as connection:
                mark_running(connection, OrganizationId(batch.org_id), batch.operation_ids, "publishing")
        except DBAPIError as error:
            if not is_transient(error):
                raise


def _start_to_close_s() -> float:
    allowed = activity.info().start_to_close_timeout
    if allowed is None:
        raise ValueError("publishing needs a start-to-close time-out")
    return allowed.total_seconds()
