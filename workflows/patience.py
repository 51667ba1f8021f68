"""How long workflows wait for activities, and how they try again."""

from dataclasses import replace
from datetime import timedelta
from typing import NotRequired, TypedDict

from temporalio.common import RetryPolicy

# Bounded by no number of attempts and no schedule-to-close: whatever is killed in between, an accepted operation ends.
RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=0.2), backoff_coefficient=2, maximum_interval=timedelta(seconds=10)
)


class Patience(TypedDict):
    """Arguments of an activity's call."""

    start_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    schedule_to_start_timeout: NotRequired[timedelta]


# Above the database's own time-outs (settings), which therefore give up first. Every activity's worker beats for it
# (boundary.py), so the work of a killed worker is taken up after seconds and not after the whole start-to-close.
TRANSACTION: Patience = {
    "start_to_close_timeout": timedelta(seconds=30),
    "heartbeat_timeout": timedelta(seconds=5),
    "retry_policy": RETRY,
}

# Of what is asked for again by itself, should it fail for an unforeseen reason: nothing waits for it, and what somebody
# waits for is not to wait behind it.
ASKED_AGAIN: Patience = {
    "start_to_close_timeout": timedelta(seconds=30),
    "heartbeat_timeout": timedelta(seconds=5),
    "retry_policy": replace(RETRY, maximum_attempts=4),
}

# Of what only one process can do, which may be gone: it is left alone soon, and its next start does the same.
OF_AN_OWNER: Patience = {**ASKED_AGAIN, "schedule_to_start_timeout": timedelta(seconds=20)}

# After an unforeseen failure, which the operation's row counts: the fifth ends it, so this is no endless loop.
FIRST_PAUSE = timedelta(seconds=0.5)
LONGEST_PAUSE = timedelta(seconds=5)

# A Review's timer that is due still, although it was run or has failed, is run again at this distance.
DUE_AGAIN = timedelta(seconds=10)
