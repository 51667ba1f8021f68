"""Remove what is past retention, in turns of a few seconds, each of small transactions (publication.md §8)."""

import time
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import Engine
from temporalio import activity

from activities.messages import RetentionTurn
from models.settings import Settings
from models.store.retention import (
    organizations_after,
    remove_candidates,
    remove_events,
    remove_imports,
    remove_keys,
    remove_operations,
)

TURN_S = 10.0
"""A third of what an activity may take: what it did not come to is left to the next turn."""

BATCH = 1_000
IMPORTS_A_BATCH = 20  # each with thousands of texts
ORGANIZATIONS_A_BATCH = 200

CANDIDATES_KEPT = timedelta(days=7)
"""As long as an answer that names one may be replayed."""


class Step(StrEnum):
    """What is removed, in this order: a key names its operation, and goes before it."""

    KEYS = "keys"
    OPERATIONS = "operations"
    CANDIDATES = "candidates"
    IMPORTS = "imports"
    EVENTS = "events"
    DONE = "done"


class RetentionActivities:
    """The retention workflow's activity, on one process's pool."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    @activity.defn(no_thread_cancel_exception=True)
    def remove_expired(self, turn: RetentionTurn) -> RetentionTurn:
        """Remove for some seconds; where to go on, at the step `done` when nothing is left."""
        ends_at = time.monotonic() + TURN_S
        while turn.step != Step.DONE and time.monotonic() < ends_at:
            turn = self._cut_feeds(turn) if turn.step == Step.EVENTS else self._remove_rows(turn, Step(turn.step))
        return turn

    def _remove_rows(self, turn: RetentionTurn, step: Step) -> RetentionTurn:
        """One batch of a step, which is over when the batch is not full."""
        limit = IMPORTS_A_BATCH if step is Step.IMPORTS else BATCH
        with self._engine.begin() as connection:
            match step:
                case Step.KEYS:
                    removed = remove_keys(connection, limit=limit)
                case Step.OPERATIONS:
                    removed = remove_operations(
                        connection, before=_ago(self._settings.operation_retention), limit=limit
                    )
                case Step.CANDIDATES:
                    removed = remove_candidates(connection, before=datetime.now(UTC) - CANDIDATES_KEPT, limit=limit)
                case _:
                    removed = remove_imports(connection, before=_ago(self._settings.import_retention), limit=limit)
        return _moved(turn, to=step if removed == limit else _after(step), removed=removed)

    def _cut_feeds(self, turn: RetentionTurn) -> RetentionTurn:
        """One batch of each of the next organizations' feeds, up to the first that has more."""
        with self._engine.connect() as connection:
            organizations = organizations_after(connection, turn.after_org_id, limit=ORGANIZATIONS_A_BATCH)
        before, removed, after = _ago(self._settings.event_retention), 0, turn.after_org_id
        for org_id in organizations:
            with self._engine.begin() as connection:
                cut = remove_events(connection, org_id, before=before, limit=BATCH)
            removed += cut
            if cut == BATCH:
                break
            after = org_id
        return _moved(turn, to=Step.EVENTS if organizations else Step.DONE, removed=removed, after_org_id=after)


def _ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def _after(step: Step) -> Step:
    steps = list(Step)
    return steps[steps.index(step) + 1]


def _moved(turn: RetentionTurn, *, to: Step, removed: int, after_org_id: str = "") -> RetentionTurn:
    return RetentionTurn(step=to.value, after_org_id=after_org_id, removed=turn.removed + removed)
